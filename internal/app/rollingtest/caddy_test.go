package rollingtest

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/wait"
)

// caddy runs deploy/Caddyfile in front of servers.
func caddy(t *testing.T, site, servers string) {
	t.Helper()
	program := os.Getenv("CADDY")
	if program == "" {
		program = "caddy"
	}
	program, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("REQUIRE_ENGINES") == "1" {
			t.Fatal(err)
		}
		t.Skip("Caddy is not installed (looked in CADDY and on the path)")
	}
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

// caddyInterval bounds the time until Caddy notices that a process is ready: the interval and
// the timeout of deploy/Caddyfile. restart.sh and three.sh wait as long.
const caddyInterval = 3 * time.Second

// TestARollingRestartBehindCaddy runs Caddy with the configuration in deploy. Clients that only
// know Caddy's address lose no call while each process is stopped and started again.
func TestARollingRestartBehindCaddy(t *testing.T) {
	front, here, there := freeAddr(t), freeAddr(t), freeAddr(t)
	i := newInstance(t, pgtest.Empty(t), "LOREGATE_DRAIN_NOTICE=4s", "LOREGATE_BEHIND_PROXY=true",
		"LOREGATE_ALLOW_KEY_AS_BEARER=yes", "LOREGATE_PUBLIC_URL=http://lore.example")
	a := i.serve(here)
	b := i.serve(there)
	caddy(t, "http://"+front, here+" "+there)
	apptest.Eventually(t, "Caddy listens", patience, func() bool { return ready(t.Context(), front) })
	f := newTraffic(t, "http://"+front, i.key(), &http.Transport{MaxIdleConnsPerHost: 8})
	f.waitForCalls()
	a.stop()
	f.waitForCalls()
	i.serve(here)
	apptest.Eventually(t, "it is ready", patience, func() bool { return ready(t.Context(), here) })
	f.waitForCalls()
	wait.For(t.Context(), caddyInterval)
	b.stop()
	f.waitForCalls()
	i.serve(there)
	f.waitForCalls()
	f.end()
}
