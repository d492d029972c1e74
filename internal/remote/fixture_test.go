package remote_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/op"
	"loregate/internal/remote"
)

// site is our own server, with something between it and the client that can break.
type site struct {
	t      testing.TB
	app    *app.App
	server *httptest.Server
	key    string

	mu     sync.Mutex                                        // guards the rest
	meddle func(w http.ResponseWriter, r *http.Request) bool // true: it answered
	asked  []string
	slept  []time.Duration
	now    time.Time
}

func newSite(t testing.TB) *site {
	t.Helper()
	cfg, err := app.LoadConfig("", []string{"LOREGATE_DATA=" + t.TempDir(), "LOREGATE_LIMITS_CALLS=-1", "LOREGATE_LIMITS_CALLS_BURST=-1",
		"LOREGATE_LIMITS_WRITES=-1", "LOREGATE_LIMITS_AUTH=-1"})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, now: time.Now()}
	if s.app, err = app.Open(t.Context(), cfg, app.Options{Now: s.clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.app.Close(context.WithoutCancel(t.Context())) })
	if err := s.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.key, _, err = s.app.CreateKey(t.Context(), identity.KeySpec{Name: "test", Subject: "alice", Actor: access.Person, MaxRole: access.RoleGM}, []string{"main"}); err != nil {
		t.Fatal(err)
	}
	h, stop, err := s.app.Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.meddled(w, r) {
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.server.Close)
	return s
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *site) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func (s *site) meddled(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
	meddle := s.meddle
	s.mu.Unlock()
	return meddle != nil && meddle(w, r)
}

// breaks answers the next n calls that are no token's with a status.
func (s *site) breaks(n, status int, headers ...string) {
	s.between(func(w http.ResponseWriter, r *http.Request) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if n == 0 || r.URL.Path == "/api/mcp/auth" || r.URL.Path == "/api/mcp/.well-known/jwks.json" {
			return false
		}
		n--
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		return true
	})
}

func (s *site) between(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meddle, s.asked, s.slept = f, nil, nil
}

// calls are the requests since between, without those for tokens.
func (s *site) calls() (calls, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.asked {
		if line == "POST /api/mcp/auth" {
			tokens++
		} else if line != "GET /api/mcp/.well-known/jwks.json" {
			calls++
		}
	}
	return calls, tokens
}

func (s *site) config() remote.Config {
	return remote.Config{URL: s.server.URL + "/api/mcp", Key: s.key, Role: access.RoleGM, Surfaces: s.app.Surfaces, Now: s.clock,
		Sleep: func(_ context.Context, d time.Duration) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.slept = append(s.slept, d)
			return nil
		}}
}

// client is somebody who works through the server from afar.
type client struct {
	s *site
	*remote.Engine
	role access.Role
}

func (s *site) connect() client {
	s.t.Helper()
	e, err := remote.New(s.t.Context(), s.config())
	if err != nil {
		s.t.Fatal(err)
	}
	return client{s, e, access.RoleGM}
}

// connectAdmin is connect as an admin.
func (s *site) connectAdmin() client {
	s.t.Helper()
	cfg := s.config()
	var err error
	if cfg.Key, _, err = s.app.CreateKey(s.t.Context(), identity.KeySpec{Name: "admin", Subject: "ann", Actor: access.Person, MaxRole: access.RoleAdmin}, []string{"main"}); err != nil {
		s.t.Fatal(err)
	}
	cfg.Role, cfg.World = access.RoleAdmin, "main"
	e, err := remote.New(s.t.Context(), cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	return client{s, e, access.RoleAdmin}
}

func (c client) ask(name, input string, more ...func(*op.Request)) (*op.Answer, error) {
	r := op.Request{Operation: name, Input: json.RawMessage(input), Transport: "mcp"}
	for _, m := range more {
		m(&r)
	}
	return c.Invoke(c.s.t.Context(), access.Caller{Subject: "local", EveryRole: c.role}, r)
}

func (c client) must(name, input string, more ...func(*op.Request)) (*op.Answer, map[string]any) {
	c.s.t.Helper()
	a, err := c.ask(name, input, more...)
	if err != nil {
		c.s.t.Fatalf("%s %s: %v", name, input, err)
	}
	o, _ := c.Find(name)
	if err := o.CheckOutput(a.Output); err != nil {
		c.s.t.Errorf("%s: %v\n%s", name, err, a.Output)
	}
	var v map[string]any
	if err := json.Unmarshal(a.Output, &v); err != nil {
		c.s.t.Fatal(err)
	}
	return a, v
}

func (c client) wantKind(kind fault.Kind, name, input string, more ...func(*op.Request)) *fault.Error {
	c.s.t.Helper()
	a, err := c.ask(name, input, more...)
	if err == nil {
		c.s.t.Fatalf("%s %s: want %s, got %s", name, input, kind, a.Output)
	}
	f, ok := err.(*fault.Error)
	if !ok || f.Kind != kind {
		c.s.t.Fatalf("%s %s: want %s, got %v", name, input, kind, err)
	}
	return f
}

func withKey(k string) func(*op.Request) { return func(r *op.Request) { r.IdempotencyKey = k } }
