package world

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/raceenabled"
	"loregate/internal/store/sqlite/sqlitetest"
)

func (p player) clock() int64 {
	p.s.t.Helper()
	return int64(p.call("get_player", `{"id":"`+p.id.String()+`"}`).at("player.clock").(float64))
}

// tick returns the time of a place as a narrator reads it.
func (s *scene) tick(place string) int64 {
	s.t.Helper()
	return int64(s.as("user").call("get-location-context", `{"locationId":"loc-`+slug(place)+
		`"}`).at("item.tick").(float64))
}

// The rests of one player move neither the world's clock nor those of other players.
func TestRestMovesNoOtherClock(t *testing.T) {
	s := newScene(t)
	p, q, r := s.joins("Mira"), s.joins("Tam"), s.joins("Ann")
	r.does("north")
	far := r.clock()
	for range 12 {
		p.does("rest")
	}
	if q.clock() != 0 || r.clock() != far {
		t.Errorf("others were moved to %d and %d", q.clock(), r.clock())
	}
	if got := p.clock(); got > hour {
		t.Errorf("twelve rests took the player to %v", time.Duration(got)*time.Millisecond)
	}
	for _, place := range []string{"Quay", "Square"} {
		if got := s.tick(place); got > hour {
			t.Errorf("twelve rests took %s to %v", place, time.Duration(got)*time.Millisecond)
		}
	}
	q.does("north")
	if got := q.clock(); got > hour {
		t.Errorf("whoever walks on after them is at %v", time.Duration(got)*time.Millisecond)
	}
}

// setRate sets the world's rate.
func (s *scene) setRate(rate string) {
	s.t.Helper()
	s.change(func(p *canon.Plan) error {
		set := p.World().Settings
		set.Extra = map[string]string{RateSetting: rate}
		return p.Configure("Main", set)
	})
}

func (s *scene) pass(d time.Duration) { s.now = s.now.Add(d) }

func ms(d time.Duration) int64 { return d.Milliseconds() }

