package apptest

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"loregate/internal/programtest"
)

// Caddy runs deploy/Caddyfile in front of servers, for a test of a package below internal/app.
func Caddy(t testing.TB, site, servers string) {
	t.Helper()
	program := programtest.Find(t, "Caddy", cmp.Or(os.Getenv("CADDY"), "caddy"))
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, "run", "--config",
		filepath.Join("..", "..", "..", "deploy", "Caddyfile"), "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "CADDY_ADMIN=off",
		"CADDY_SITE="+site, "CADDY_UPSTREAMS="+servers)
	cmd.WaitDelay = 5 * time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		if t.Failed() {
			t.Log(said.String())
		}
	})
}
