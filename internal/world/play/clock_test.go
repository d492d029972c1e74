package play_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/raceenabled"
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

func TestAdvanceTime(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("look")
	s.As("user").Fails("permission_denied", "advance-time", `{"hours":1}`)
	gm := s.As("gm")
	for _, bad := range []string{`{}`, `{"hours":0}`, `{"hours":-1}`, `{"minutes":"soon"}`, `{"toTick":0}`,
		`{"hours":1,"toTick":5}`, `{"hours":876000,"minutes":600}`, `{"toTick":9007199254740991}`} {
		gm.Fails("validation_error", "advance-time", bad)
	}
	gm.Call("advance-time", `{"hours":8,"dry_run":true}`).Is("tick", 8*int(world.Hour), "eventId", nil)
	if s.Tick("Quay") != 0 {
		t.Error("a rehearsal moved the clock")
	}
	got := gm.Call("advance-time", `{"hours":8,"minutes":"30"}`)
	got.Is("fromTick", 0, "tick", int(8*world.Hour+30*world.Minute), "timeOfDay", "morning")
	if s.Tick("Quay") != 8*world.Hour+30*world.Minute || p.Clock() != 5_000 {
		t.Errorf("the place is at %d, the player at %d", s.Tick("Quay"), p.Clock())
	}
	p.Does("look").Is("events.#", 2, "events.0.type", "Player.Clock.Reconciled", "events.0.payload.policy", "wait",
		"events.1.type", "Player.Look", "clock", int(8*world.Hour+30*world.Minute+5000))
	if n := p.Does("north").At("narration").(string); strings.Contains(n, "wait") {
		t.Errorf("waits twice: %s", n)
	}
	one, err := gm.Invoke(op.Request{Operation: "advance-time", Input: json.RawMessage(`{"hours":1}`),
		IdempotencyKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := gm.Invoke(op.Request{Operation: "advance-time", Input: json.RawMessage(`{"hours":1}`),
		IdempotencyKey: "k"})
	if err != nil || string(one.Output) != string(two.Output) || !two.Reply.Replayed {
		t.Errorf("%s\n%s %v", one.Output, two.Output, err)
	}
	gm.Call("advance-time", `{"toTick":86400000}`).Is("tick", int(world.Day), "timeOfDay", "night")
}

func TestLoadSlowsWalking(t *testing.T) {
	s := worldtest.New(t)
	s.Card(canon.NewCard{Name: "Ingot", Type: "Item", Fields: json.RawMessage(`{"weight":25}`)})
	s.Link(world.LinkAt, "Ingot", "Square", `{}`)
	p := s.Joins("Mira")
	p.Does("n. take ingot")
	p.Does("s").Is("events.0.payload.durationMs", 66_000)
}

// An act that was planned before a clock step and is committed after it does not undo the step.
func TestConcurrentClockStepIsKept(t *testing.T) {
	store := &interposed{Store: memory.New()}
	s := worldtest.Empty(t, store)
	s.Build()
	p := s.Joins("Mira")
	p.Does("look")
	s.Pass(3 * time.Hour) // so that the act follows a pause
	store.between = func() { s.As("gm").Call("advance-time", `{"hours":5}`) }
	p.Does("look")
	if got := s.Tick("Quay"); got != 5*world.Hour+30*world.Minute {
		t.Errorf("the clock is at %v", time.Duration(got)*time.Millisecond)
	}
	// a proposed act carries the clock line that it saw, since it cannot make a step
	proposed := func() {
		s.Change(func(plan *canon.Plan) error {
			e, err := proposed(s, p.ID.String(), `{"verb":"look"}`).Plan(t.Context(), plan, access.NewLabel(access.LevelUser))
			if err != nil {
				return err
			}
			return plan.Event(e)
		})
	}
	s.Pass(3 * time.Hour)
	proposed()
	if got := s.Tick("Quay"); got != 6*world.Hour {
		t.Errorf("after the pause the clock is at %v", time.Duration(got)*time.Millisecond)
	}
	s.Pass(10 * time.Minute)
	if got := s.Tick("Quay"); got != 6*world.Hour+10*world.Minute {
		t.Errorf("ten minutes on the clock is at %v", time.Duration(got)*time.Millisecond)
	}
	s.Pass(3 * time.Hour)
	store.between = func() { s.As("gm").Call("advance-time", `{"hours":5}`) }
	proposed()
	if got := s.Tick("Quay"); got != 11*world.Hour+30*world.Minute {
		t.Errorf("the clock is at %v", time.Duration(got)*time.Millisecond)
	}
}

// TestRandomCommandsMoveNoOtherClock runs random commands of players, with pauses and a game
// master's clock steps in between.
func TestRandomCommandsMoveNoOtherClock(t *testing.T) {
	for seed := range uint64(raceenabled.Share(3, 3)) {
		store := canon.Store(memory.New())
		if seed == 0 {
			store = sqlitetest.Open(t)
		}
		s, players, r := randomWorld(t, store, seed)
		var given, real int64 // world time added by a GM, and real time passed
		before := readState(s, players)
		for n := range raceenabled.Share(150, 3) {
			d := time.Duration(r.IntN(90)) * time.Second
			if r.IntN(15) == 0 {
				d = time.Duration(r.IntN(300)) * time.Minute
			}
			s.Pass(d)
			real += d.Milliseconds()
			if r.IntN(25) == 0 {
				h := 1 + r.Int64N(30)
				s.As("gm").Call("advance-time", fmt.Sprintf(`{"hours":%d}`, h))
				given += h * world.Hour
			}
			at := readState(s, players).clock
			p := players[r.IntN(len(players))]
			text := randomCommand(r)
			if r.IntN(4) == 0 {
				text = "rest. rest"
			}
			got := p.Does(text)
			now := readState(s, players)
			if now.clock != at {
				t.Fatalf("seed %d, %d %q: the act moved the world from %d to %d", seed, n, text, at, now.clock)
			}
			if now.clock < before.clock || now.clock > given+real {
				t.Fatalf("seed %d, %d: the world went from %d to %d; there passed %d and %d was given", seed, n, before.clock,
					now.clock, real, given)
			}
			for id, c := range now.clocks {
				if c < before.clocks[id] || id != p.ID && c != before.clocks[id] {
					t.Fatalf("seed %d, %d %q: a clock went from %d to %d: %s", seed, n, text, before.clocks[id], c, got.Raw)
				}
				if c > max(before.clocks[id], now.clock+world.MaxLead) {
					t.Fatalf("seed %d, %d %q: a clock is %d ahead of the world", seed, n, text, c-now.clock)
				}
			}
			for place, anchor := range now.anchors {
				if anchor < before.anchors[place] || anchor > now.clock+world.MaxLead {
					t.Fatalf("seed %d, %d %q: an anchor went from %d to %d, the world is at %d", seed, n, text, before.anchors[place],
						anchor, now.clock)
				}
			}
			before = now
		}
		rebuilt, err := s.Canon.Rebuild(t.Context(), s.Operator(), s.ID, canon.CompareOnly)
		if err != nil || len(rebuilt.Different) > 0 {
			t.Errorf("seed %d: the streams give other tables: %+v, %v", seed, rebuilt, err)
		}
	}
}
