package canon

import (
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// memo is a Reader of a snapshot that caches card look-ups. A call finds the same cards by name to
// plan, to build the reply and to locate them.
type memo struct {
	Reader
	found  []lookupResult
	bodies map[Hash][]byte // content written by a change; a dry run does not store it
}

// lookupResult is a look-up with the cards that it found. A list suffices, since a call makes few
// look-ups.
type lookupResult struct {
	asked cardLookup
	cards []Card
}

var _ Prefetcher = (*memo)(nil)

// maxMemo bounds the cached look-ups.
const maxMemo = 128

// cardLookup is a look-up by id or by key.
type cardLookup struct {
	visibility Visibility
	id         CardID
	key        markup.Key
}

// Prefetch forwards to the underlying Reader.
func (m *memo) Prefetch(ctx context.Context, n Needs) error { return Prefetch(ctx, m.Reader, n) }

// Body returns stored bytes, or content written by the change.
func (m *memo) Body(ctx context.Context, w access.WorldID, h Hash) ([]byte, bool, error) {
	if b, known := m.bodies[h]; known {
		return b, true, nil
	}
	return m.Reader.Body(ctx, w, h)
}

// FindCards caches look-ups by id and by key. For a key it also caches that no card has it.
func (m *memo) FindCards(ctx context.Context, s Visibility, q CardQuery) ([]Card, error) {
	at := cardLookup{s, q.ID, q.Key}
	if q.ID.IsZero() && q.Key == "" {
		return m.Reader.FindCards(ctx, s, q)
	}
	cards, known := m.cachedCards(at)
	if !known {
		var err error
		if cards, err = m.Reader.FindCards(ctx, s, q); err != nil {
			return nil, err
		}
		m.rememberCards(at, cards)
	}
	if q.Key != "" { // the caller may reorder the cards of a key
		cards = slices.Clone(cards)
	}
	return cards, nil
}

// cachedCards returns the cards that an earlier look-up found.
func (m *memo) cachedCards(at cardLookup) ([]Card, bool) {
	for i := range m.found {
		if m.found[i].asked == at {
			return m.found[i].cards, true
		}
	}
	return nil, false
}

// rememberCards caches the result of a look-up, and each of its cards by id.
func (m *memo) rememberCards(at cardLookup, cards []Card) {
	m.rememberLookup(at, cards)
	for i, c := range cards {
		m.rememberLookup(cardLookup{visibility: at.visibility, id: c.ID}, cards[i:i+1:i+1])
	}
}

// rememberLookup caches the result of a look-up, unless it is a look-up by id that found no card.
func (m *memo) rememberLookup(at cardLookup, cards []Card) {
	if len(m.found) >= maxMemo || at.key == "" && len(cards) == 0 {
		return
	}
	if m.found == nil {
		m.found = make([]lookupResult, 0, 4)
	}
	m.found = append(m.found, lookupResult{at, cards})
}
