package world

import (
	"context"

	"loregate/internal/access"
)

// Bounds that tests rely on.
const (
	MaxListed   = maxListed
	MaxFollowed = maxFollowed
	MaxClocks   = maxClocks
	PlayPause   = playPause
)

// CompareClock returns the cached clock and the one computed from its events.
func (m *AsOf) CompareClock(ctx context.Context) (cached, computed Clock, err error) {
	if cached, err = m.WorldClock(ctx); err != nil {
		return cached, computed, err
	}
	_, computed, err = m.readClock(ctx, m.AsAnyPlayer())
	return cached, computed, err
}

// LoseCommits changes the cached clock of a world to one from commits that were never durable.
func (w *World) LoseCommits(id access.WorldID) {
	lost := w.clocks.get(id)
	lost.head.Hash[0]++
	lost.basis.step.id[0]++
	lost.basis.act.id[0]++
	lost.basis.step.Tick, lost.clock.Tick = Day, Day
	w.clocks.put(id, lost)
}

// CacheClock caches a clock for a world, and returns the number of cached clocks.
func (w *World) CacheClock(id access.WorldID) int {
	w.clocks.put(id, keptClock{})
	return len(w.clocks.kept)
}

// StepClock steps the clock to a tick.
func (w *World) StepClock(ctx context.Context, g access.Grant, tick int64) error {
	return w.setClock(ctx, g, stepAdvanced, func(context.Context, *AsOf) (int64, error) { return tick, nil })
}
