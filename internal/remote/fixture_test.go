package remote_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/identity"
	"loregate/internal/remote"
	"loregate/internal/waittest"
)

// site is our own server, with a faulty network between it and the client.
type site struct {
	t      testing.TB
	app    *app.App
	server *httptest.Server
	key    string

	mu       sync.Mutex                                        // guards the fields below
	meddle   func(w http.ResponseWriter, r *http.Request) bool // true: it answered
	asked    []string
	slept    []time.Duration
	sleeping bool
	now      time.Time
}

func newSite(t testing.TB, environ ...string) *site {
	t.Helper()
	cfg, err := app.LoadConfig("", append([]string{"LOREGATE_DATA=" + t.TempDir(), "LOREGATE_LIMITS_CALLS=-1",
		"LOREGATE_LIMITS_CALLS_BURST=-1",
		"LOREGATE_LIMITS_WRITES=-1", "LOREGATE_LIMITS_AUTH=-1"}, environ...))
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
	if s.key, _, err = s.app.CreateKey(t.Context(), identity.KeySpec{Name: "test", Subject: "alice", Actor: access.Person,
		MaxRole: access.RoleGM}, []string{"main"}); err != nil {
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

// passes makes Sleep advance the clock.
func (s *site) passes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slept, s.sleeping = nil, true
}

func (s *site) meddled(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
	meddle := s.meddle
	s.mu.Unlock()
	return meddle != nil && meddle(w, r)
}

// breaks answers the next n calls, except those for tokens, with a status.
func (s *site) breaks(n, status int, headers ...string) {
	s.between(func(w http.ResponseWriter, r *http.Request) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if n == 0 || r.URL.Path != "/mcp/all" || r.Method != http.MethodPost {
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

// calls counts the requests since between, except those for tokens.
func (s *site) config() remote.Config {
	return remote.Config{URL: s.server.URL + "/api/mcp", Tools: []string{"all"}, Key: s.key, Role: access.RoleGM, Now: s.clock,
		Sleep: func(_ context.Context, d time.Duration) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.slept = append(s.slept, d)
			if s.sleeping {
				s.now = s.now.Add(d)
			}
			return nil
		}}
}

// client is an MCP client of the server, through the bridge.
type client struct {
	s *site
	*mcp.ClientSession
}

// connect connects through a bridge with the site's key.
func (s *site) connect(options *mcp.ClientOptions) client {
	s.t.Helper()
	b, err := remote.New(s.t.Context(), s.config())
	if err != nil {
		s.t.Fatal(err)
	}
	in, toBridge := io.Pipe()
	fromBridge, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- b.Serve(context.Background(), in, out) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, options).Connect(s.t.Context(),
		&mcp.IOTransport{Reader: fromBridge, Writer: toBridge}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = session.Close()
		_ = toBridge.Close()
		if err := waittest.Receive(s.t, done, "the bridge ends with its client"); err != nil {
			s.t.Error(err)
		}
	})
	return client{s, session}
}

// direct connects to the server itself.
func (s *site) direct() client {
	s.t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(s.t.Context(),
		&mcp.StreamableClientTransport{
			Endpoint: s.server.URL + "/mcp/all", HTTPClient: &http.Client{Transport: tokenTransport{s.key}}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close() })
	return client{s, session}
}

type tokenTransport struct{ key string }

func (b tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return http.DefaultTransport.RoundTrip(r)
}

// ask calls a tool and returns the text of its result; failed reports whether it is an error.
func (c client) ask(tool, input string) (text string, failed bool) {
	c.s.t.Helper()
	res, err := c.CallTool(c.s.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(input)})
	if err != nil {
		return err.Error(), true
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

func (c client) must(tool, input string) string {
	c.s.t.Helper()
	text, failed := c.ask(tool, input)
	if failed {
		c.s.t.Fatalf("%s %s: %s", tool, input, text)
	}
	return text
}

// calls returns the numbers of tool calls and of tokens that the server handled.
func (s *site) calls() (calls, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.asked {
		switch line {
		case "POST /api/mcp/auth":
			tokens++
		case "POST /mcp/all":
			calls++
		}
	}
	return calls, tokens
}
