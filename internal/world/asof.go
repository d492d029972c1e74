package world

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// asOf is what a context is read from: a snapshot, the commit it is read as of, and the
// tick of world time that it speaks of.
type asOf struct {
	*canon.Snapshot
	w        *World
	seq      canon.Seq // 0 is the snapshot as it stands
	tick     int64
	readAt   time.Time // when it was read; what is known of handlers is as of then
	realThen time.Time // the real time of a moment that has passed, where it was asked for

	prefetchedPlace canon.CardID // whose links were read at once; see readPlace
	linksFrom       []canon.Link
	linksTo         []canon.Link             // of kind at
	prefetched      map[canon.CardID]*cardAt // read with them; nil is nothing in sight

	tickFixed bool // tick is what was asked for, and not the time of the place

	resolved  map[string]resolvedID // by what the caller gave for an id, "" for nothing; nil where it is not kept
	rereading bool                  // the context was read before: ids mean what they did then
}

// resolvedID is what an id meant when a context was read: codenames, and the place where
// players begin, may come to mean another card. The zero meant is nothing in sight.
type resolvedID struct {
	ID   canon.CardID `json:"i,omitzero"`
	Code string       `json:"c,omitempty"` // the codename that a fact had
}

// timeInput is the part of an input that says of what time a context is wanted.
type timeInput struct {
	Tick *int64 `json:"tick,omitzero" min:"0" numeric:"string" jsonschema:"World time in milliseconds; now unless given."`
	AsOf string `json:"as_of,omitzero" maxlen:"64" jsonschema:"The state at a time such as 2026-01-31T18:00:00Z; for a GM also the number of a commit."`
}

func (w timeInput) requestedTime() timeInput { return w }

// fixTick gives the input with the tick that it was read at, and without as_of, which a
// sealed reference keeps beside it.
func (w *timeInput) fixTick(tick int64) { w.Tick, w.AsOf = &tick, "" }

// timedInput is an input that embeds when.
type timedInput interface {
	requestedTime() timeInput
	fixTick(tick int64)
}

// readAsOf reads what time is asked for.
func (w *World) readAsOf(ctx context.Context, l *canon.Snapshot, ask timeInput) (*asOf, error) {
	m := &asOf{Snapshot: l, w: w, readAt: w.cfg.Now().UTC().Truncate(time.Millisecond), resolved: map[string]resolvedID{}}
	if ask.AsOf != "" {
		at, then, err := resolveAsOf(ctx, l, ask.AsOf)
		if err != nil {
			return nil, err
		}
		m.seq, m.realThen = at, then
	}
	if ask.Tick != nil {
		m.tick, m.tickFixed = *ask.Tick, true
	}
	return m, nil
}

// settleTick makes the moment speak of the time of a place, or without one of the world,
// unless another was asked for.
func (m *asOf) settleTick(ctx context.Context, place *cardAt) (err error) {
	switch {
	case m.tickFixed:
	case place == nil:
		m.tick, err = m.worldTick(ctx)
	default:
		m.tick, err = m.anchorAt(ctx, place.ID)
	}
	m.tickFixed = true
	return err
}

// resolveAsOf finds the commit that is meant by as_of, and the time where one is named. Before the
// first there is nothing.
func resolveAsOf(ctx context.Context, l *canon.Snapshot, text string) (canon.Seq, time.Time, error) {
	if n, err := strconv.ParseUint(text, 10, 63); err == nil && l.Grant().Role() >= access.RoleGM {
		if n == 0 || canon.Seq(n) > l.Now() {
			return 0, time.Time{}, fault.BadField("as_of", "is no commit of this world; the last is %d", l.Now())
		}
		return canon.Seq(n), time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		at, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		seq, err := l.SeqAt(ctx, at)
		if err == nil && seq == 0 {
			err = fault.BadField("as_of", "lies before the world began")
		}
		return seq, at, err
	}
	return 0, time.Time{}, fault.BadField("as_of", "must be a time such as 2026-01-31T18:00:00Z")
}

// cardAt is a card as it stood at the moment.
type cardAt struct {
	ID      canon.CardID
	Name    string
	Type    string
	Fields  json.RawMessage
	Content canon.Hash
	Label   access.Label
}

func toCardAt(c canon.Card) cardAt {
	return cardAt{c.ID, c.Name, c.Type, c.Fields, c.Content, c.Label}
}

func cardAtFromVersion(v canon.Version) cardAt {
	return cardAt{v.Card, v.Name, v.Type, v.Fields, v.Content, v.Label}
}

// cardAt finds a card by its id, as it stood.
func (m *asOf) cardAt(ctx context.Context, id canon.CardID) (cardAt, bool, error) {
	if m.seq == 0 {
		c, ok, err := m.ByID(ctx, id)
		return toCardAt(c), ok, err
	}
	v, ok, err := m.CardAt(ctx, id, m.seq)
	return cardAtFromVersion(v), ok, err
}

