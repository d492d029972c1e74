package blender

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"loregate/internal/sandbox"
)

// intrusions is a script that does its worst, as a .blend file could whose own script ran, or that takes over
// Blender. It writes down which of its attempts worked.
const intrusions = `
import json, os, socket, sys
job = json.loads(sys.argv[sys.argv.index("--") + 1])
def call(kind, address):
    s = socket.socket(kind, socket.SOCK_STREAM)
    s.connect(address)
    s.send(b"x")
attempts = {
    "read /etc/passwd": lambda: open("/etc/passwd").read(),
    "read the canary": lambda: open(job["canary"]).read(),
    "list the data": lambda: os.listdir(os.path.dirname(job["canary"])),
    "write the canary": lambda: open(job["canary"], "w").write("x"),
    "write beside it": lambda: open(job["canary"] + ".new", "w").write("x"),
    "write /tmp": lambda: open("/tmp/loregate-escape", "w").write("x"),
    "read by a link": lambda: (os.symlink(job["canary"], "link"), open("link").read()),
    "the server's environment": lambda: open("/proc/%d/environ" % job["server"]).read(),
    "call by TCP": lambda: call(socket.AF_INET, ("127.0.0.1", job["port"])),
    "its own work": lambda: open(job["out"] + ".own", "w").write("x"),
}
worked = []
for name, attempt in attempts.items():
    try:
        attempt()
        worked.append(name)
    except Exception as e:
        print(name, repr(e))
json.dump(worked, open(job["out"], "w"))
`

// A script inside Blender reaches nothing but its job's folder.
func TestScriptsReachNothing(t *testing.T) {
	needed(t)
	if p := sandbox.Measure(); !p.Files || !p.Network {
		t.Skip("this system has no sandbox: ", p)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	canary := filepath.Join(t.TempDir(), "canary")
	if err := os.WriteFile(canary, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := sandbox.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	job := mustJSON(map[string]any{"canary": canary, "server": os.Getpid(),
		"port": listener.Addr().(*net.TCPAddr).Port, "out": folder.Path("worked.json")})
	if err := New(Config{}).runScript(t.Context(), folder, []byte(intrusions), job); err != nil {
		t.Fatal(err)
	}
	var worked []string
	if got, err := folder.Read("worked.json", 1<<16); err != nil || json.Unmarshal(got, &worked) != nil {
		t.Fatalf("the script did not end: %s, %v", got, err)
	}
	if !slices.Equal(worked, []string{"its own work"}) {
		t.Errorf("these worked: %q", worked)
	}
	_ = listener.(*net.TCPListener).SetDeadline(time.Unix(1, 0)) // a call that arrived is there
	if _, err := listener.Accept(); err == nil {
		t.Error("a call arrived")
	}
	if got, err := os.ReadFile(canary); string(got) != "canary" || err != nil {
		t.Errorf("the canary is now %q, %v", got, err)
	}
}
