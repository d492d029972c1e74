package world

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// Card is a card as it was at the commit that a context shows.
type Card struct {
	ID      canon.CardID
	Name    string
	Type    string
	Format  canon.TextFormat
	Fields  json.RawMessage
	Content canon.Hash
	Label   access.Label
}

// CardOf returns a present card.
func CardOf(c canon.Card) Card {
	return Card{c.ID, c.Name, c.Type, c.Format, c.Fields, c.Content, c.Label}
}

func cardAtFromVersion(v canon.Version) Card {
	return Card{v.Card, v.Name, v.Type, v.Format, v.Fields, v.Content, v.Label}
}

// IsType reports whether a card is of a type.
func (t Card) IsType(typ string) bool { return markup.KeyOf(t.Type) == markup.KeyOf(typ) }

// Title returns the last part of a card's name.
func (t Card) Title() string {
	parts := markup.Parts(t.Name)
	if len(parts) == 0 {
		return ""
	}
	return markup.Clean(parts[len(parts)-1])
}

// IsAlive reports whether a card can be spoken to.
func IsAlive(t Card) bool {
	return t.IsType(TypePlayer) || t.IsType("Character") || t.IsType("Creature") || t.IsType("NPC")
}

// CardByID returns a card by its id, as of the commit that m shows.
func (m *AsOf) CardByID(ctx context.Context, id canon.CardID) (Card, bool, error) {
	if m.Seq == 0 {
		c, ok, err := m.ByID(ctx, id)
		return CardOf(c), ok, err
	}
	v, ok, err := m.CardAt(ctx, id, m.Seq)
	return cardAtFromVersion(v), ok, err
}

// CardsByID returns cards by id, as of the commit that m shows, in the order of the ids.
func (m *AsOf) CardsByID(ctx context.Context, ids []canon.CardID) ([]Card, error) {
	out := make([]Card, 0, len(ids))
	for _, id := range ids {
		t, asked := m.prefetched[id]
		if !asked {
			return m.readCards(ctx, ids)
		}
		if t != nil {
			out = append(out, *t)
		}
	}
	return out, nil
}

func (m *AsOf) readCards(ctx context.Context, ids []canon.CardID) ([]Card, error) {
	if m.Seq == 0 {
		cards, err := m.ByIDs(ctx, ids)
		if err != nil {
			return nil, err
		}
		return m.cardsAsOf(ctx, cards)
	}
	versions, err := m.CardsAt(ctx, ids, m.Seq)
	return slicesx.Map(versions, cardAtFromVersion), err
}

// cardsAsOf returns cards of the snapshot as they were at the commit that m shows, in their order.
func (m *AsOf) cardsAsOf(ctx context.Context, cards []canon.Card) ([]Card, error) {
	out := make([]Card, 0, len(cards))
	if m.Seq == 0 {
		for _, c := range cards {
			out = append(out, CardOf(c))
		}
		return out, nil
	}
	ids := slicesx.Map(cards, func(c canon.Card) canon.CardID { return c.ID })
	return m.CardsByID(ctx, ids)
}

// FindCard returns the card for an id that a caller gave: a UUID or a codename. Any other text
// matches no card.
func (m *AsOf) FindCard(ctx context.Context, id string) (Card, bool, error) {
	if u, ok := idOf(id); ok {
		return m.CardByID(ctx, u)
	}
	return m.resolveID(ctx, id, func() (canon.Card, bool, error) { return FindCard(ctx, m.Snapshot, id) })
}

// idOf parses an id in the form that contexts use.
func idOf(text string) (canon.CardID, bool) {
	u, err := uuid.Parse(text)
	return canon.CardID(u), err == nil && len(text) == 36
}

// FindCard is the only function that interprets an id given by a caller: it is a UUID or a
// codename.
func FindCard(ctx context.Context, snap *canon.Snapshot, text string) (canon.Card, bool, error) {
	if id, ok := idOf(text); ok {
		return snap.ByID(ctx, id)
	}
	return snap.Exists(ctx, ":"+text)
}

// resolveID returns the card that an id means. It calls find to look in the snapshot, unless an
// earlier context is read again: then it returns the card recorded at that time.
func (m *AsOf) resolveID(ctx context.Context, id string, find func() (canon.Card, bool, error)) (Card, bool, error) {
	if m.rereading {
		then := m.resolved[id].ID
		if then.IsZero() {
			return Card{}, false, nil
		}
		return m.CardByID(ctx, then)
	}
	c, ok, err := find()
	if err == nil && m.resolved != nil {
		m.resolved[id] = resolvedID{ID: c.ID}
	}
	if err != nil || !ok || m.Seq == 0 {
		return CardOf(c), ok, err
	}
	return m.CardByID(ctx, c.ID)
}