// cardsByID finds cards by id, as they stood, in the order of the ids.
func (m *asOf) cardsByID(ctx context.Context, ids []canon.CardID) ([]cardAt, error) {
	out := make([]cardAt, 0, len(ids))
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

func (m *asOf) readCards(ctx context.Context, ids []canon.CardID) ([]cardAt, error) {
	if m.seq == 0 {
		cards, err := m.ByIDs(ctx, ids)
		if err != nil {
			return nil, err
		}
		return m.cardsAsOf(ctx, cards)
	}
	versions, err := m.CardsAt(ctx, ids, m.seq)
	out := make([]cardAt, len(versions))
	for i, v := range versions {
		out[i] = cardAtFromVersion(v)
	}
	return out, err
}

// cardsAsOf gives cards of the snapshot as they stood, in their order.
func (m *asOf) cardsAsOf(ctx context.Context, cards []canon.Card) ([]cardAt, error) {
	out := make([]cardAt, 0, len(cards))
	if m.seq == 0 {
		for _, c := range cards {
			out = append(out, toCardAt(c))
		}
		return out, nil
	}
	ids := make([]canon.CardID, len(cards))
	for i, c := range cards {
		ids[i] = c.ID
	}
	return m.cardsByID(ctx, ids)
}

// findCard finds a thing by an id that a caller gave: a UUID or a codename. Anything else
// is no thing's.
func (m *asOf) findCard(ctx context.Context, id string) (cardAt, bool, error) {
	if u, ok := idOf(id); ok {
		return m.cardAt(ctx, u)
	}
	return m.resolveID(ctx, id, func() (canon.Card, bool, error) { return cardByIDOrCode(ctx, m.Snapshot, id) })
}

// idOf reads an id as contexts give it.
func idOf(text string) (canon.CardID, bool) {
	u, err := uuid.Parse(text)
	return canon.CardID(u), err == nil && len(text) == 36
}

// cardByIDOrCode is the one reading of what callers give for an id: an id, or a codename.
func cardByIDOrCode(ctx context.Context, l *canon.Snapshot, text string) (canon.Card, bool, error) {
	if id, ok := idOf(text); ok {
		return l.ByID(ctx, id)
	}
	return l.Exists(ctx, ":"+text)
}

// resolveID is the thing that an id means, found by a look into the snapshot unless the
// context was read before.
func (m *asOf) resolveID(ctx context.Context, id string, find func() (canon.Card, bool, error)) (cardAt, bool, error) {
	if m.rereading {
		then := m.resolved[id].ID
		if then.IsZero() {
			return cardAt{}, false, nil
		}
		return m.cardAt(ctx, then)
	}
	c, ok, err := find()
	if err == nil && m.resolved != nil {
		m.resolved[id] = resolvedID{ID: c.ID}
	}
	if err != nil || !ok || m.seq == 0 {
		return toCardAt(c), ok, err
	}
	return m.cardAt(ctx, c.ID)
}

// codeOf is the codename of the card that an id means: its present one, or the one that
// it had when the context was read before.
func (m *asOf) codeOf(id string, c canon.Card) string {
	if m.rereading {
		return m.resolved[id].Code
	}
	if m.resolved != nil {
		m.resolved[id] = resolvedID{ID: c.ID, Code: c.Codename}
	}
	return c.Codename
}

// maxOfPlace bounds the links of a place that are read at once.
const maxOfPlace = maxExits + maxHere + maxAnchors

// prefetchPlace reads what leads from a place and stands there in one query for each way, and
// the cards at the other ends in one: what is asked for one by one afterwards takes no
// further one. A place with more links than fit is read kind by kind.
func (m *asOf) prefetchPlace(ctx context.Context, place canon.CardID) error {
	from, err := m.readLinks(ctx, canon.LinkQuery{From: place, Kinds: []string{linkExit, linkHolds, linkAnchor}}, maxOfPlace+1)
	if err != nil || len(from) > maxOfPlace {
		return err
	}
	to, err := m.readLinks(ctx, canon.LinkQuery{To: place, Kinds: []string{linkAt}}, maxHere)
	if err != nil {
		return err
	}
	m.prefetched = make(map[canon.CardID]*cardAt, len(from)+len(to))
	var ids []canon.CardID
	add := func(id canon.CardID) {
		if _, asked := m.prefetched[id]; !asked {
			m.prefetched[id] = nil
			ids = append(ids, id)
		}
	}
	for _, l := range from {
		if l.Kind != linkAnchor {
			add(l.To)
		}
	}
	for _, l := range to {
		add(l.From)
	}
	var found []cardAt
	if len(ids) > 0 {
		found, err = m.readCards(ctx, ids)
	}
	for i := range found {
		m.prefetched[found[i].ID] = &found[i]
	}
	m.prefetchedPlace, m.linksFrom, m.linksTo = place, from, to
	return err
}

// readLinks lists links as they stood.
func (m *asOf) readLinks(ctx context.Context, q canon.LinkQuery, limit int) ([]canon.Link, error) {
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
		case q.To == m.prefetchedPlace && q.From.IsZero() && q.Kinds[0] == linkAt && limit <= maxHere:
			return m.linksTo[:min(limit, len(m.linksTo))], nil
		}
	}
	q.AsOf, q.Page = m.seq, canon.Page{Limit: limit, Uncounted: true}
	list, _, err := m.Links(ctx, q)
	return list, err
}

// position is the commit that the moment shows.
func (m *asOf) position() canon.Seq {
	if m.seq != 0 {
		return m.seq
	}
	return m.Now()
}

// fieldsOf reads a card's fields as far as they have the shape of v. Fields of another
// shape, which a wiki allows, count as absent.
func fieldsOf(raw json.RawMessage, v any) {
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, v)
	}
}
