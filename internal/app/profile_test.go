package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"loregate/internal/waittest"
)

// serving serves an empty store with settings. It returns the address, and a function that ends
// serving and returns its error.
func serving(t *testing.T, settings ...string) (addr string, end func() error) {
	t.Helper()
	c, err := LoadConfig("", append(settings, "LOREGATE_ADDR=127.0.0.1:0", "LOREGATE_DATA="+t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), c, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(context.WithoutCancel(t.Context())) })
	listener, err := a.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	at, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- a.Serve(ctx, listener, func(addr string) { at <- addr }) }()
	end = func() error { stop(); return <-ended }
	select {
	case addr = <-at:
	case err := <-ended:
		ended <- err
	case <-waittest.Context(t).Done():
		t.Error("the server does not begin")
	}
	return addr, end
}

// freeAddress returns a loopback address without a listener.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// ask sends a request and returns the status and up to 4 MiB of the body.
func ask(t *testing.T, method, url string, headers ...string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, 4<<20))
	if err != nil {
		t.Error(err)
	}
	return answer.StatusCode, string(b)
}

func TestProfilesOnlyAtAdminAddress(t *testing.T) {
	admin := freeAddress(t)
	addr, end := serving(t, "LOREGATE_ADMIN_ADDRESS="+admin)
	for _, tc := range []struct {
		path   string
		status int
		want   string
	}{
		{"/debug/pprof/", 200, "goroutine"}, {"/debug/pprof/goroutine?debug=1", 200, "goroutine profile"},
		{"/debug/pprof/heap", 200, ""},
		{"/debug/pprof/profile?seconds=1", 200, ""}, {"/debug/pprof/profile?seconds=9999", 400, "up to 120"},
		{"/debug/pprof/trace?seconds=NaN", 400, ""}, {"/debug/pprof/heap?seconds=-1", 400, ""},
		{"/debug/pprof/nothing", 404, ""},
		{"/", 404, ""}, {"/mcp", 404, ""}, {"/healthz", 404, ""}, {"/metrics", 404, ""}, {"/api/mcp/cards", 404, ""},
		{"/debug/vars", 404, ""},
	} {
		if status, text := ask(t, "GET", "http://"+admin+tc.path); status != tc.status || !strings.Contains(text, tc.want) {
			t.Errorf("admin %s: %d %.80q", tc.path, status, text)
		}
	}
	for _, headers := range [][]string{{"Host", "rebound.example"}, {"Host", "rebound.example:6060"},
		{"Origin", "http://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"}} {
		if status, text := ask(t, "GET", "http://"+admin+"/debug/pprof/goroutine?debug=2", headers...); status != 403 {
			t.Errorf("with %v: %d %.80q", headers, status, text)
		}
	}
	if status, _ := ask(t, "POST", "http://"+admin+"/debug/pprof/profile"); status != 405 {
		t.Errorf("a POST gets %d", status)
	}
	_, port, err := net.SplitHostPort(admin)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := ask(t, "GET", "http://"+admin+"/debug/pprof/cmdline", "Host", "localhost:"+port, "Sec-Fetch-Site",
		"none"); status != 200 {
		t.Errorf("a person's browser gets %d", status)
	}
	if status, text := ask(t, "GET", "http://"+addr+"/debug/pprof/goroutine?debug=1"); status == 200 ||
		strings.Contains(text, "goroutine profile") {
		t.Errorf("the server itself shows profiles: %d", status)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if status, text := ask(t, "GET", "http://"+admin+"/debug/pprof/"); status != 0 {
		t.Errorf("after its end: %d %s", status, text)
	}
}

func TestNoProfilesWithoutAdminAddress(t *testing.T) {
	c, err := LoadConfig("", nil)
	if err != nil || c.Admin.Address != "" {
		t.Fatalf("the default is %q, %v", c.Admin.Address, err)
	}
	a := &App{Config: c, logger: slog.New(slog.DiscardHandler)}
	stop, err := a.serveProfiles()
	if err != nil {
		t.Fatal(err)
	}
	stop()
}

func TestAnAdminAddressInUseStopsTheStart(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, end := serving(t, "LOREGATE_ADMIN_ADDRESS="+l.Addr().String())
	if err := end(); err == nil || !strings.Contains(fmt.Sprint(err), "admin.address") {
		t.Errorf("it ended with %v", err)
	}
}
