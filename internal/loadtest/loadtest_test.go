package loadtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/loadtest"
)

// site is the product, served, behind a handler that can fail.
type site struct {
	t   *testing.T
	app *app.App
	url string
	key string

	mu     sync.Mutex                                        // guards the fields below
	meddle func(w http.ResponseWriter, r *http.Request) bool // true: it answered
	asked  []string
}

func newSite(t *testing.T, settings ...string) *site {
	t.Helper()
	env := []string{"LOREGATE_DATA=" + t.TempDir(), "LOREGATE_LIMITS_AUTH=-1", "LOREGATE_PROPOSALS_KEY_MINUTE=1000000"}
	if len(settings) == 0 {
		settings = []string{"LOREGATE_LIMITS_CALLS=-1", "LOREGATE_LIMITS_CALLS_BURST=-1", "LOREGATE_LIMITS_WRITES=-1",
			"LOREGATE_LIMITS_WORK=-1", "LOREGATE_LIMITS_GM_WORK=-1"}
	}
	cfg, err := app.LoadConfig("", append(env, settings...))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t}
	if s.app, err = app.Open(t.Context(), cfg, app.Options{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.app.Close(context.WithoutCancel(t.Context())) })
	if _, err := s.app.CreateWorld(t.Context(), canon.NewWorld{Slug: "bench"}); err != nil {
		t.Fatal(err)
	}
	if s.key, _, err = s.app.CreateKey(t.Context(), identity.KeySpec{Name: "bench", Subject: "bench", Actor: access.Person,
		MaxRole: access.RoleAdmin}, []string{"bench"}); err != nil {
		t.Fatal(err)
	}
	h, stop, err := s.app.Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.meddled(w, r) {
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		stop()
		server.CloseClientConnections()
		server.Close()
	})
	s.url = server.URL
	return s
}

func (s *site) meddled(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Idempotency-Key"))
	meddle := s.meddle
	s.mu.Unlock()
	return meddle != nil && meddle(w, r)
}

func (s *site) config() loadtest.Config {
	return loadtest.Config{URLs: []string{s.url}, Key: s.key, World: "bench", Cards: 120, Clients: 4,
		Duration: 20 * time.Second, Calls: 150}
}

