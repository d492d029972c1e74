// Package prooftest proves the second law, that hidden data is absent from answers, on the
// whole product as it is served. One proof plants marks in every hidden place, none of which
// may ever appear. The other compares two worlds that differ only in their hidden data: their
// answers must be equal to the byte.
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
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/app/patronitest"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/op"
	"loregate/internal/raceenabled"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/waittest"
)

// stores are the stores on which the proofs run, one after the other. If PostgreSQL is not
// installed its part is skipped, or fails with REQUIRE_ENGINES=1.
var stores = []string{"embedded", "postgres"}

// placed is the kind of store of an instance with two databases, of which the second one has the world
// of the proof and is on a server of its own.
const placed = "placed"

// onEachStore runs a proof on each store, and on others.
func onEachStore(t *testing.T, proof func(t *testing.T, on string), others ...string) {
	t.Parallel()
	for _, on := range slices.Concat(stores, others) {
		t.Run(on, func(t *testing.T) { proof(t, on) })
	}
}

// createSchema creates the schema of a database.
func createSchema(ctx context.Context, url string) error {
	s, err := postgres.Open(ctx, postgres.Config{URL: url})
	if err == nil {
		err = s.Close()
	}
	return err
}

// rounds returns the number of random calls of a caller: PROOF_ROUNDS, or a few by default.
func rounds(fallback int) int {
	if n, err := strconv.Atoi(os.Getenv("PROOF_ROUNDS")); err == nil && n > 0 {
		return n
	}
	return raceenabled.Share(fallback, 8)
}

// isLong reports whether a long proof is asked for.
func isLong() bool { return os.Getenv("PROOF_ROUNDS") != "" }

// skipWithRace skips a proof that takes too long with the race detector, unless a long proof is asked for.
func skipWithRace(t *testing.T) {
	t.Helper()
	if raceenabled.Detected && !isLong() {
		t.Skip("only without the race detector, as make test does too, or with PROOF_ROUNDS")
	}
}

// stride is the step by which a short proof selects names for its calls.
func stride() int {
	switch {
	case isLong():
		return 1
	case raceenabled.Detected:
		return 60
	}
	return 12
}

// isSelected reports whether a call is made in this turn. A short proof makes each good call
// over one transport in three.
func isSelected(turn int) bool { return isLong() || turn%3 == 0 }

// source is the clock, the ids and the random bytes of a stage. Each purpose (a stream, or a
// use of ids) has a sequence of ids of its own: the order in which two purposes draw changes no
// id. Hidden parts of the story have sequences of their own, so that they do not change the ids
// of the visible parts.
type source struct {
	mu     sync.Mutex
	now    time.Time             // guarded by mu
	hidden bool                  // guarded by mu
	drawn  map[idSequence]uint64 // guarded by mu: number of ids drawn
	chance map[idSequence]uint64 // guarded by mu: number of times that bytes were drawn
}

// idSequence names a sequence of ids: its purpose, and whether the story's part is hidden.
type idSequence struct {
	purpose string
	hidden  bool
}

func newSource() *source {
	return &source{now: begin, drawn: map[idSequence]uint64{}, chance: map[idSequence]uint64{}}
}

