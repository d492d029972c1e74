package canon

import (
	"context"
	"slices"

	"loregate/internal/markup"
)

// memo is a Reader of a snapshot that looks up no card twice: a call finds its cards by name
// to plan, to answer and to say where they are.
type memo struct {
	Reader
	byID  map[cardSeen]Card
	byKey map[keySeen][]Card
}

var _ Foreseer = (*memo)(nil)

// maxMemo is how many look-ups of a kind are remembered.
const maxMemo = 64

type cardSeen struct {
	sight Sight
	id    CardID
}

type keySeen struct {
	sight Sight
	key   markup.Key
}

// Foresee passes on what will be asked for.
func (m *memo) Foresee(ctx context.Context, n Needs) error { return Foresee(ctx, m.Reader, n) }

// CardByID remembers cards that are there.
func (m *memo) CardByID(ctx context.Context, s Sight, id CardID) (Card, bool, error) {
	at := cardSeen{s, id}
	if c, ok := m.byID[at]; ok {
		return c, true, nil
	}
	c, ok, err := m.Reader.CardByID(ctx, s, id)
	if ok && err == nil {
		m.keep(at, c)
	}
	return c, ok, err
}

// CardsByKey remembers the cards of a key, with none for a key that has none.
func (m *memo) CardsByKey(ctx context.Context, s Sight, key markup.Key) ([]Card, error) {
	at := keySeen{s, key}
	if cards, ok := m.byKey[at]; ok {
		return slices.Clone(cards), nil
	}
	cards, err := m.Reader.CardsByKey(ctx, s, key)
	if err != nil || len(m.byKey) >= maxMemo {
		return cards, err
	}
	if m.byKey == nil {
		m.byKey = map[keySeen][]Card{}
	}
	m.byKey[at] = slices.Clone(cards)
	for _, c := range cards {
		m.keep(cardSeen{s, c.ID}, c)
	}
	return cards, nil
}

func (m *memo) keep(at cardSeen, c Card) {
	if m.byID == nil {
		m.byID = map[cardSeen]Card{}
	}
	if len(m.byID) < maxMemo {
		m.byID[at] = c
	}
}
