package app

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// keptBytes returns the size of the cache of answers in bytes: a sixteenth of the memory.
func (c Config) keptBytes() int { return c.Memory << 20 / 16 }

// readMoment calls f with the current op.Moment of a world.
func (a *App) readMoment(ctx context.Context, w access.WorldID, f func(op.Moment)) error {
	return a.Canon.Moment(ctx, w, func(m canon.Moment) { f(momentAdapter{m}) })
}

// momentAdapter adapts a canon.Moment to op.Moment.
type momentAdapter struct{ in canon.Moment }

func (m momentAdapter) Begin() op.Basis { return m.in.Begin() }

func (m momentAdapter) Stands(b op.Basis, level access.Level) bool {
	basis, ok := b.(*canon.Basis)
	return ok && m.in.Stands(basis, level)
}
