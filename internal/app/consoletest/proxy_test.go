package consoletest

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/waittest"
)

// farm is three processes on one store behind a proxy that ends TLS and sends each request to the next of them.
type farm struct {
	*stage
	proxy    *httptest.Server
	servers  []*url.URL
	requests [3]atomic.Int64 // to each server
}

func newFarm(t *testing.T) *farm {
	t.Helper()
	f := &farm{}
	var turn atomic.Int64
	f.proxy = httptest.NewTLSServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		n := int(turn.Add(1)) % len(f.servers)
		f.requests[n].Add(1)
		r.SetURL(f.servers[n])
		r.SetXForwarded()
		r.Out.Host = r.In.Host
	}})
	f.stage = newStageWith(t, apptest.Quiet(), func(c *app.Config) { c.PublicURL, c.BehindProxy = f.proxy.URL, true })
	add := func(base string) {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		f.servers = append(f.servers, u)
	}
	add(f.base)
	for range 2 {
		twin, shut := apptest.Open(t, f.app.Config, apptest.Quiet())
		t.Cleanup(shut)
		at, stop := apptest.Serve(t, twin, "")
		t.Cleanup(stop)
		add("http://" + strings.TrimPrefix(at, "http://"))
	}
	t.Cleanup(f.proxy.Close) // before the servers, whose streams it holds
	return f
}

// visitor is a browser that knows only the proxy.
func (f *farm) visitor() *visitor {
	v := f.stage.visitor().withoutRedirects()
	v.base, v.http.Transport = f.proxy.URL, f.proxy.Client().Transport
	return v
}

// TestSessionsWorkInThreeProcesses signs in behind a proxy, reads and follows a stream from whichever process comes, and
// signs out everywhere.
func TestSessionsWorkInThreeProcesses(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	here, phone := f.visitor(), f.visitor()
	for _, v := range []*visitor{here, phone} {
		status, body, res := v.send("POST", "/sign-in", url.Values{"secret": {f.code(access.RoleGM)}})
		if status != 303 || len(res.Cookies()) != 1 || !strings.HasPrefix(res.Cookies()[0].Name, "__Host-") ||
			!res.Cookies()[0].Secure {
			t.Fatalf("%d %v %.500s", status, res.Cookies(), body)
		}
	}
	for range 9 {
		phone.wants("/w/lendwater/Rent%20Quay", "front doorstep")
	}
	for i := range f.requests {
		if f.requests[i].Load() < 3 {
			t.Errorf("server %d got %d requests", i, f.requests[i].Load())
		}
	}
	r, err := http.NewRequestWithContext(waittest.Context(t), "GET", f.proxy.URL+"/live/lendwater/map", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := phone.http.Do(r)
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	t.Cleanup(func() { _ = res.Body.Close() }) // it was only read
	lines := bufio.NewScanner(res.Body)
	await := func(part string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), part) {
				return
			}
		}
		t.Fatalf("the stream ended without %q: %v", part, lines.Err())
	}
	await("event: players")
	here.send("POST", "/play/world/lendwater", url.Values{"name": {"Ada Finch"}}) // at another process
	await("Ada Finch")
	here.send("POST", "/account/end", url.Values{"session": {"others"}})
	for lines.Scan() { // until the stream is ended
	}
	if errors.Is(lines.Err(), context.DeadlineExceeded) {
		t.Error("the stream goes on")
	}
	for range 2 * len(f.servers) {
		if status, _, _ := phone.send("GET", "/account", nil); status != 303 {
			t.Errorf("a process still knows the session: %d", status)
		}
	}
	here.wants("/account", "person-gm")
}
