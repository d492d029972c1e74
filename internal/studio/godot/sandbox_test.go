package godot

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"loregate/internal/programtest"
	"loregate/internal/sandbox"
)

// intrusions is a script that does its worst, as a resource could that brings a script. It prints the attempts that
// worked.
const intrusions = `extends SceneTree
func _init():
	for path in ["/etc/passwd", "%[1]s", "%[1]s.new", "/tmp/loregate-escape"]:
		for mode in [File.READ, File.WRITE]:
			var f = File.new()
			if f.open(path, mode) == OK:
				print("WORKED ", path, " ", mode)
	var d = Directory.new()
	if d.open("%[2]s") == OK:
		print("WORKED listing")
	var c = StreamPeerTCP.new()
	if c.connect_to_host("127.0.0.1", %[3]d) == OK:
		print("WORKED call")
	var out = []
	OS.execute("/bin/cat", ["%[1]s"], true, out)
	if str(out).find("canary!") >= 0:
		print("WORKED cat")
	var f = File.new()
	if f.open("res://own.txt", File.WRITE) == OK:
		print("OWN")
	quit()
`

// A script inside Godot reaches nothing but its project.
func TestScriptsReachNothing(t *testing.T) {
	programtest.Find(t, "godot3-server")
	if p := sandbox.Measure(); !p.Files || !p.Network {
		t.Skip("this system has no sandbox: ", p)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	canary := filepath.Join(t.TempDir(), "canary")
	if err := os.WriteFile(canary, []byte("canary!"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := newProject(t).begin(t)
	script := fmt.Appendf(nil, intrusions, canary, filepath.Dir(canary), listener.Addr().(*net.TCPAddr).Port)
	if err := x.folder.Write("evil.gd", script); err != nil {
		t.Fatal(err)
	}
	said, failed, err := x.adapter.runEngine(t.Context(), x.folder, "-s", "evil.gd")
	if err != nil || failed != nil || !bytes.Contains(said, []byte("OWN")) || bytes.Contains(said, []byte("WORKED")) {
		t.Errorf("%v, %v\n%s", err, failed, said)
	}
	_ = listener.(*net.TCPListener).SetDeadline(time.Unix(1, 0)) // a call that arrived is there
	if _, err := listener.Accept(); err == nil {
		t.Error("a call arrived")
	}
	if got, err := os.ReadFile(canary); string(got) != "canary!" || err != nil {
		t.Errorf("the canary is now %q, %v", got, err)
	}
}