// Random fills b with bytes that are the same in every run.
func (s *source) Random(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := idSequence{hidden: s.hidden}
	s.chance[at]++
	r := rand.New(rand.NewPCG(s.chance[at], uint64(at.hiddenBit())))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

func (r idSequence) hiddenBit() byte {
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

func (s *source) advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func (s *source) setHidden(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = on
}

// NewID returns UUIDs of version 7 that rise for each purpose and are the same in every run.
func (s *source) NewID(purpose string) uuid.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := idSequence{purpose, s.hidden}
	s.drawn[at]++
	var u uuid.UUID
	ms := s.now.UnixMilli()
	for i := range 6 {
		u[i] = byte(ms >> (8 * (5 - i)))
	}
	sum := sha256.Sum256([]byte(purpose))
	u[6], u[7], u[8], u[9] = 0x70, sum[0], 0x80, at.hiddenBit()
	copy(u[10:12], sum[1:])
	for i := range 4 {
		u[15-i] = byte(s.drawn[at] >> (8 * i))
	}
	return u
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// stage is the product, served, with one world.
type stage struct {
	t       testing.TB
	src     *source
	app     *app.App
	url     string
	world   access.WorldID
	keys    map[string]string // keys and tokens by their holders
	cookies map[string]string // of their sessions on the pages
	logs    *syncBuffer
	traces  *syncBuffer
	options app.Options
	server  server // of the second database; nil but for placed
	close   func() // ends the stage; may be called more than once
}

// host is the host that requests name, so that addresses in answers are the same on every
// stage.
const host = "127.0.0.1:8420"

// begin is the time at which every stage opens.
var begin = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// configOn returns the default configuration with an empty store of a kind.
func configOn(t testing.TB, on string) app.Config {
	t.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = t.TempDir()
	if on != "embedded" {
		c.Database = pgtest.Database(t, createSchema)
	}
	return c
}

// server is the server of the world's database, or a cluster of them.
type server interface {
	Empty() string // address of a new database
	Kill()         // of the primary
	Again()
}

// startServer starts a server, or with PROOF_CLUSTER a cluster.
func startServer(t testing.TB) server {
	if inCluster() {
		return patronitest.Start(t)
	}
	return pgtest.Start(t)
}

// inCluster reports whether the world's database is on three servers, which the proof lets fail over.
func inCluster() bool { return os.Getenv("PROOF_CLUSTER") != "" }

// restartDatabase ends the server of the world's database as a crash does, and starts it again. In a cluster a
// standby becomes the primary, and then another one by order.
func (s *stage) restartDatabase() {
	s.t.Helper()
	read := func() error {
		_, err := s.tryDo(keeper, "search_cards", map[string]any{"q": "the"})
		return err
	}
	s.server.Kill()
	apptest.Eventually(s.t, "the world is not served", waittest.Patience, func() bool {
		return fault.KindOf(read()) == fault.Unavailable
	})
	s.server.Again()
	apptest.Eventually(s.t, "the world is served again", waittest.Patience, func() bool { return read() == nil })
	if c, ok := s.server.(*patronitest.Cluster); ok {
		c.SwitchOver()
		apptest.Eventually(s.t, "the next primary serves the world", waittest.Patience, func() bool { return read() == nil })
	}
}

// newStage opens the product on an empty store of a kind, with one empty world.
func newStage(t testing.TB, on string) *stage {
	t.Helper()
	s := &stage{t: t, src: newSource(), keys: map[string]string{}, cookies: map[string]string{}, logs: &syncBuffer{}, traces: &syncBuffer{}}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(s.traces, r.Body)
	}))
	t.Cleanup(collector.Close)
	c := configOn(t, on)
	if on == placed {
		s.server = startServer(t)
		east := s.server.Empty()
		if err := createSchema(t.Context(), east); err != nil { // a database that is still prepared refuses worlds
			t.Fatal(err)
		}
		c.Databases, c.Worlds = []string{"east=" + east}, []string{"lend*=east"}
	}
	c.Addr, c.Tracing.Endpoint = host, collector.URL
	c.Limits = app.Limits{Calls: -1, CallsBurst: -1, Resources: -1, Lists: -1, ListPages: -1, ToolLists: -1, Writes: -1,
		Commands: -1, Auth: -1}
	c.Studio.Blender, c.Studio.Godot = filepath.Join(c.Data, "no-blender"), filepath.Join(c.Data, "no-godot")
	logger := slog.New(slog.NewJSONHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.options = app.Options{Version: "1.0.0", Now: s.src.Now, NewID: s.src.NewID, Random: s.src.Random,
		Secrets: func(b []byte) { copy(b, "the same in both worlds") }, Logger: logger, Deterministic: true}
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

// people are the holders of a key to a world. Alice is a player named by some cards; the
// stranger plays in another world.
var people = map[string]struct {
	role  access.Role
	world string
}{
	"user": {access.RoleUser, "lendwater"}, "alice": {access.RoleUser, "lendwater"}, "gm": {access.RoleGM, "lendwater"},
	"admin": {access.RoleAdmin, "lendwater"}, "stranger": {access.RoleAdmin, "otherland"},
}

// giveKeys makes a key for each named person, whose world must exist.
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
	secret, _, err := s.app.CreateKey(s.t.Context(), identity.KeySpec{Name: "operator", Subject: "operator",
		Actor:   access.Person,
		MaxRole: access.RoleAdmin, Operator: true, Approve: true}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.keys["operator"] = secret
}

// newAuthor returns a caller without limits, who makes the calls of the story.
func newAuthor(name string, role access.Role) access.Caller {
	return access.Caller{Subject: access.Subject(name), Actor: access.Person, EveryRole: role, Unlimited: true}
}

var (
	keeper = newAuthor("keeper", access.RoleAdmin)
	player = newAuthor("player", access.RoleUser)
)

// settleApp does the background work that the last call left.
func (s *stage) settleApp() {
	s.t.Helper()
	if err := s.app.FlushUsage(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

// do makes a call in the stage's world, and returns its output.
func (s *stage) do(by access.Caller, operation string, input any) map[string]any {
	s.t.Helper()
	out, err := s.tryDo(by, operation, input)
	if err != nil {
		s.t.Fatalf("%s %v: %v", operation, input, err)
	}
	return out
}

// tryDo is do for calls that may be refused.
func (s *stage) tryDo(by access.Caller, operation string, input any) (out map[string]any, err error) {
	s.t.Helper()
	a, err := s.doForAnswer(by, operation, input)
	if err == nil {
		err = json.Unmarshal(a.Output, &out)
	}
	return out, err
}

// doForAnswer is tryDo that returns the whole answer.
func (s *stage) doForAnswer(by access.Caller, operation string, input any) (*op.Answer, error) {
	s.t.Helper()
	b, err := json.Marshal(input)
	if err != nil {
		s.t.Fatal(err)
	}
	r := op.Request{Operation: operation, Input: b, World: s.world.String(), Transport: "rest", Correlation: "story"}
	if m, ok := input.(map[string]any); ok && m["campaign_id"] != nil {
		r.World = "" // the input names the world
	}
	a, err := s.app.Ops.Invoke(s.t.Context(), by, r)
	s.settleApp()
	return a, err
}

// commitPlan commits a plan that no operation can make, as the keeper.
func (s *stage) commitPlan(f func(*canon.Plan) error) {
	s.t.Helper()
	err := s.app.WithGrant(s.t.Context(), keeper, access.Request{Operation: "story", Effect: access.Write, World: s.world},
		func(g access.Grant) error {
			_, err := s.app.Canon.Update(s.t.Context(), g, f)
			return err
		})
	if err != nil {
		s.t.Fatal(err)
	}
}
