// Package prooftest proves the second law, that what is hidden is absent, on the whole
// product as it is served: by marks planted in every hidden place, of which none may ever
// come out, and by two worlds that differ only in what is hidden, which must answer alike
// to the byte.
package prooftest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/op"
	"loregate/internal/raceenabled"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
)

// stores are what the proofs run on, one after the other. Where PostgreSQL is not
// installed its part is skipped, or fails with REQUIRE_ENGINES=1.
var stores = []string{"embedded", "postgres"}

// onEachStore runs a proof on each store.
func onEachStore(t *testing.T, proof func(t *testing.T, on string)) {
	t.Parallel()
	for _, on := range stores {
		t.Run(on, func(t *testing.T) { proof(t, on) })
	}
}

// prepare makes the schema of a database.
func prepare(ctx context.Context, url string) error {
	s, err := postgres.Open(ctx, postgres.Config{URL: url})
	if err == nil {
		err = s.Close()
	}
	return err
}

// rounds is how many random calls a caller makes: PROOF_ROUNDS, or a few by default.
func rounds(fallback int) int {
	if n, err := strconv.Atoi(os.Getenv("PROOF_ROUNDS")); err == nil && n > 0 {
		return n
	}
	return raceenabled.Share(fallback, 8)
}

// long reports whether a long proof is asked for.
func long() bool { return os.Getenv("PROOF_ROUNDS") != "" }

// stride thins out, in a short proof, the names that every kind of call is tried with.
func stride() int {
	switch {
	case long():
		return 1
	case raceenabled.Detected:
		return 60
	}
	return 12
}

// some is the part of the good calls that a short proof makes over each transport: all
// calls are made over one of them.
func some(turn int) bool { return long() || turn%3 == 0 }

// source is the clock, the ids and the chance of a stage. Ids are drawn from a row for each
// purpose, which is a stream or what they are for: the order in which two purposes draw
// changes no id. What is told out of sight draws from rows of its own, and so leaves those
// of the rest alone.
type source struct {
	mu     sync.Mutex
	now    time.Time      // guarded by mu
	hidden bool           // guarded by mu
	drawn  map[row]uint64 // guarded by mu: ids drawn
	chance map[row]uint64 // guarded by mu: times that bytes were drawn
}

// row is what ids are drawn for, in sight or out of it.
type row struct {
	purpose string
	hidden  bool
}

func newSource() *source {
	return &source{now: begin, drawn: map[row]uint64{}, chance: map[row]uint64{}}
}

// Random gives bytes that are the same in every run.
func (s *source) Random(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := row{hidden: s.hidden}
	s.chance[at]++
	r := rand.New(rand.NewPCG(s.chance[at], uint64(at.number())))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

func (r row) number() byte {
	if r.hidden {
		return 1
	}
	return 0
}

func (s *source) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *source) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func (s *source) hide(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = on
}

// NewID gives UUIDs of version 7 that rise for each purpose and are the same in every run.
func (s *source) NewID(purpose string) uuid.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := row{purpose, s.hidden}
	s.drawn[at]++
	var u uuid.UUID
	ms := s.now.UnixMilli()
	for i := range 6 {
		u[i] = byte(ms >> (8 * (5 - i)))
	}
	sum := sha256.Sum256([]byte(purpose))
	u[6], u[7], u[8], u[9] = 0x70, sum[0], 0x80, at.number()
	copy(u[10:12], sum[1:])
	for i := range 4 {
		u[15-i] = byte(s.drawn[at] >> (8 * i))
	}
	return u
}

// sink keeps what is written to it, from several goroutines.
type sink struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// stage is the product, served, with one world that people play in.
type stage struct {
	t       testing.TB
	src     *source
	app     *app.App
	url     string
	world   access.WorldID
	keys    map[string]string // secrets by who holds them
	logs    *sink
	traces  *sink
	options app.Options
	close   func() // ends it; more than once does no harm
}

// host is what requests name, so that addresses in answers are the same on every stage.
const host = "127.0.0.1:8420"

// begin is when every stage opens.
var begin = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// configOn is the default configuration with an empty store of a kind.
func configOn(t testing.TB, on string) app.Config {
	t.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = t.TempDir()
	if on == "postgres" {
		c.Database = pgtest.Database(t, prepare)
	}
	return c
}

