package game

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/game/rule"
	"loregate/internal/op"
	"loregate/internal/store/sqlite"
	"loregate/internal/store/sqlite/sqlitetest"
)

// stage is two processes on one store: two services, each with a canon.
type stage struct {
	t     *testing.T
	clock atomic.Int64
	world access.WorldID
	guard *access.Guard
	both  [2]*Service
	ops   [2]*op.Local

	access records
}

// records are the recorded calls.
type records struct {
	mu   sync.Mutex
	list []access.Record // guarded by mu
}

func (r *records) Reserve() error { return nil }

func (r *records) Record(rec access.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, rec)
}

// of returns the records of an operation; of all operations for "".
func (r *records) of(operation string) (list []access.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range r.list {
		if operation == "" || rec.Operation == operation {
			list = append(list, rec)
		}
	}
	return list
}

// tokens numbers the credentials of seats.
type tokens struct{ n atomic.Int64 }

func (k *tokens) Token(context.Context, access.Grant, string) (token, id string, err error) {
	n := k.n.Add(1)
	return fmt.Sprint("token-", n), fmt.Sprint("id-", n), nil
}

func (k *tokens) Invitation(ctx context.Context, g access.Grant, seat string) (token string, err error) {
	token, _, err = k.Token(ctx, g, seat)
	return token, err
}

func (k *tokens) Key(ctx context.Context, g access.Grant, seat string, _ []string) (secret, id string, err error) {
	return k.Token(ctx, g, seat)
}

func (k *tokens) Recovery(ctx context.Context, g access.Grant, seat, _ string) (code, id string, err error) {
	return k.Token(ctx, g, seat)
}

func (k *tokens) Revoke(context.Context, string) error { return nil }

// worlds has one world.
type worlds struct{ id access.WorldID }

func (w worlds) Resolve(context.Context, access.Caller, string) (access.WorldID, error) {
	return w.id, nil
}
func (w worlds) Names(context.Context, access.Caller) ([]string, error) {
	return []string{"main"}, nil
}

func open(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t}
	s.guard = access.NewGuard(access.Config{Recorder: &s.access})
	s.clock.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	dir, seats := t.TempDir(), &tokens{}
	sqlitetest.WriteEmpty(t, filepath.Join(dir, "store.db"))
	for i := range s.both {
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "store.db")})
		if err != nil {
			t.Fatal(err)
		}
		c := canon.New(canon.Config{Store: store, Ledgers: map[string][]string{Ledger: {Surface, PlaySurface}}})
		if i == 0 {
			s.makeWorld(c)
		}
		s.both[i], err = New(t.Context(), Config{Ledgers: c, Guard: s.guard, Seats: seats,
			Now:    func() time.Time { return time.UnixMilli(s.clock.Load()) },
			Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		s.ops[i], err = op.NewLocal(op.Config{Guard: s.guard, Surfaces: s.both[i].Surfaces(),
			Worlds: worlds{s.world}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.both[i].Close(); _ = store.Close() })
	}
	return s
}

