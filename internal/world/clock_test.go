package world_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// The rests of one player move neither the world's clock nor those of other players.
func TestRestMovesNoOtherClock(t *testing.T) {
	s := worldtest.New(t)
	p, q, r := s.Joins("Mira"), s.Joins("Tam"), s.Joins("Ann")
	r.Does("north")
	far := r.Clock()
	for range 12 {
		p.Does("rest")
	}
	if q.Clock() != 0 || r.Clock() != far {
		t.Errorf("others were moved to %d and %d", q.Clock(), r.Clock())
	}
	if got := p.Clock(); got > world.Hour {
		t.Errorf("twelve rests took the player to %v", time.Duration(got)*time.Millisecond)
	}
	for _, place := range []string{"Quay", "Square"} {
		if got := s.Tick(place); got > world.Hour {
			t.Errorf("twelve rests took %s to %v", place, time.Duration(got)*time.Millisecond)
		}
	}
	q.Does("north")
	if got := q.Clock(); got > world.Hour {
		t.Errorf("whoever walks on after them is at %v", time.Duration(got)*time.Millisecond)
	}
}

// setRate sets the world's rate.
func setRate(s *worldtest.Scene, rate string) {
	s.T.Helper()
	s.Change(func(p *canon.Plan) error {
		set := p.World().Settings
		set.Extra = map[string]string{world.RateSetting: rate}
		return p.Configure("Main", set)
	})
}

func ms(d time.Duration) int64 { return d.Milliseconds() }