// The clock follows real time while somebody plays, and for half an hour longer.
func TestWorldClockRunsDuringPlay(t *testing.T) {
	s := newScene(t)
	want := func(tick time.Duration) {
		t.Helper()
		if got := s.tick("Tower"); got != ms(tick) {
			t.Errorf("the clock is at %v, want %v", time.Duration(got)*time.Millisecond, tick)
		}
	}
	p := s.joins("Mira")
	s.pass(time.Hour)
	want(0) // nobody has played yet
	p.does("look")
	s.pass(10*time.Minute + 40*time.Second)
	want(10 * time.Minute)
	p.does("frobnicate") // not an act
	p.does("go east")    // an act that cannot be done does not count either
	s.pass(20 * time.Minute)
	want(30 * time.Minute)
	s.pass(48 * time.Hour)
	want(30 * time.Minute)
	p.does("go east") // and does not start the clock again
	s.pass(5 * time.Minute)
	want(30 * time.Minute)
	p.does("look")
	want(30 * time.Minute)
	s.pass(5 * time.Minute)
	want(35 * time.Minute)
	s.setRate("60")
	want(35 * time.Minute)
	p.does("look")
	s.pass(time.Minute)
	want(95 * time.Minute)
	s.setRate("0") // a second later
	p.does("look")
	s.pass(20 * time.Minute)
	want(96 * time.Minute)
	s.setRate("NaN")
	p.does("look")
	s.pass(3 * time.Minute)
	want(99 * time.Minute)
	again, err := New(Config{Canon: s.canon, Now: func() time.Time { return s.now }})
	if err != nil {
		t.Fatal(err)
	}
	err = s.canon.Read(t.Context(), s.admin, func(snap *canon.Snapshot) error {
		tick, err := (&asOf{Snapshot: snap, w: again}).worldTick(t.Context())
		if tick != ms(99*time.Minute) {
			t.Errorf("another process has it at %d", tick)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAdvanceTime(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	p.does("look")
	s.as("user").fails("permission_denied", "advance-time", `{"hours":1}`)
	gm := s.as("gm")
	for _, bad := range []string{`{}`, `{"hours":0}`, `{"hours":-1}`, `{"minutes":"soon"}`, `{"toTick":0}`,
		`{"hours":1,"toTick":5}`, `{"hours":876000,"minutes":600}`, `{"toTick":9007199254740991}`} {
		gm.fails("validation_error", "advance-time", bad)
	}
	gm.call("advance-time", `{"hours":8,"dry_run":true}`).is("tick", 8*int(hour), "eventId", nil)
	if s.tick("Quay") != 0 {
		t.Error("a rehearsal moved the clock")
	}
	got := gm.call("advance-time", `{"hours":8,"minutes":"30"}`)
	got.is("fromTick", 0, "tick", int(8*hour+30*minute), "timeOfDay", "morning")
	if s.tick("Quay") != 8*hour+30*minute || p.clock() != ms(5*time.Second) {
		t.Errorf("the place is at %d, the player at %d", s.tick("Quay"), p.clock())
	}
	p.does("look").is("events.#", 2, "events.0.type", "Player.Clock.Reconciled", "events.0.payload.policy", "wait",
		"events.1.type", "Player.Look", "clock", int(8*hour+30*minute+5000))
	if n := p.does("north").at("narration").(string); strings.Contains(n, "wait") {
		t.Errorf("waits twice: %s", n)
	}
	one, err := gm.invoke(op.Request{Operation: "advance-time", Input: json.RawMessage(`{"hours":1}`),
		IdempotencyKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := gm.invoke(op.Request{Operation: "advance-time", Input: json.RawMessage(`{"hours":1}`),
		IdempotencyKey: "k"})
	if err != nil || string(one.Output) != string(two.Output) || !two.Reply.Replayed {
		t.Errorf("%s\n%s %v", one.Output, two.Output, err)
	}
	gm.call("advance-time", `{"toTick":86400000}`).is("tick", int(day), "timeOfDay", "night")
}

// An act that was planned before a clock step and is committed after it does not undo the step.
func TestConcurrentClockStepIsKept(t *testing.T) {
	store := &interposed{Store: inMemory()}
	s := emptyScene(t, store)
	s.build()
	p := s.joins("Mira")
	p.does("look")
	s.pass(3 * time.Hour) // so that the act follows a pause
	store.between = func() { s.as("gm").call("advance-time", `{"hours":5}`) }
	p.does("look")
	if got := s.tick("Quay"); got != 5*hour+30*minute {
		t.Errorf("the clock is at %v", time.Duration(got)*time.Millisecond)
	}
	// a proposed act carries the clock line that it saw, since it cannot make a step
	proposed := func() {
		s.change(func(plan *canon.Plan) error {
			e, err := s.proposed(p.id.String(), `{"verb":"look"}`).Plan(t.Context(), plan, access.NewLabel(access.LevelUser))
			if err != nil {
				return err
			}
			return plan.Event(e)
		})
	}
	s.pass(3 * time.Hour)
	proposed()
	if got := s.tick("Quay"); got != 6*hour {
		t.Errorf("after the pause the clock is at %v", time.Duration(got)*time.Millisecond)
	}
	s.pass(10 * time.Minute)
	if got := s.tick("Quay"); got != 6*hour+10*minute {
		t.Errorf("ten minutes on the clock is at %v", time.Duration(got)*time.Millisecond)
	}
	s.pass(3 * time.Hour)
	store.between = func() { s.as("gm").call("advance-time", `{"hours":5}`) }
	proposed()
	if got := s.tick("Quay"); got != 11*hour+30*minute {
		t.Errorf("the clock is at %v", time.Duration(got)*time.Millisecond)
	}
}

func TestPlayerAndPlaceClocksAreReconciled(t *testing.T) {
	s := newScene(t)
	p, q, r := s.joins("Mira"), s.joins("Tam"), s.joins("Ann")
	q.does("north")
	for range 12 {
		p.does("examine hound")
	}
	ahead := p.clock()
	p.does("north").is("events.1.payload.policy", "slow")
	if got := s.tick("Square"); got != p.clock() || got != ahead+2*minute {
		t.Errorf("the place is at %d, who came at %d", got, p.clock())
	}
	if q.clock() != 2*minute {
		t.Errorf("who was there was moved to %d before it acted", q.clock())
	}
	joined := q.does("look")
	joined.is("events.0.payload.policy", "wait", "clock", int(s.tick("Square")+5000))
	if text := joined.at("results.0.text").(string); !strings.HasPrefix(text,
		"You wait 6 minutes; it is night now. Square.") {
		t.Errorf("%s", text)
	}
	first := r.does("north", keyed("k"))
	first.is("events.#", 2, "events.1.payload.policy", "wait", "clock", int(s.tick("Square")))
	s.pass(2 * time.Minute)
	if again := r.does("north", keyed("k")); again.Raw != first.Raw {
		t.Errorf("first %s\nagain %s", first.Raw, again.Raw)
	}
	// rests and long travels end an hour ahead of the world, and the anchor of a place behind stays
	s.way("Tower", "in", "Quay", `"travelDurationMs":18000000`)
	s.way("Square", "up", "Tower")
	p.does("up")
	s.setRate("0")
	p.does("rest")
	limit := s.tick("Chapel") + maxLead
	if p.clock() != limit {
		t.Errorf("rested to %d, want %d", p.clock(), limit)
	}
	quay := s.tick("Quay")
	far := p.does("in")
	far.is("events.1.payload.policy", "compress", "clock", int(limit))
	if n := far.at("narration").(string); !strings.Contains(n, "has yet to catch up") ||
		!strings.Contains(n, "The rest of the night passes") {
		t.Errorf("%s", n)
	}
	if s.tick("Quay") != quay {
		t.Errorf("the place went from %d to %d", quay, s.tick("Quay"))
	}
	if n := p.does("rest").at("narration").(string); !strings.Contains(n, "sleep does not come") {
		t.Errorf("%s", n)
	}
}

// A player that is hidden from others moves no clock that they see.
func TestHiddenPlayerMovesNoVisibleClock(t *testing.T) {
	s := newScene(t)
	gm := access.NewLabel(access.LevelGM)
	s.card(canon.NewCard{Name: "Shade", Type: typePlayer, Label: &gm})
	s.link(linkAt, "Shade", "Quay", `{"clock":0}`)
	master := s.as("gm")
	shade := player{master, s.idOf("Shade")}
	for range 20 {
		shade.does("examine hound")
	}
	shade.does("north")
	if s.tick("Square") != 0 {
		t.Errorf("the place is at %d for a user", s.tick("Square"))
	}
	s.pass(20 * time.Minute)
	if s.tick("Quay") != 0 {
		t.Error("the world's clock runs for somebody hidden")
	}
	if at := master.call("get-location-context", `{"locationId":"loc-square"}`).at("item.tick"); at == 0.0 {
		t.Error("the gm sees no anchor either")
	}
	p := s.joins("Mira")
	if p.clock() != 0 {
		t.Errorf("begins at %d", p.clock())
	}
	played := player{master, p.id} // played by the gm, who sees both players
	played.does("north").is("events.#", 2, "events.1.payload.policy", "slow")
	if p.clock() != 2*minute {
		t.Errorf("met somebody hidden and went to %d", p.clock())
	}
}

// The clock of a world from before steps were recorded starts at the latest of its players' clocks.
func TestWorldWithoutStepsStartsAtLatestPlayerClock(t *testing.T) {
	s := newScene(t)
	p, q := s.joins("Mira"), s.joins("Tam")
	for id, clock := range map[canon.CardID]string{p.id: "999000", q.id: "7200000"} {
		s.change(func(pl *canon.Plan) error {
			links, _, err := pl.Links(t.Context(), canon.LinkQuery{From: id, Kinds: []string{linkAt},
				Page: canon.Page{Limit: 1}})
			if err == nil {
				links[0].Attrs = json.RawMessage(`{"clock":` + clock + `}`)
				_, err = pl.Link(links[0])
			}
			return err
		})
	}
	if s.tick("Quay") != 7200000 {
		t.Errorf("at %d", s.tick("Quay"))
	}
	p.does("north").is("events.1.payload.policy", "wait", "clock", 7200000)
	if s.tick("Quay") != 7200000 {
		t.Errorf("at %d", s.tick("Quay"))
	}
}

func TestCostsByCondition(t *testing.T) {
	for _, test := range []struct {
		verb   Verb
		travel int64
		state  condition
		want   int64
	}{
		{VerbMove, 0, condition{}, 60_000}, {VerbFlee, 0, condition{}, 60_000}, {VerbLook, 0, condition{}, 5_000},
		{VerbExamine, 0, condition{}, 30_000},
		{VerbAttack, 0, condition{}, 6_000}, {VerbRest, 0, condition{}, 8 * hour}, {VerbTalk, 0, condition{}, 60_000},
		{VerbMove, 120_000, condition{}, 120_000},
		{VerbMove, 0, condition{terrain: "dense-forest"}, 90_000},
		{VerbMove, 120_000, condition{terrain: "dense-forest"}, 120_000}, {VerbMove, 0, condition{load: 20}, 60_000},
		{VerbMove, 0, condition{load: 30}, 72_000}, {VerbMove, 0, condition{load: 1 << 40}, 120_000},
		{VerbMove, 0, condition{wounds: 3, terrain: "hilltop"}, 93_000},
		{VerbAttack, 0, condition{wounds: 2, load: 500}, 7_200}, {VerbRest, 0, condition{wounds: 9}, 8 * hour},
		{VerbMove, 1 << 60, condition{}, maxTravel},
	} {
		if got := costOf(test.verb, test.travel, test.state); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
	s := newScene(t)
	s.card(canon.NewCard{Name: "Ingot", Type: "Item", Fields: json.RawMessage(`{"weight":25}`)})
	s.link(linkAt, "Ingot", "Square", `{}`)
	p := s.joins("Mira")
	p.does("n. take ingot")
	p.does("s").is("events.0.payload.durationMs", 66_000)
}

// TestRandomCommandsMoveNoOtherClock runs random commands of players, with pauses and a game
// master's clock steps in between.
func TestRandomCommandsMoveNoOtherClock(t *testing.T) {
	for seed := range uint64(raceenabled.Share(3, 3)) {
		store := canon.Store(inMemory())
		if seed == 0 {
			store = sqlitetest.Open(t)
		}
		s, players, r := randomWorld(t, store, seed)
		var given, real int64 // world time added by a GM, and real time passed
		before := s.read(players)
		for n := range raceenabled.Share(150, 3) {
			d := time.Duration(r.IntN(90)) * time.Second
			if r.IntN(15) == 0 {
				d = time.Duration(r.IntN(300)) * time.Minute
			}
			s.pass(d)
			real += d.Milliseconds()
			if r.IntN(25) == 0 {
				h := 1 + r.Int64N(30)
				s.as("gm").call("advance-time", fmt.Sprintf(`{"hours":%d}`, h))
				given += h * hour
			}
			world := s.read(players).clock
			p := players[r.IntN(len(players))]
			text := randomCommand(r)
			if r.IntN(4) == 0 {
				text = "rest. rest"
			}
			got := p.does(text)
			now := s.read(players)
			if now.clock != world {
				t.Fatalf("seed %d, %d %q: the act moved the world from %d to %d", seed, n, text, world, now.clock)
			}
			if now.clock < before.clock || now.clock > given+real {
				t.Fatalf("seed %d, %d: the world went from %d to %d; there passed %d and %d was given", seed, n, before.clock,
					now.clock, real, given)
			}
			for id, c := range now.clocks {
				if c < before.clocks[id] || id != p.id && c != before.clocks[id] {
					t.Fatalf("seed %d, %d %q: a clock went from %d to %d: %s", seed, n, text, before.clocks[id], c, got.Raw)
				}
				if c > max(before.clocks[id], now.clock+maxLead) {
					t.Fatalf("seed %d, %d %q: a clock is %d ahead of the world", seed, n, text, c-now.clock)
				}
			}
			for place, anchor := range now.anchors {
				if anchor < before.anchors[place] || anchor > now.clock+maxLead {
					t.Fatalf("seed %d, %d %q: an anchor went from %d to %d, the world is at %d", seed, n, text, before.anchors[place],
						anchor, now.clock)
				}
			}
			before = now
		}
		rebuilt, err := s.canon.Rebuild(t.Context(), s.operator(), s.id, canon.CompareOnly)
		if err != nil || len(rebuilt.Different) > 0 {
			t.Errorf("seed %d: the streams give other tables: %+v, %v", seed, rebuilt, err)
		}
	}
}

// A fork starts at the time of its origin, and a reset brings it back to that time.
func TestForkCarriesAndResetsClock(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	p.does("look")
	s.as("gm").call("advance-time", `{"hours":50}`)
	fork, err := s.canon.Fork(t.Context(), s.operator(), s.id, canon.NewWorld{Slug: "night"})
	if err != nil {
		t.Fatal(err)
	}
	in := func(w access.WorldID) access.Grant {
		t.Helper()
		a, err := access.NewGuard(access.Config{}).Admit(t.Context(),
			access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true},
			access.Request{Operation: "fork", Effect: access.Write, World: w})
		if err != nil {
			t.Fatal(err)
		}
		return a.Grant
	}
	at := func() (tick int64) {
		t.Helper()
		err := s.canon.Read(t.Context(), in(fork.ID), func(snap *canon.Snapshot) (err error) {
			tick, err = (&asOf{Snapshot: snap, w: s.world}).worldTick(t.Context())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return tick
	}
	s.as("gm").call("advance-time", `{"hours":7}`) // before the clock is carried over
	if err := s.world.CarryClock(t.Context(), in(s.id), in(fork.ID)); err != nil || at() != 50*hour {
		t.Errorf("begins at %d, %v", at(), err)
	}
	err = s.world.setClock(t.Context(), in(fork.ID), stepAdvanced,
		func(context.Context, *asOf) (int64, error) { return 90 * hour, nil })
	if err != nil || at() != 90*hour {
		t.Errorf("goes on to %d, %v", at(), err)
	}
	if _, err := s.canon.Reset(t.Context(), in(fork.ID), fork.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.world.ResetClock(t.Context(), in(fork.ID)); err != nil || at() != 50*hour {
		t.Errorf("comes back to %d, %v", at(), err)
	}
}
