package rollingtest

import (
	"net/http"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/wait"
)

// caddyInterval bounds the time until Caddy notices that a process is ready: the interval and
// the timeout of deploy/Caddyfile. restart.sh and three.sh wait as long.
const caddyInterval = 3 * time.Second

// TestARollingRestartBehindCaddy runs Caddy with the configuration in deploy. Clients that only
// know Caddy's address lose no call while each process is stopped and started again.
func TestARollingRestartBehindCaddy(t *testing.T) {
	programtest.Long(t)
	front, here, there := freeAddr(t), freeAddr(t), freeAddr(t)
	i := newInstance(t, pgtest.Empty(t), "LOREGATE_DRAIN_NOTICE=4s", "LOREGATE_BEHIND_PROXY=true",
		"LOREGATE_ALLOW_KEY_AS_BEARER=yes", "LOREGATE_PUBLIC_URL=http://lore.example")
	a := i.serve(here)
	b := i.serve(there)
	apptest.Caddy(t, "http://"+front, here+" "+there)
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