// The clock follows real time while somebody plays, and for half an hour longer.
func TestWorldClockRunsDuringPlay(t *testing.T) {
	s := worldtest.New(t)
	want := func(tick time.Duration) {
		t.Helper()
		if got := s.Tick("Tower"); got != ms(tick) {
			t.Errorf("the clock is at %v, want %v", time.Duration(got)*time.Millisecond, tick)
		}
	}
	p := s.Joins("Mira")
	s.Pass(time.Hour)
	want(0) // nobody has played yet
	p.Does("look")
	s.Pass(10*time.Minute + 40*time.Second)
	want(10 * time.Minute)
	p.Does("frobnicate") // not an act
	p.Does("go east")    // an act that cannot be done does not count either
	s.Pass(20 * time.Minute)
	want(30 * time.Minute)
	s.Pass(48 * time.Hour)
	want(30 * time.Minute)
	p.Does("go east") // and does not start the clock again
	s.Pass(5 * time.Minute)
	want(30 * time.Minute)
	p.Does("look")
	want(30 * time.Minute)
	s.Pass(5 * time.Minute)
	want(35 * time.Minute)
	setRate(s, "60")
	want(35 * time.Minute)
	p.Does("look")
	s.Pass(time.Minute)
	want(95 * time.Minute)
	setRate(s, "0") // a second later
	p.Does("look")
	s.Pass(20 * time.Minute)
	want(96 * time.Minute)
	setRate(s, "NaN")
	p.Does("look")
	s.Pass(3 * time.Minute)
	want(99 * time.Minute)
	again, err := world.New(world.Config{Canon: s.Canon, Now: func() time.Time { return s.Now }})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Canon.Read(t.Context(), s.Admin, func(snap *canon.Snapshot) error {
		tick, err := again.Current(snap).WorldTick(t.Context())
		if tick != ms(99*time.Minute) {
			t.Errorf("another process has it at %d", tick)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPlayerAndPlaceClocksAreReconciled(t *testing.T) {
	s := worldtest.New(t)
	p, q, r := s.Joins("Mira"), s.Joins("Tam"), s.Joins("Ann")
	q.Does("north")
	for range 12 {
		p.Does("examine hound")
	}
	ahead := p.Clock()
	p.Does("north").Is("events.1.payload.policy", "slow")
	if got := s.Tick("Square"); got != p.Clock() || got != ahead+2*world.Minute {
		t.Errorf("the place is at %d, who came at %d", got, p.Clock())
	}
	if q.Clock() != 2*world.Minute {
		t.Errorf("who was there was moved to %d before it acted", q.Clock())
	}
	joined := q.Does("look")
	joined.Is("events.0.payload.policy", "wait", "clock", int(s.Tick("Square")+5000))
	if text := joined.At("results.0.text").(string); !strings.HasPrefix(text, "Square.") {
		t.Errorf("%s", text) // it is night before and after the wait
	}
	first := r.Does("north", worldtest.Keyed("k"))
	first.Is("events.#", 2, "events.1.payload.policy", "wait", "clock", int(s.Tick("Square")))
	s.Pass(2 * time.Minute)
	if again := r.Does("north", worldtest.Keyed("k")); again.Raw != first.Raw {
		t.Errorf("first %s\nagain %s", first.Raw, again.Raw)
	}
	// rests and long travels end an hour ahead of the world, and the anchor of a place behind stays
	s.Way("Tower", "in", "Quay", `"travelDurationMs":18000000`)
	s.Way("Square", "up", "Tower")
	p.Does("up")
	setRate(s, "0")
	p.Does("rest")
	limit := s.Tick("Chapel") + world.MaxLead
	if p.Clock() != limit {
		t.Errorf("rested to %d, want %d", p.Clock(), limit)
	}
	quay := s.Tick("Quay")
	far := p.Does("in")
	far.Is("events.1.payload.policy", "compress", "clock", int(limit))
	if n := far.At("narration").(string); !strings.Contains(n, "sooner than you had thought") ||
		strings.Contains(n, "earlier than you thought") {
		t.Errorf("%s", n)
	}
	if s.Tick("Quay") != quay {
		t.Errorf("the place went from %d to %d", quay, s.Tick("Quay"))
	}
	if n := p.Does("rest").At("narration").(string); !strings.Contains(n, "no rest comes") {
		t.Errorf("%s", n)
	}
}

// A player that is hidden from others moves no clock that they see.
func TestHiddenPlayerMovesNoVisibleClock(t *testing.T) {
	s := worldtest.New(t)
	gm := access.NewLabel(access.LevelGM)
	s.Card(canon.NewCard{Name: "Shade", Type: world.TypePlayer, Label: &gm})
	s.Link(world.LinkAt, "Shade", "Quay", `{"clock":0}`)
	master := s.As("gm")
	shade := worldtest.Player{Actor: master, ID: s.IDOf("Shade")}
	for range 20 {
		shade.Does("examine hound")
	}
	shade.Does("north")
	if s.Tick("Square") != 0 {
		t.Errorf("the place is at %d for a user", s.Tick("Square"))
	}
	s.Pass(20 * time.Minute)
	if s.Tick("Quay") != 0 {
		t.Error("the world's clock runs for somebody hidden")
	}
	if at := master.Call("get-location-context", `{"locationId":"loc-square"}`).At("item.tick"); at == 0.0 {
		t.Error("the gm sees no anchor either")
	}
	p := s.Joins("Mira")
	if p.Clock() != 0 {
		t.Errorf("begins at %d", p.Clock())
	}
	played := worldtest.Player{Actor: master, ID: p.ID} // played by the gm, who sees both players
	played.Does("north").Is("events.#", 2, "events.1.payload.policy", "slow")
	if p.Clock() != 2*world.Minute {
		t.Errorf("met somebody hidden and went to %d", p.Clock())
	}
}

// The clock of a world from before steps were recorded starts at the latest of its players' clocks.
func TestWorldWithoutStepsStartsAtLatestPlayerClock(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	for id, clock := range map[canon.CardID]string{p.ID: "999000", q.ID: "7200000"} {
		s.Change(func(pl *canon.Plan) error {
			links, _, err := pl.Links(t.Context(), canon.LinkQuery{From: id, Kinds: []string{world.LinkAt},
				Page: canon.Page{Limit: 1}})
			if err == nil {
				links[0].Attrs = json.RawMessage(`{"clock":` + clock + `}`)
				_, err = pl.Link(links[0])
			}
			return err
		})
	}
	if s.Tick("Quay") != 7200000 {
		t.Errorf("at %d", s.Tick("Quay"))
	}
	p.Does("north").Is("events.1.payload.policy", "wait", "clock", 7200000)
	if s.Tick("Quay") != 7200000 {
		t.Errorf("at %d", s.Tick("Quay"))
	}
}

// A fork starts at the time of its origin, and a reset brings it back to that time.
func TestForkCarriesAndResetsClock(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("look")
	s.As("gm").Call("advance-time", `{"hours":50}`)
	fork, err := s.Canon.Fork(t.Context(), s.Operator(), s.ID, canon.NewWorld{Slug: "night"})
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
		err := s.Canon.Read(t.Context(), in(fork.ID), func(snap *canon.Snapshot) (err error) {
			tick, err = s.World.Current(snap).WorldTick(t.Context())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return tick
	}
	s.As("gm").Call("advance-time", `{"hours":7}`) // before the clock is carried over
	if err := s.World.CarryClock(t.Context(), in(s.ID), in(fork.ID)); err != nil || at() != 50*world.Hour {
		t.Errorf("begins at %d, %v", at(), err)
	}
	err = s.World.StepClock(t.Context(), in(fork.ID), 90*world.Hour)
	if err != nil || at() != 90*world.Hour {
		t.Errorf("goes on to %d, %v", at(), err)
	}
	if _, err := s.Canon.Reset(t.Context(), in(fork.ID), fork.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.World.ResetClock(t.Context(), in(fork.ID)); err != nil || at() != 50*world.Hour {
		t.Errorf("comes back to %d, %v", at(), err)
	}
}
