package app

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// keptBytes is how many bytes of answers are kept: a sixteenth of the memory.
func (c Config) keptBytes() int { return c.Memory << 20 / 16 }

// moment tells operations how a world stands.
func (a *App) moment(ctx context.Context, w access.WorldID, f func(op.Moment)) error {
	return a.Canon.Moment(ctx, w, func(m canon.Moment) { f(moment{m}) })
}

// moment is a canon.Moment as operations ask it.
type moment struct{ in canon.Moment }

func (m moment) Begin() op.Basis { return m.in.Begin() }

func (m moment) Stands(b op.Basis, level access.Level) bool {
	basis, ok := b.(*canon.Basis)
	return ok && m.in.Stands(basis, level)
}
