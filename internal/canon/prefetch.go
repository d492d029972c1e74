package canon

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Needs is what a Reader is about to be asked for. Zero fields ask for nothing.
type Needs struct {
	World        access.WorldID // its row, and where the rest belongs
	Stream       StreamID       // its head
	Account, Key string         // what an idempotency key was used for
	Cards        []CardID       // by id, for a view of LevelAdmin and up
	Keys         []markup.Key   // that cards are to be given: what bears them or lies below
	Below        []CardID       // whether living cards lie directly below them, for a view of LevelAll
	Bodies       []Hash
}

// Prefetcher is a Reader to which each question is a way to a server. Prefetch asks what it
// is told of in one go; what it answers afterwards is what it would have answered without.
// A Reader that has everything at hand is none.
type Prefetcher interface {
	Prefetch(ctx context.Context, n Needs) error
}

// Prefetch tells a Reader what it will be asked for, where that is of use to it.
func Prefetch(ctx context.Context, r Reader, n Needs) error {
	if f, ok := r.(Prefetcher); ok {
		return f.Prefetch(ctx, n)
	}
	return nil
}

// commitNeeds is what the commit of a ChangeSet reads.
func (s ChangeSet) commitNeeds(g access.Grant, w access.WorldID) Needs {
	n := Needs{World: w, Stream: WorldStream(w), Keys: s.keys}
	if req := g.Request(); !req.DryRun {
		n.Account, n.Key = g.Caller().Account(), req.IdempotencyKey
	}
	seen := make(map[CardID]bool, len(s.Reads)+len(s.Changes))
	add := func(id CardID) {
		if !id.IsZero() && !seen[id] {
			seen[id] = true
			n.Cards = append(n.Cards, id)
		}
	}
	for _, m := range s.Reads {
		add(m.Card)
	}
	for _, ch := range s.Changes {
		if ch.Card != nil {
			add(ch.Card.ID)
			add(ch.Card.Parent)
		}
	}
	return n
}

// PrefetchContents tells the look that the contents of what was found are about to be asked for.
func (s *Snapshot) PrefetchContents(ctx context.Context, hits []Hit) error {
	n := Needs{World: s.visibility.World}
	for _, h := range hits {
		if c := h.Card; c.Content != (Hash{}) && c.Size <= prefetchSize {
			n.Bodies = append(n.Bodies, c.Content)
		}
	}
	if len(n.Bodies) < 2 {
		return nil
	}
	return Prefetch(ctx, s.r, n)
}

// prefetchSize is up to how many bytes content is read before it is asked for.
const prefetchSize = 64 << 10
