package world_test

import (
	"fmt"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// checkClock compares the cached clock of a world with the one computed from its events, and
// returns its tick.
func checkClock(s *worldtest.Scene, w *world.World, g access.Grant) (tick int64) {
	s.T.Helper()
	err := s.Canon.Read(s.T.Context(), g, func(snap *canon.Snapshot) error {
		got, want, err := w.Current(snap).CompareClock(s.T.Context())
		if got != want {
			s.T.Errorf("kept %+v, the events say %+v", got, want)
		}
		tick = got.TickAt(s.Now)
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return tick
}

// Two processes on one store both cache the clock that follows from the events.
func TestCachedClockMatchesEvents(t *testing.T) {
	s := worldtest.New(t)
	other, err := world.New(world.Config{Canon: s.Canon, Now: func() time.Time { return s.Now }})
	if err != nil {
		t.Fatal(err)
	}
	both := func(want int64) {
		t.Helper()
		for range 2 { // first computed, then cached
			if a, b := checkClock(s, s.World, s.Admin), checkClock(s, other, s.Admin); a != want || b != want {
				t.Errorf("at %d and %d, want %d", a, b, want)
			}
		}
	}
	both(0)
	p := s.Joins("Mira")
	p.Does("look")
	both(0)
	s.Pass(10 * time.Minute)
	both(10 * world.Minute)
	p.Does("look")
	s.As("gm").Call("advance-time", `{"hours":8}`)
	both(8*world.Hour + 10*world.Minute)
	s.Pass(3 * time.Hour)
	both(8*world.Hour + 40*world.Minute)
	p.Does("north")
	both(8*world.Hour + 40*world.Minute)
	s.Pass(5 * time.Minute)
	for i := range world.MaxFollowed + 5 { // more commits than MaxFollowed
		s.Card(canon.NewCard{Name: fmt.Sprintf("Pebble %d", i)})
	}
	checkClock(s, s.World, s.Admin)
	checkClock(s, other, s.Admin)
	gm := access.NewLabel(access.LevelGM)
	s.Change(func(p *canon.Plan) error {
		return p.Event(canon.Event{Type: string(world.PlayerAct), Scope: string(world.GlobalScope), Label: gm, Version: 1})
	})
	before := checkClock(s, s.World, s.Admin)
	s.Pass(2 * time.Hour)
	if checkClock(s, s.World, s.Admin)-before > world.PlayPause.Milliseconds() {
		t.Error("a hidden act keeps the clock running")
	}
}

// A cached clock is not updated if the stream has lost commits that it was computed from.
func TestCachedClockOfLostCommitsIsReloaded(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("look")
	s.As("gm").Call("advance-time", `{"hours":8}`)
	checkClock(s, s.World, s.Admin)
	s.World.LoseCommits(s.ID)
	checkClock(s, s.World, s.Admin)
	n := 0
	for range world.MaxClocks + 10 {
		n = s.World.CacheClock(access.WorldID(s.IDs.Next()))
	}
	if n > world.MaxClocks {
		t.Errorf("%d worlds are kept", n)
	}
}
