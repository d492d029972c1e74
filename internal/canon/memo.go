package canon

import (
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// memo is a Reader of a snapshot that looks up no card twice: a call finds its cards by name
// to plan, to answer and to say where they are.
type memo struct {
	Reader
	found  []lookupResult
	bodies map[Hash][]byte // of a change, which may be rehearsed: then they are not in the store
}

// lookupResult is a look-up with the cards that it found. There are few: a list is cheaper than a map.
type lookupResult struct {
	asked cardLookup
	cards []Card
}

var _ Prefetcher = (*memo)(nil)

// maxMemo is how many look-ups are remembered.
const maxMemo = 128

// cardLookup is a look-up by id or by key.
type cardLookup struct {
	visibility Visibility
	id         CardID
	key        markup.Key
}

// Prefetch passes on what will be asked for.
func (m *memo) Prefetch(ctx context.Context, n Needs) error { return Prefetch(ctx, m.Reader, n) }

// Body gives stored bytes.
func (m *memo) Body(ctx context.Context, w access.WorldID, h Hash) ([]byte, bool, error) {
	if b, known := m.bodies[h]; known {
		return b, true, nil
	}
	return m.Reader.Body(ctx, w, h)
}

// FindCards remembers the card of an id, and the cards of a key, with none for a key that
// has none.
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

// cachedCards gives the cards that a look-up found before.
func (m *memo) cachedCards(at cardLookup) ([]Card, bool) {
	for i := range m.found {
		if m.found[i].asked == at {
			return m.found[i].cards, true
		}
	}
	return nil, false
}

// rememberCards remembers the cards that a look-up found, together and each by id.
func (m *memo) rememberCards(at cardLookup, cards []Card) {
	m.rememberLookup(at, cards)
	for i, c := range cards {
		m.rememberLookup(cardLookup{visibility: at.visibility, id: c.ID}, cards[i:i+1:i+1])
	}
}

// rememberLookup remembers what a look-up found. That there is no card of an id is not remembered.
func (m *memo) rememberLookup(at cardLookup, cards []Card) {
	if len(m.found) >= maxMemo || at.key == "" && len(cards) == 0 {
		return
	}
	if m.found == nil {
		m.found = make([]lookupResult, 0, 4)
	}
	m.found = append(m.found, lookupResult{at, cards})
}