// CodeOf returns the codename of the card that an id means: the present one or, if an earlier
// context is read again, the one recorded at that time.
func (m *AsOf) CodeOf(id string, c canon.Card) string {
	if m.rereading {
		return m.resolved[id].Code
	}
	if m.resolved != nil {
		m.resolved[id] = resolvedID{ID: c.ID, Code: c.Codename}
	}
	return c.Codename
}

// ReadText returns a card's content as plain text for a reader: without markup, nests and marks
// that hide text.
func (m *AsOf) ReadText(ctx context.Context, t Card) (string, error) {
	content, err := m.Body(ctx, t.Content)
	if err != nil {
		return "", err
	}
	return PlainText(ctx, canon.KindOf(t.Type, t.Format), content), nil
}

// PlainText returns content without markup and inclusions. A colon at its end, before an inclusion, becomes a full stop.
func PlainText(ctx context.Context, kind canon.TextKind, content string) string {
	if content == "" {
		return ""
	}
	switch kind {
	case canon.TextData, canon.TextFile:
		return ""
	case canon.TextMarkdown:
		if html, err := markup.ToHTML(ctx, content); err == nil {
			content = html
		}
	}
	text := strings.TrimSpace(markup.Text(content))
	if bare, ok := strings.CutSuffix(text, ":"); ok {
		text = bare + "."
	}
	return text
}

// DecodeFields decodes a card's fields into v. Fields whose JSON does not fit the shape of v, which a
// wiki allows, count as absent.
func DecodeFields(raw json.RawMessage, v any) {
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, v)
	}
}

// maxOfPlace bounds the links of a place that are prefetched.
const maxOfPlace = MaxExits + MaxHere + maxAnchors

// PrefetchPlace reads the links from and to a place in one query for each direction, and the cards
// at their other ends in one more. Later reads of these links and cards need no query. The links of
// a place with more than maxOfPlace links from it are not prefetched; they are read kind by kind
// later.
func (m *AsOf) PrefetchPlace(ctx context.Context, place canon.CardID) error {
	from, err := m.ReadLinks(ctx, canon.LinkQuery{From: place, Kinds: []string{LinkExit, LinkHolds, LinkAnchor}},
		maxOfPlace+1)
	if err != nil || len(from) > maxOfPlace {
		return err
	}
	to, err := m.ReadLinks(ctx, canon.LinkQuery{To: place, Kinds: []string{LinkAt}}, MaxHere)
	if err != nil {
		return err
	}
	m.prefetched = make(map[canon.CardID]*Card, len(from)+len(to))
	var ids []canon.CardID
	add := func(id canon.CardID) {
		if _, asked := m.prefetched[id]; !asked {
			m.prefetched[id] = nil
			ids = append(ids, id)
		}
	}
	for _, l := range from {
		if l.Kind != LinkAnchor {
			add(l.To)
		}
	}
	for _, l := range to {
		add(l.From)
	}
	var found []Card
	if len(ids) > 0 {
		found, err = m.readCards(ctx, ids)
	}
	for i := range found {
		m.prefetched[found[i].ID] = &found[i]
	}
	m.prefetchedPlace, m.linksFrom, m.linksTo = place, from, to
	return err
}

// ReadLinks lists links as of the commit that m shows.
func (m *AsOf) ReadLinks(ctx context.Context, q canon.LinkQuery, limit int) ([]canon.Link, error) {
	if len(q.Kinds) == 1 && !m.prefetchedPlace.IsZero() {
		switch {
		case q.From == m.prefetchedPlace && q.To.IsZero():
			var found []canon.Link
			for _, l := range m.linksFrom {
				if l.Kind == q.Kinds[0] && len(found) < limit {
					found = append(found, l)
				}
			}
			return found, nil
		case q.To == m.prefetchedPlace && q.From.IsZero() && q.Kinds[0] == LinkAt && limit <= MaxHere:
			return m.linksTo[:min(limit, len(m.linksTo))], nil
		}
	}
	q.AsOf, q.Page = m.Seq, canon.Page{Limit: limit, Uncounted: true}
	list, _, err := m.Links(ctx, q)
	return list, err
}
