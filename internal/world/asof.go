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

// asOf is the source that a context is read from: a snapshot, the commit that is shown, and the
// tick of world time that the context is about.
type asOf struct {
	*canon.Snapshot
	w        *World
	seq      canon.Seq // commit that is shown; 0 is the newest one of the snapshot
	tick     int64
	readAt   time.Time // real time of the read; handler statuses are as of this time
	realThen time.Time // past real time that the caller asked for; zero if it gave none

	prefetchedPlace canon.CardID // place whose links are prefetched; see prefetchPlace
	linksFrom       []canon.Link
	linksTo         []canon.Link             // links of kind at to the place
	prefetched      map[canon.CardID]*cardAt // cards at the other ends of the links; nil: not visible

	tickFixed bool // tick is set: asked for by the caller, or already taken from a clock

	resolved  map[string]resolvedID // by the id that the caller gave ("" for none); nil: not recorded
	rereading bool                  // an earlier context is read again: ids resolve as they did then
}

// resolvedID records the card that an id resolved to when a context was read. Codenames, and the
// setting of the place where players begin, may refer to another card later. The zero resolvedID
// means that no visible card was found.
type resolvedID struct {
	ID   canon.CardID `json:"i,omitzero"`
	Code string       `json:"c,omitempty"` // the codename of a fact at that time
}

// timeInput is the part of an input that selects the time of a context.
type timeInput struct {
	Tick *int64 `json:"tick,omitzero" min:"0" numeric:"string" jsonschema:"World time in milliseconds; now unless given."`
	AsOf string `json:"as_of,omitzero" maxlen:"64" jsonschema:"The state at a time such as 2026-01-31T18:00:00Z; for a GM also the number of a commit."`
}

func (w timeInput) requestedTime() timeInput { return w }

// fixTick sets the input's tick to the one that the context was read at and clears as_of, which a
// sealed reference stores separately.
func (w *timeInput) fixTick(tick int64) { w.Tick, w.AsOf = &tick, "" }

// timedInput is implemented by inputs that select a time, for example by embedding timeInput.
type timedInput interface {
	requestedTime() timeInput
	fixTick(tick int64)
}

// readAsOf returns the source for the time that the caller asks for.
func (w *World) readAsOf(ctx context.Context, snap *canon.Snapshot, ask timeInput) (*asOf, error) {
	m := &asOf{Snapshot: snap, w: w, readAt: w.cfg.Now().UTC().Truncate(time.Millisecond),
		resolved: map[string]resolvedID{}}
	if ask.AsOf != "" {
		at, then, err := resolveAsOf(ctx, snap, ask.AsOf)
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

// settleTick sets m.tick to the time of a place, or without a place to the time of the world,
// unless the tick is fixed already.
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

// resolveAsOf returns the commit that as_of means, and the real time if as_of is a time. A time
// before the first commit is an error.
func resolveAsOf(ctx context.Context, snap *canon.Snapshot, text string) (canon.Seq, time.Time, error) {
	if n, err := strconv.ParseUint(text, 10, 63); err == nil && snap.Grant().Role() >= access.RoleGM {
		if n == 0 || canon.Seq(n) > snap.Now() {
			return 0, time.Time{}, fault.BadField("as_of", "is no commit of this world; the last is %d", snap.Now())
		}
		return canon.Seq(n), time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		at, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		seq, err := snap.SeqAt(ctx, at)
		if err == nil && seq == 0 {
			err = fault.BadField("as_of", "lies before the world began")
		}
		return seq, at, err
	}
	return 0, time.Time{}, fault.BadField("as_of", "must be a time such as 2026-01-31T18:00:00Z")
}

// cardAt is a card as it was at the commit that a context shows.
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

// cardAt returns a card by its id, as of the commit that m shows.
func (m *asOf) cardAt(ctx context.Context, id canon.CardID) (cardAt, bool, error) {
	if m.seq == 0 {
		c, ok, err := m.ByID(ctx, id)
		return toCardAt(c), ok, err
	}
	v, ok, err := m.CardAt(ctx, id, m.seq)
	return cardAtFromVersion(v), ok, err
}

// cardsByID returns cards by id, as of the commit that m shows, in the order of the ids.
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

// cardsAsOf returns cards of the snapshot as they were at the commit that m shows, in their order.
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

// findCard returns the card for an id that a caller gave: a UUID or a codename. Any other text
// matches no card.
func (m *asOf) findCard(ctx context.Context, id string) (cardAt, bool, error) {
	if u, ok := idOf(id); ok {
		return m.cardAt(ctx, u)
	}
	return m.resolveID(ctx, id, func() (canon.Card, bool, error) { return cardByIDOrCode(ctx, m.Snapshot, id) })
}

// idOf parses an id in the form that contexts use.
func idOf(text string) (canon.CardID, bool) {
	u, err := uuid.Parse(text)
	return canon.CardID(u), err == nil && len(text) == 36
}

// cardByIDOrCode is the only function that interprets an id given by a caller: it is a UUID or a
// codename.
func cardByIDOrCode(ctx context.Context, snap *canon.Snapshot, text string) (canon.Card, bool, error) {
	if id, ok := idOf(text); ok {
		return snap.ByID(ctx, id)
	}
	return snap.Exists(ctx, ":"+text)
}

// resolveID returns the card that an id means. It calls find to look in the snapshot, unless an
// earlier context is read again: then it returns the card recorded at that time.
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

// codeOf returns the codename of the card that an id means: the present one or, if an earlier
// context is read again, the one recorded at that time.
func (m *asOf) codeOf(id string, c canon.Card) string {
	if m.rereading {
		return m.resolved[id].Code
	}
	if m.resolved != nil {
		m.resolved[id] = resolvedID{ID: c.ID, Code: c.Codename}
	}
	return c.Codename
}

// maxOfPlace bounds the links of a place that are prefetched.
const maxOfPlace = maxExits + maxHere + maxAnchors

// prefetchPlace reads the links from and to a place in one query for each direction, and the cards
// at their other ends in one more. Later reads of these links and cards need no query. The links of
// a place with more than maxOfPlace links from it are not prefetched; they are read kind by kind
// later.
func (m *asOf) prefetchPlace(ctx context.Context, place canon.CardID) error {
	from, err := m.readLinks(ctx, canon.LinkQuery{From: place, Kinds: []string{linkExit, linkHolds, linkAnchor}},
		maxOfPlace+1)
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

// readLinks lists links as of the commit that m shows.
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

// position returns the commit that m shows.
func (m *asOf) position() canon.Seq {
	if m.seq != 0 {
		return m.seq
	}
	return m.Now()
}

// fieldsOf decodes a card's fields into v. Fields whose JSON does not fit the shape of v, which a
// wiki allows, count as absent.
func fieldsOf(raw json.RawMessage, v any) {
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, v)
	}
}
