package blender

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/studio/build"
	"loregate/internal/studio/spec"
)

// The add-on of an open Blender builds a scene as a collection, refuses what is not in its table, undoes
// what failed, and takes its secret once.
func TestAttach(t *testing.T) {
	needed(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	file := filepath.Join(t.TempDir(), "loregate_attach.py")
	if err := os.WriteFile(file, AddOn(port, "open sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "blender", "--background", "--factory-startup", "--python-exit-code", "9",
		"--python", file)
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() && lines.Text() != "Loregate listens" {
	}
	if _, err = Attach(t.Context(), port, "wrong"); err == nil || !strings.Contains(err.Error(), "the secret is wrong") {
		t.Fatalf("a wrong secret: %v", err)
	}
	a, err := Attach(t.Context(), port, "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.Parse([]byte("{version: 1, name: yard, ground: {material: grass, size: 30}, " +
		"parts: {keep: {tower: {radius: 3, height: 9}}}}"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := build.Build(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Build(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	names := func() string {
		r, err := a.Do(t.Context(), raw(`{"op":"names"}`))
		if err != nil {
			t.Fatal(err)
		}
		return string(r[0])
	}
	built := names()
	if !strings.Contains(built, `"yard ground"`) || !strings.Contains(built, `"Cube"`) {
		t.Errorf("names: %s", built)
	}
	for _, bad := range []string{`{"op":"open","file":"/etc/passwd"}`, `{"op":"exec","code":"1"}`,
		`{"op":"light","name":"yard sun","kind":"SUN","energy":1}`, `{"op":"picture"}`} {
		if _, err := a.Do(t.Context(), raw(`{"op":"object","name":"half"}`), raw(bad)); err == nil {
			t.Errorf("%s was done", bad)
		}
	}
	if after := names(); after != built {
		t.Errorf("refused requests left something: %s", after)
	}
	if r, err := a.Do(t.Context(), raw(`{"op":"selection"}`)); err != nil || !strings.Contains(string(r[0]), "Cube") {
		t.Errorf("selection: %s, %v", r, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := Attach(t.Context(), port, "open sesame"); err == nil {
		t.Error("the secret works twice")
	}
}
