package rollingtest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"loregate/internal/app/apptest"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres/pgtest"
)

func TestARollingRestartLosesNoCall(t *testing.T) {
	i := newInstance(t, pgtest.Empty(t), "LOREGATE_DRAIN_NOTICE=500ms")
	here, there := freeAddr(t), freeAddr(t)
	a := i.serve(here)
	b := i.serve(there)
	f := newTraffic(t, "http://localhost", i.key(), newBalancer(t, here, there))
	f.waitForCalls()
	a.stop()
	f.waitForCalls()
	i.serve(here)
	f.waitForCalls()
	b.stop()
	f.waitForCalls()
	i.serve(there)
	f.waitForCalls()
	f.end()
	if out := i.run("audit", "verify"); !strings.Contains(out, "chains intact") {
		t.Error(out)
	}
}

// beginCall begins a call whose body is not yet sent. end sends it.
func beginCall(t *testing.T, addr, key string) (end func() (int, string)) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	const body = `{"name":"Late","content":"x"}`
	fmt.Fprintf(conn, "POST /api/mcp/cards HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", key, len(body))
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100") { // the call has begun
		t.Fatalf("%q, %v", line, err)
	}
	return func() (int, string) {
		t.Helper()
		if _, err := in.ReadString('\n'); err != nil {
			return 0, err.Error()
		}
		if _, err := conn.Write([]byte(body)); err != nil {
			return 0, err.Error()
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return 0, err.Error()
		}
		_ = res.Body.Close()
		return res.StatusCode, res.Header.Get("Connection")
	}
}

// TestCallsUnderWayEnd stops a server. During its notice it still takes new calls; afterwards
// it finishes the running calls, and takes no more.
func TestCallsUnderWayEnd(t *testing.T) {
	i := newInstance(t, "", "LOREGATE_DRAIN_NOTICE=1s")
	p := i.serve(freeAddr(t))
	key := i.key()
	early := beginCall(t, p.addr, key)
	late := beginCall(t, p.addr, key)
	p.signal()
	apptest.Eventually(t, "not ready any more", patience, func() bool { return !ready(t.Context(), p.addr) })
	if status, how := early(); status != http.StatusCreated {
		t.Errorf("during the notice: %d %s", status, how)
	}
	status, _, err := call(t.Context(), probes, key, "GET", "http://"+p.addr+"/api/mcp/cards/Late", "")
	if err != nil || status != http.StatusOK {
		t.Errorf("a new call during the notice: %d %v", status, err)
	}
	apptest.Eventually(t, "nobody listens", patience, func() bool { _, err := net.Dial("tcp", p.addr); return refused(err) })
	if status, how := late(); status != http.StatusConflict {
		t.Errorf("after the notice: %d %s", status, how) // the name is taken by then
	}
	if s := p.wait(); !s.Success() {
		t.Errorf("ended with %s", s)
	}
}

// TestCallsThatDoNotEndAreCutOff checks that a stopping server cuts off a call that does not
// end.
func TestCallsThatDoNotEndAreCutOff(t *testing.T) {
	programtest.Long(t)
	i := newInstance(t, "", "LOREGATE_DRAIN_CALLS=200ms")
	p := i.serve(freeAddr(t))
	beginCall(t, p.addr, i.key())
	p.stop()
	if !strings.Contains(p.log(), "were cancelled") {
		t.Errorf("said %s", p.log())
	}
}

func TestASecondSignalStopsAtOnce(t *testing.T) {
	i := newInstance(t, "", "LOREGATE_DRAIN_NOTICE=10m")
	p := i.serve(freeAddr(t))
	p.signal()
	apptest.Eventually(t, "not ready any more", patience, func() bool { return !ready(t.Context(), p.addr) })
	p.signal()
	if s := p.wait().Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGTERM {
		t.Errorf("ended with %v", s)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	programtest.Long(t)
	i := newInstance(t, "", "LOREGATE_LIMITS_CONNECTIONS=2")
	p := i.serve(freeAddr(t))
	var held []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		held = append(held, c)
	}
	apptest.Eventually(t, "one more is turned away", patience, func() bool {
		res, err := probes.Get("http://" + p.addr + "/healthz")
		if err != nil {
			return false // cut off before it could read
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "1"
	})
	_ = held[0].Close()
	apptest.Eventually(t, "there is room again", patience, func() bool { return ready(t.Context(), p.addr) })
}
