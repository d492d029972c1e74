package app

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// keptBytes returns the size of the cache of answers in bytes: a sixteenth of the memory.
func (c Config) keptBytes() int { return c.Memory << 20 / 16 }

// readWorldState calls f with the current op.WorldState of a world.
func (a *App) readWorldState(ctx context.Context, w access.WorldID, f func(op.WorldState)) error {
	return a.Canon.WorldState(ctx, w, func(m canon.WorldState) { f(worldStateAdapter{m}) })
}

// worldStateAdapter adapts a canon.WorldState to op.WorldState.
type worldStateAdapter struct{ in canon.WorldState }

func (m worldStateAdapter) Begin() op.ReadSet { return m.in.Begin() }

func (m worldStateAdapter) IsCurrent(b op.ReadSet, level access.Level) bool {
	basis, ok := b.(*canon.ReadSet)
	return ok && m.in.IsCurrent(basis, level)
}