func (s *site) run(c loadtest.Config) *loadtest.Report {
	s.t.Helper()
	r, err := loadtest.Run(s.t.Context(), c)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// cards returns the names of the world's cards that begin with a text.
func (s *site) cards(prefix string) (names []string) {
	s.t.Helper()
	who := access.Caller{Subject: "test", Actor: access.Person, EveryRole: access.RoleAdmin, Unlimited: true}
	w, _, err := s.app.Canon.WorldBySlug(s.t.Context(), "bench")
	if err != nil {
		s.t.Fatal(err)
	}
	r := access.Request{Operation: "test", Effect: access.Read, World: w.ID}
	err = s.app.WithGrant(s.t.Context(), who, r, func(g access.Grant) error {
		return s.app.Canon.Read(s.t.Context(), g, func(l *canon.Snapshot) error {
			for offset := 0; ; offset += 100 {
				list, _, err := l.Cards(s.t.Context(), canon.Filter{NameContains: prefix}, canon.Page{Offset: offset, Limit: 100})
				if err != nil || len(list) == 0 {
					return err
				}
				for _, c := range list {
					names = append(names, c.Name)
				}
			}
		})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}

func TestALoadOfEveryKind(t *testing.T) {
	s := newSite(t)
	c := s.config()
	c.Watchers = 1
	c.Calls = 400
	c.Mix = map[loadtest.Kind]int{loadtest.Read: 2, loadtest.Search: 1, loadtest.Write: 1, loadtest.Propose: 1}
	r := s.run(c)
	if r.Failed != 0 || r.Retried != 0 || r.Limited != 0 {
		t.Errorf("a sound server: %d failed, %d repeated, %d limited: %+v", r.Failed, r.Retried, r.Limited, r.Kinds)
	}
	var calls int64
	for _, k := range []loadtest.Kind{loadtest.Read, loadtest.Search, loadtest.Write, loadtest.Propose} {
		f := r.Kinds[k]
		calls += f.Calls
		if f.Calls == 0 || f.Latency.P50 <= 0 || f.Latency.P99 < f.Latency.P50 || f.Latency.Max < f.Latency.P99 {
			t.Errorf("%s: %+v", k, f)
		}
	}
	if calls != r.Calls || r.Calls < 400 {
		t.Errorf("%d calls, %d by kind, want 400 and those of the watcher", r.Calls, calls)
	}
	if left := s.cards("load 1"); len(left) != 0 {
		t.Errorf("left in the world: %q", left)
	}
}

func TestSameSeedMakesSameCalls(t *testing.T) {
	ask := func(seed uint64) []string {
		s := newSite(t)
		c := s.config()
		c.Seed, c.Clients, c.Calls, c.Keep = seed, 1, 60, true
		c.Mix = map[loadtest.Kind]int{loadtest.Read: 1, loadtest.Search: 1}
		s.run(c)
		var reads []string
		for _, line := range s.asked {
			if strings.HasPrefix(line, "GET ") {
				reads = append(reads, line)
			}
		}
		return reads
	}
	one, again, other := ask(7), ask(7), ask(8)
	if !slices.Equal(one, again) {
		t.Error("the same seed asks something else")
	}
	if slices.Equal(one, other) {
		t.Error("another seed asks the same")
	}
}

func TestKeptCardsAreReused(t *testing.T) {
	s := newSite(t)
	c := s.config()
	c.Keep, c.Calls = true, 10
	s.run(c)
	have := len(s.cards("load 1"))
	if have < 120 {
		t.Fatalf("%d cards are kept, want 120 at least", have)
	}
	s.asked = nil
	s.run(c)
	for _, line := range s.asked {
		if strings.Contains(line, "/batch") {
			t.Fatalf("written again: %s", line)
		}
	}
}

// TestLostAnswersAreRetried loses the answers to every seventh write after the write took
// effect.
func TestLostAnswersAreRetried(t *testing.T) {
	s := newSite(t)
	c := s.config()
	c.Mix, c.Keep = map[loadtest.Kind]int{loadtest.Write: 1}, true
	var lost, n int
	s.meddle = func(w http.ResponseWriter, r *http.Request) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Header.Get("Idempotency-Key") == "" || r.Method != http.MethodPost || strings.HasSuffix(r.URL.Path, "/batch") {
			return false
		}
		if n++; n%7 != 3 {
			return false
		}
		lost++
		body, _ := io.ReadAll(r.Body)
		again, err := http.NewRequest(r.Method, s.url+r.URL.String(), bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return false
		}
		again.Header = r.Header.Clone()
		s.mu.Unlock()
		res, err := http.DefaultClient.Do(again) // n is 4 of 7 for it
		s.mu.Lock()
		if err != nil || res.Body.Close() != nil {
			t.Error(err)
		}
		panic(http.ErrAbortHandler)
	}
	r := s.run(c)
	if r.Failed != 0 || lost == 0 || r.Retried != lost {
		t.Errorf("%d answers lost: %d failed, %d repeated", lost, r.Failed, r.Retried)
	}
	names := map[string]bool{}
	for _, name := range s.cards("load 1") {
		if names[name] {
			t.Errorf("%s is there twice", name)
		}
		names[name] = true
	}
}

func TestFailuresAreCountedByCode(t *testing.T) {
	s := newSite(t)
	c := s.config()
	c.Mix = map[loadtest.Kind]int{loadtest.Read: 1}
	n := 0
	s.meddle = func(w http.ResponseWriter, r *http.Request) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "+Part") {
			return false
		}
		if n++; n%10 != 0 {
			return false
		}
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"error":{"code":"internal_error","message":"no"}}`)
		return true
	}
	r := s.run(c)
	if got := r.Kinds[loadtest.Read].Failed["internal_error"]; got != 15 || r.Failed != 15 || r.Calls != 135 {
		t.Errorf("%d failed with the code, %d in all, %d calls answered; want 15, 15, 135", got, r.Failed, r.Calls)
	}
	var b bytes.Buffer
	if err := r.Print(&b); err != nil || !strings.Contains(b.String(), "read failed: 15 × internal_error") ||
		!strings.Contains(b.String(), "×") || !strings.Contains(b.String(), "server CPU: ") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestLimitsAreKeptAndReported(t *testing.T) {
	s := newSite(t, "LOREGATE_LIMITS_CALLS=6000", "LOREGATE_LIMITS_CALLS_BURST=20", "LOREGATE_LIMITS_WRITES=-1",
		"LOREGATE_LIMITS_WORK=-1", "LOREGATE_LIMITS_GM_WORK=-1")
	c := s.config()
	c.Duration, c.Cards, c.Calls, c.Keep = 2*time.Second, 10, 0, true
	c.Mix = map[loadtest.Kind]int{loadtest.Read: 1}
	r := s.run(c)
	if r.Limited == 0 || r.Failed != 0 {
		t.Errorf("%d limited, %d failed: %+v", r.Limited, r.Failed, r.Kinds)
	}
	if r.Calls > 100 {
		t.Errorf("%d calls in two seconds, where 20 a second are allowed", r.Calls)
	}
	var b bytes.Buffer
	if err := r.Print(&b); err != nil || !strings.Contains(b.String(), "limits.calls") {
		t.Errorf("nothing says that the server limits: %v\n%s", err, b.String())
	}
}

func TestAnOpenLoopKeepsItsRate(t *testing.T) {
	s := newSite(t)
	c := s.config()
	c.Rate, c.Duration, c.Calls, c.Keep = 40, 2*time.Second, 0, true
	if r := s.run(c); r.Calls > 82 || r.Calls == 0 {
		t.Errorf("%d calls in two seconds at 40 a second", r.Calls)
	}
}

func TestInvalidConfigs(t *testing.T) {
	good := loadtest.Config{URLs: []string{"http://127.0.0.1:1"}, Key: "k", World: "w"}
	for _, test := range []struct {
		name string
		edit func(*loadtest.Config)
		want string
	}{
		{"no server", func(c *loadtest.Config) { c.URLs = nil }, "url"},
		{"no key", func(c *loadtest.Config) { c.Key = "" }, "loregate key create"},
		{"no world", func(c *loadtest.Config) { c.World = "" }, "world"},
		{"another machine", func(c *loadtest.Config) { c.URLs = []string{"https://lore.example"} }, "--other-machine"},
		{"another machine in the clear",
			func(c *loadtest.Config) { c.URLs, c.Strange = []string{"http://lore.example"}, true }, "https"},
		{"a path", func(c *loadtest.Config) { c.URLs = []string{"http://127.0.0.1/api"} }, "http://host:port"},
		{"too long", func(c *loadtest.Config) { c.Duration = 2 * time.Hour }, "1h"},
		{"too many clients", func(c *loadtest.Config) { c.Clients = 5000 }, "1024"},
		{"too many cards", func(c *loadtest.Config) { c.Cards = 2_000_000 }, "1000000"},
		{"an unknown kind", func(c *loadtest.Config) { c.Mix = map[loadtest.Kind]int{"dance": 1} }, "dance"},
		{"no weight", func(c *loadtest.Config) { c.Mix = map[loadtest.Kind]int{loadtest.Read: 0} }, "weight"},
		{"nobody there", func(c *loadtest.Config) {}, "no_connection"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := good
			test.edit(&c)
			if _, err := loadtest.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want something of %q", err, test.want)
			}
		})
	}
}

func TestPicturesAndJSON(t *testing.T) {
	for _, r := range []*loadtest.Report{
		{},
		{Seconds: 2, Over: []loadtest.Slot{{At: 0, Calls: 10, P50: 1, P99: 4}, {At: 1, Failed: 2},
			{At: 1.5, Calls: 3, P50: 0.2, P99: 900}}},
	} {
		var b bytes.Buffer
		if err := r.Picture(&b, `<a> & "b"`); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v\n%s", err, b.String())
			}
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("not to be drawn:\n%s", b.String())
		}
		if line := []rune(r.Sparkline()); len(line) != len(r.Over) {
			t.Errorf("%q has %d characters", string(line), len(line))
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	}
}
