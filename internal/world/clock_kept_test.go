package world

import (
	"fmt"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// checkClock compares the cached clock of a world with the one computed from its events, and
// returns its tick.
func (s *scene) checkClock(w *World, g access.Grant) (tick int64) {
	s.t.Helper()
	err := s.canon.Read(s.t.Context(), g, func(snap *canon.Snapshot) error {
		m := &asOf{Snapshot: snap, w: w}
		got, err := m.worldClock(s.t.Context())
		if err != nil {
			return err
		}
		_, want, err := m.readClock(s.t.Context(), m.AsAnyPlayer())
		if got != want {
			s.t.Errorf("kept %+v, the events say %+v", got, want)
		}
		tick = got.tickAt(s.now)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return tick
}

// Two processes on one store both cache the clock that follows from the events.
func TestCachedClockMatchesEvents(t *testing.T) {
	s := newScene(t)
	other, err := New(Config{Canon: s.canon, Now: func() time.Time { return s.now }})
	if err != nil {
		t.Fatal(err)
	}
	both := func(want int64) {
		t.Helper()
		for range 2 { // first computed, then cached
			if a, b := s.checkClock(s.world, s.admin), s.checkClock(other, s.admin); a != want || b != want {
				t.Errorf("at %d and %d, want %d", a, b, want)
			}
		}
	}
	both(0)
	p := s.joins("Mira")
	p.does("look")
	both(0)
	s.pass(10 * time.Minute)
	both(10 * minute)
	p.does("look")
	s.as("gm").call("advance-time", `{"hours":8}`)
	both(8*hour + 10*minute)
	s.pass(3 * time.Hour)
	both(8*hour + 40*minute)
	p.does("north")
	both(8*hour + 40*minute)
	s.pass(5 * time.Minute)
	for i := range maxFollowed + 5 { // more commits than maxFollowed
		s.card(canon.NewCard{Name: fmt.Sprintf("Pebble %d", i)})
	}
	s.checkClock(s.world, s.admin)
	s.checkClock(other, s.admin)
	gm := access.NewLabel(access.LevelGM)
	s.change(func(p *canon.Plan) error {
		return p.Event(canon.Event{Type: string(PlayerAct), Scope: string(GlobalScope), Label: gm, Version: 1})
	})
	before := s.checkClock(s.world, s.admin)
	s.pass(2 * time.Hour)
	if s.checkClock(s.world, s.admin)-before > playPause.Milliseconds() {
		t.Error("a hidden act keeps the clock running")
	}
}

// A cached clock is not updated if the stream has lost commits that it was computed from.
func TestCachedClockOfLostCommitsIsReloaded(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	p.does("look")
	s.as("gm").call("advance-time", `{"hours":8}`)
	s.checkClock(s.world, s.admin)
	lost := s.world.clocks.get(s.id)
	lost.head.Hash[0]++ // a commit that was never durable
	lost.basis.step.id[0]++
	lost.basis.act.id[0]++
	lost.basis.step.Tick, lost.clock.Tick = day, day
	s.world.clocks.put(s.id, lost)
	s.checkClock(s.world, s.admin)
	for range maxClocks + 10 {
		s.world.clocks.put(access.WorldID(s.ids.Next()), keptClock{})
	}
	if n := len(s.world.clocks.kept); n > maxClocks {
		t.Errorf("%d worlds are kept", n)
	}
}
