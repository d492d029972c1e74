package canon

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Needs lists data that will be read from a Reader. Zero fields list nothing.
type Needs struct {
	World        access.WorldID // its row; all other data belongs to this world
	Stream       StreamID       // its head
	Account, Key string         // the use of an idempotency key
	Cards        []CardID       // by id, for a view of LevelAdmin and up
	Keys         []markup.Key   // keys that cards will get: the cards that have them or are below them
	Below        []CardID       // whether these cards have living children, for a view of LevelAll
	Bodies       []Hash
}

// Prefetcher is implemented by Readers for which every query is a network round trip. Prefetch
// loads the given data in one round trip; it never changes the results of later calls. Local stores
// do not implement it.
type Prefetcher interface {
	Prefetch(ctx context.Context, n Needs) error
}

// Prefetch announces later reads to a Reader that implements Prefetcher.
func Prefetch(ctx context.Context, r Reader, n Needs) error {
	if f, ok := r.(Prefetcher); ok {
		return f.Prefetch(ctx, n)
	}
	return nil
}

// commitNeeds returns the data that the commit of a ChangeSet reads.
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

// PrefetchContents loads the contents of hits that will be read next.
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

// prefetchSize is the largest content, in bytes, that is prefetched.
const prefetchSize = 64 << 10
