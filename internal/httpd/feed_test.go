package httpd_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/httpd"
	"loregate/internal/op"
)

// ticker is a feed of numbers: three after the requested one, then silence.
func ticker() *op.Feed {
	return &op.Feed{Name: "ticks", Title: "Ticks", Doc: "Numbers.", Surfaces: []string{"feeds"}, MinRole: access.RoleUser,
		Audience: "play",
		Route:    "GET /api/feeds/{id}/stream",
		Open: func(ctx context.Context, _ *op.Call, vars map[string]string, after string) (iter.Seq2[op.Message, error],
			error) {
			if vars["id"] == "absent" {
				return nil, fault.New(fault.NotFound, "no such feed")
			}
			from, _ := strconv.Atoi(after)
			return func(yield func(op.Message, error) bool) {
				for i := from + 1; i <= from+3; i++ {
					if !yield(op.Message{ID: strconv.Itoa(i), Event: "tick",
						Data: json.RawMessage("{\"n\":\n" + strconv.Itoa(i) + "}")}, nil) {
						return
					}
				}
				if vars["id"] == "failing" {
					yield(op.Message{}, errors.New("the database says: secret"))
					return
				}
				<-ctx.Done()
			}, nil
		}}
}

func itemsOp() *op.Operation {
	type out struct {
		Items []string `json:"items"`
	}
	return op.Define(op.Spec{Name: "list-things", Title: "Things", Doc: "Use it in tests.", Surfaces: []string{"feeds"},
		Effect:  access.Read,
		MinRole: access.RoleUser, Route: "GET /api/things/{name}", Unwrap: "items", Audience: "play"},
		func(_ context.Context, _ *op.Call, in queryName) (out, error) {
			return out{strings.Split(in.Name, "")}, nil
		})
}

// feeding is a site with the feed, over a real socket.
func feeding(t *testing.T, auth httpd.Authenticator, change func(*httpd.Config)) *httptest.Server {
	t.Helper()
	surface := op.Surface{Name: "feeds", Title: "Feeds", Doc: "Streams.", Feeds: []*op.Feed{ticker()},
		Operations: []*op.Operation{itemsOp()}}
	engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: []op.Surface{surface},
		Worlds: worlds{}})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(c *httpd.Config) {
		c.Engine, c.Auth = engine, auth
		if change != nil {
			change(c)
		}
	})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server
}

func follow(t *testing.T, url, token, after string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestFeedIsAnEventStream(t *testing.T) {
	server := feeding(t, people{}, nil)
	for _, token := range []string{"user", "lgp_seat"} {
		res := follow(t, server.URL+"/api/feeds/a/stream", token, "4")
		if got := res.Header.Get("Content-Type"); res.StatusCode != 200 || got != "text/event-stream" {
			t.Fatalf("status %d, type %q", res.StatusCode, got)
		}
		want := "retry: 2000\n\nid: 5\nevent: tick\ndata: {\"n\": 5}\n\nid: 6\nevent: tick\ndata: {\"n\": 6}\n\nid: 7\n"
		got := make([]byte, len(want))
		if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want {
			t.Fatalf("got %q (%v), want %q", got, err, want)
		}
	}
}

func TestFeedRefusals(t *testing.T) {
	server := feeding(t, people{}, nil)
	for _, tc := range []struct {
		path, token string
		code        int
	}{
		{"/api/feeds/absent/stream", "user", 404},
		{"/api/feeds/a/stream", "nobody", 401},
		{"/api/feeds/a/stream?after=" + strings.Repeat("9", 201), "user", 400},
	} {
		res := follow(t, server.URL+tc.path, tc.token, "")
		if res.StatusCode != tc.code || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s as %s: %d %s, want %d in JSON", tc.path, tc.token, res.StatusCode, res.Header.Get("Content-Type"),
				tc.code)
		}
	}
}

// fading is an Authenticator whose token is valid for a number of checks.
type fading struct {
	people
	left *atomic.Int64
}

func (f fading) Authenticate(ctx context.Context, bearer, audience string) (access.Caller, error) {
	if f.left.Add(-1) < 0 {
		bearer = "expired"
	}
	return f.people.Authenticate(ctx, bearer, audience)
}

func TestFeedEndsWhenRightsChange(t *testing.T) {
	left := &atomic.Int64{}
	left.Store(2) // the opening, and the first message
	body := readAll(t, follow(t, feeding(t, fading{left: left}, nil).URL+"/api/feeds/a/stream", "user", ""))
	if !strings.Contains(body, "id: 1\n") || strings.Contains(body, "id: 2\n") {
		t.Errorf("a reader whose rights ended after the first message got %q", body)
	}
}

func TestFeedEndsOnStopAndFailure(t *testing.T) {
	stopping := make(chan struct{})
	server := feeding(t, people{}, func(c *httpd.Config) { c.Stopping = stopping })
	body := readAll(t, follow(t, server.URL+"/api/feeds/failing/stream", "user", ""))
	if !strings.Contains(body, "id: 3\n") || strings.Contains(body, "secret") {
		t.Errorf("a failing feed sent %q", body)
	}
	res := follow(t, server.URL+"/api/feeds/a/stream", "user", "")
	close(stopping)
	readAll(t, res) // ends, or the request's time does
}

func readAll(t *testing.T, res *http.Response) string {
	t.Helper()
	var b strings.Builder
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		b.WriteString(lines.Text() + "\n")
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestUnwrappedOutputIsShownAlone(t *testing.T) {
	server := feeding(t, people{}, nil)
	for _, token := range []string{"user", "lgp_seat"} {
		res := follow(t, server.URL+"/api/things/ab", token, "")
		if got := readAll(t, res); got != "[\"a\",\"b\"]\n" {
			t.Errorf("got %s", got)
		}
	}
}

// watching is an Authenticator that reports a revocation.
type watching struct {
	people
	revoked chan struct{}
}

func (w watching) Watch(context.Context, string) (<-chan struct{}, func()) {
	return w.revoked, func() {}
}

func TestFeedEndsWhenItsKeyIsRevoked(t *testing.T) {
	revoked := make(chan struct{})
	res := follow(t, feeding(t, watching{revoked: revoked}, nil).URL+"/api/feeds/a/stream", "user", "")
	close(revoked)
	readAll(t, res) // ends, or the request's time does
}

// open is an answer that stays open for writing until its reader goes.
type open struct {
	header http.Header
	mu     sync.Mutex
	text   strings.Builder // guarded by mu
}

func (o *open) Header() http.Header              { return o.header }
func (o *open) WriteHeader(int)                  {}
func (o *open) Flush()                           {}
func (o *open) SetWriteDeadline(time.Time) error { return nil }
func (o *open) SetReadDeadline(time.Time) error  { return nil }
func (o *open) Write(b []byte) (int, error)      { o.mu.Lock(); defer o.mu.Unlock(); return o.text.Write(b) }
func (o *open) String() string                   { o.mu.Lock(); defer o.mu.Unlock(); return o.text.String() }

func TestSilentFeedSendsKeepAlives(t *testing.T) {
	site := feeding(t, people{}, nil).Config.Handler
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "GET", "http://127.0.0.1/api/feeds/a/stream", nil)
		r.Header.Set("Authorization", "Bearer user")
		o := &open{header: http.Header{}}
		done := make(chan struct{})
		go func() { defer close(done); site.ServeHTTP(o, r) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := strings.Count(o.String(), ": keep-alive\n\n"); n < 2 || n > 4 {
			t.Errorf("%d signs of life in a minute: %q", n, o.String())
		}
		cancel()
		<-done
	})
}