func (s *stage) makeWorld(c *canon.Canon) {
	s.t.Helper()
	a, err := s.guard.Admit(s.t.Context(), access.Caller{Subject: "local", EveryRole: access.RoleAdmin, Operator: true},
		access.Request{Operation: "create_world", Effect: access.Write, Operator: true})
	if err != nil {
		s.t.Fatal(err)
	}
	w, err := c.CreateWorld(s.t.Context(), a.Grant, canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.world = w.ID
}

func (s *stage) host() access.Caller {
	return access.Caller{Subject: "host", Key: "host", Roles: map[access.WorldID]access.Role{s.world: access.RoleUser},
		Unlimited: true}
}

// at returns the caller of a seat's token.
func (s *stage) at(game, player string) access.Caller {
	c := s.host()
	c.Subject, c.Audience, c.Seat = access.Subject("seat-"+player), "play", game+"/"+player
	c.Key = "of nobody"
	if seat, ok := rule.ParseSeat(player); ok && isGameID(game) {
		state := s.state(0, game)
		c.Key = cmp.Or(state.Secret.Seats.Of(seat).Owner, c.Key)
	}
	return c
}

// person returns a person of the world.
func (s *stage) person(name string) access.Caller {
	c := s.host()
	c.Subject, c.Key, c.Actor = access.Subject(name), "key-"+name, access.Person
	return c
}

// call invokes an operation in one process, and decodes the result into out.
func (s *stage) call(process int, c access.Caller, operation, key, input string, out any) error {
	a, err := s.ops[process].Invoke(s.t.Context(), c,
		op.Request{Operation: operation, Input: json.RawMessage(input), IdempotencyKey: key, Transport: "rest"})
	if err == nil && out != nil {
		err = json.Unmarshal(a.Output, out)
	}
	return err
}

func (s *stage) must(process int, c access.Caller, operation, input string, out any) {
	s.t.Helper()
	if err := s.call(process, c, operation, "", input, out); err != nil {
		s.t.Fatalf("%s %s: %v", operation, input, err)
	}
}

// seated creates a game of six, with the two processes taking turns.
func (s *stage) seated() string {
	s.t.Helper()
	var g gameOut
	s.must(0, s.host(), "create_game", `{"mandate":"aggressive_growth"}`, &g)
	for i := range 6 {
		s.must(i%2, s.person(fmt.Sprint("n", i+1)), "join_game", fmt.Sprintf(`{"id":%q,"name":"N%d"}`, g.GameID, i+1), nil)
	}
	s.must(1, s.host(), "start_game", fmt.Sprintf(`{"id":%q}`, g.GameID), nil)
	return g.GameID
}

func (s *stage) state(process int, game string) rule.State {
	s.t.Helper()
	var t *table
	if err := s.both[process].polls.poll(s.t.Context(), func(g access.Grant) (found bool, err error) {
		t, err = s.both[process].openGame(s.t.Context(), g, game)
		return true, err
	}); err != nil {
		s.t.Fatal(err)
	}
	state, _ := t.currentState()
	return state
}

func TestTwoProcessesPlayOneGame(t *testing.T) {
	s := open(t)
	game := s.seated()
	var all sync.WaitGroup
	for process := range 2 {
		for player := 1 + process; player <= 6; player += 2 {
			all.Go(func() {
				for n := range 8 {
					in := fmt.Sprintf(`{"id":%q,"type":"chat","text":"m%d"}`, game, n)
					if err := s.call(process, s.at(game, fmt.Sprint("p", player)), "command_game", "", in, nil); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	one, two := s.state(0, game), s.state(1, game)
	said := 0
	for m := range one.Public.Log.After(0) {
		if m.From != 0 {
			said++
		}
	}
	if said != 48 || one.Events != two.Events || one.Public.Version != two.Public.Version {
		t.Errorf("%d messages of 48; %d and %d events", said, one.Events, two.Events)
	}
}

func TestAPhaseEndsOnceWithManyTicks(t *testing.T) {
	s := open(t)
	game := s.seated()
	s.clock.Add(16_000)
	var all sync.WaitGroup
	for process := range 2 {
		all.Go(func() {
			svc := s.both[process]
			if err := svc.admitAs(t.Context(), clockCaller, access.Request{Operation: "tick", World: s.world},
				func(g access.Grant) error {
					tab, err := svc.openGame(t.Context(), g, game)
					if err == nil {
						_, err = svc.doCommand(t.Context(), g, tab, rule.Tick{})
					}
					return err
				}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if p := s.state(0, game).Public.Phase; p != rule.PulseCheck {
		t.Errorf("the game is in %s", p)
	}
}

// TestProgramActionsAreRecorded has one process end a phase and the other notice it: each is a
// separate access, and reads that find nothing are not recorded.
func TestProgramActionsAreRecorded(t *testing.T) {
	s := open(t)
	game := s.seated()
	s.state(1, game)
	all, seen := len(s.access.of("")), len(s.access.of("follow_games"))
	ctx, stop := context.WithCancel(t.Context())
	var hosting sync.WaitGroup
	hosting.Go(func() { s.both[0].Run(ctx, nil) })
	s.clock.Add(16_000)
	for { // the other process follows by itself
		bell := s.both[1].tables[game].bell.waitChan()
		if state, _ := s.both[1].tables[game].currentState(); state.Public.Phase == rule.PulseCheck {
			break
		}
		select {
		case <-bell:
		case <-t.Context().Done():
			t.Fatal("the other process does not follow")
		}
	}
	stop()
	hosting.Wait()
	ticks := s.access.of("tick")
	if len(ticks) != 1 || ticks[0].Target != game || ticks[0].World != s.world || ticks[0].Subject != clockCaller.Subject {
		t.Errorf("the end of a phase is recorded as %+v", ticks)
	}
	// The reads found the game in the directory and its beginning, together or one after the other,
	// and in the other process the records of the tick, perhaps in parts.
	all, seen = len(s.access.of(""))-all, len(s.access.of("follow_games"))-seen
	if seen < 2 || seen+len(ticks) != all {
		t.Errorf("of %d records %d are of looking", all, seen)
	}
}

func TestRepeatedCallsDoNothingMore(t *testing.T) {
	s := open(t)
	var first, again gameOut
	for _, out := range []*gameOut{&first, &again} {
		if err := s.call(0, s.host(), "create_game", "k1", `{"ai_players":2}`, out); err != nil {
			t.Fatal(err)
		}
	}
	if first != again || first.Players != 2 {
		t.Errorf("made %+v, then %+v", first, again)
	}
	if err := s.call(0, s.host(), "create_game", "k1", `{"ai_players":3}`, nil); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the key was taken for another request: %v", err)
	}
	in := fmt.Sprintf(`{"id":%q,"name":"Ada"}`, first.GameID)
	var one, two joinOut
	for _, out := range []*joinOut{&one, &two} {
		if err := s.call(1, s.host(), "join_game", "k2", in, out); err != nil {
			t.Fatal(err)
		}
	}
	if one.PlayerID != "p3" || two.PlayerID != "p3" || one.Token == "" || one.Recovery == "" ||
		two.Token+two.Recovery != "" {
		t.Errorf("joined as %+v, then as %+v", one, two)
	}
	chat := fmt.Sprintf(`{"id":%q,"type":"chat","text":"once"}`, first.GameID)
	for range 2 {
		if err := s.call(0, s.at(first.GameID, "p3"), "command_game", "k3", chat, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.state(1, first.GameID).Public.Log.Len(); n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestAGameThatIsOverCanBeReplayed(t *testing.T) {
	s := open(t)
	game := s.seated()
	for range 200 {
		if s.state(0, game).Public.Phase == rule.Over {
			break
		}
		s.must(0, s.host(), "command_game", fmt.Sprintf(`{"id":%q,"type":"advance"}`, game), nil)
	}
	var events []rule.Event
	for after := 0; ; {
		var page replayOut
		s.must(1, s.at(game, "p2"), "replay_game", fmt.Sprintf(`{"id":%q,"after":%d,"limit":7}`, game, after), &page)
		for _, r := range page.Events {
			e, err := rule.Decode(r.Type, r.Payload)
			if err != nil || rule.IsOpen(e) != r.Open {
				t.Fatal(err, r)
			}
			events, after = append(events, e), r.Seq
		}
		if after == page.Total {
			break
		}
	}
	if got, want := rule.Fold(events), s.state(0, game); got.Public.Winner != want.Public.Winner ||
		got.Events != want.Events || want.Public.Winner != rule.Draw {
		t.Errorf("the replay leads to %s, the game to %s", got.Public.Winner, want.Public.Winner)
	}
}

func TestASeatOpensItsGameAlone(t *testing.T) {
	s := open(t)
	one, two := s.seated(), s.seated()
	for _, tc := range []struct {
		name string
		as   access.Caller
		game string
	}{
		{"another game", s.at(one, "p1"), two}, {"no game", s.at(one, "p1"), "g-0123456789abcdef"},
		{"nonsense", s.at(one, "p1"), "../x"},
		{"a seat that nobody has", s.at(one, "p9"), one}, {"a seat of nonsense", s.at("x", "y"), one},
		{"a stranger", func() access.Caller { c := s.host(); c.Subject = "stranger"; return c }(), one},
	} {
		err := s.call(0, tc.as, "get_game", "", fmt.Sprintf(`{"id":%q}`, tc.game), nil)
		if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "there is no such game for you") {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