// newStage opens the product on an empty store of a kind, with one empty world.
func newStage(t testing.TB, on string) *stage {
	t.Helper()
	s := &stage{t: t, src: newSource(), keys: map[string]string{}, logs: &sink{}, traces: &sink{}}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(s.traces, r.Body)
	}))
	t.Cleanup(collector.Close)
	c := configOn(t, on)
	c.Addr, c.Tracing.Endpoint = host, collector.URL
	c.Limits = app.Limits{Calls: -1, CallsBurst: -1, Resources: -1, Lists: -1, ListPages: -1, ToolLists: -1, Writes: -1, Commands: -1, Auth: -1}
	c.Studio.Blender, c.Studio.Godot = filepath.Join(c.Data, "no-blender"), filepath.Join(c.Data, "no-godot")
	logger := slog.New(slog.NewJSONHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.options = app.Options{Version: "1.0.0", Now: s.src.Now, NewID: s.src.NewID, Random: s.src.Random,
		Secrets: func(b []byte) { copy(b, "the same in both worlds") }, Logger: logger, Still: true}
	var err error
	if s.app, err = app.Open(t.Context(), c, s.options); err != nil {
		t.Fatal(err)
	}
	h, stop, err := s.app.Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	s.url = server.URL
	s.close = sync.OnceFunc(func() {
		stop()
		server.CloseClientConnections()
		server.Close()
		s.app.Close(context.WithoutCancel(t.Context()))
	})
	t.Cleanup(s.close)
	w, err := s.app.CreateWorld(t.Context(), canon.NewWorld{Slug: "lendwater", Title: "Lendwater"})
	if err != nil {
		t.Fatal(err)
	}
	s.world = w.ID
	return s
}

// people are those who hold a key to the world. Alice is a player whom some cards name;
// the stranger plays in another world.
var people = map[string]struct {
	role  access.Role
	world string
}{
	"user": {access.RoleUser, "lendwater"}, "alice": {access.RoleUser, "lendwater"}, "gm": {access.RoleGM, "lendwater"},
	"admin": {access.RoleAdmin, "lendwater"}, "stranger": {access.RoleAdmin, "otherland"},
}

// giveKeys makes a key for each person whose world is there.
func (s *stage) giveKeys(who ...string) {
	s.t.Helper()
	for _, name := range who {
		p := people[name]
		spec := identity.KeySpec{Name: name, Subject: access.Subject(name), MaxRole: p.role, Actor: access.Person}
		if name == "user" {
			spec.Actor = access.AI
		}
		secret, _, err := s.app.CreateKey(s.t.Context(), spec, []string{p.world})
		if err != nil {
			s.t.Fatal(err)
		}
		s.keys[name] = secret
	}
}

// giveOperatorKey makes the operator's key.
func (s *stage) giveOperatorKey() {
	s.t.Helper()
	secret, _, err := s.app.CreateKey(s.t.Context(), identity.KeySpec{Name: "operator", Subject: "operator", Actor: access.Person,
		MaxRole: access.RoleAdmin, Operator: true, Approve: true}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.keys["operator"] = secret
}

// author is a caller who tells the stage's story, without limits.
func author(name string, role access.Role) access.Caller {
	return access.Caller{Subject: access.Subject(name), Actor: access.Person, EveryRole: role, Unlimited: true}
}

var (
	keeper = author("keeper", access.RoleAdmin)
	player = author("player", access.RoleUser)
)

// settle does the work that the last call left to be done beside calls.
func (s *stage) settle() {
	s.t.Helper()
	if err := s.app.Settle(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

// do makes a call as an author, in the stage's world, and gives its output.
func (s *stage) do(by access.Caller, operation string, input any) map[string]any {
	s.t.Helper()
	out, err := s.tried(by, operation, input)
	if err != nil {
		s.t.Fatalf("%s %v: %v", operation, input, err)
	}
	return out
}

// tried is do for what may be refused.
func (s *stage) tried(by access.Caller, operation string, input any) (out map[string]any, err error) {
	s.t.Helper()
	a, err := s.answer(by, operation, input)
	if err == nil {
		err = json.Unmarshal(a.Output, &out)
	}
	return out, err
}

// answer is tried with all that the answer has.
func (s *stage) answer(by access.Caller, operation string, input any) (*op.Answer, error) {
	s.t.Helper()
	b, err := json.Marshal(input)
	if err != nil {
		s.t.Fatal(err)
	}
	r := op.Request{Operation: operation, Input: b, World: s.world.String(), Transport: "rest", Correlation: "story"}
	if m, ok := input.(map[string]any); ok && m["campaign_id"] != nil {
		r.World = "" // the input names it
	}
	a, err := s.app.Ops.Invoke(s.t.Context(), by, r)
	s.settle()
	return a, err
}

// plan commits what no operation does, as the keeper.
func (s *stage) plan(f func(*canon.Plan) error) {
	s.t.Helper()
	err := s.app.As(s.t.Context(), keeper, access.Request{Operation: "story", Effect: access.Write, World: s.world}, func(g access.Grant) error {
		_, err := s.app.Canon.Update(s.t.Context(), g, f)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}
