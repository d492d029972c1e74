package campaign

import (
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// history is when the players learnt things: which commits ended a session, and which
// revealed something in the name of one.
type history struct {
	now   canon.Seq
	ends  []ending
	calls []calling
}

// ending is the commit in which a session was completed first.
type ending struct {
	number int
	at     canon.Seq
}

// calling is a revelation, or the taking back of one.
type calling struct {
	revelation
	turn
	at canon.Seq
}

// of reports whether a thing is among those revealed.
func (c calling) of(field, id string) bool {
	return slices.ContainsFunc(c.Items, func(it item) bool {
		named, ok := it.given()[field]
		return ok && named.card().String() == id
	})
}

// historyOf reads the history of a campaign, as its GM sees it.
func historyOf(ctx context.Context, l *canon.Snapshot) (h history, err error) {
	h.now = l.Now()
	err = eachSession(ctx, l, func(c canon.Card, r record) error {
		at, ok, err := completion(ctx, l, c)
		if ok {
			h.ends = append(h.ends, ending{r.Number, at})
		}
		return err
	})
	if err != nil {
		return h, err
	}
	q := canon.EventQuery{Types: []string{opening.event, closing.event}, Scopes: []string{scope}, Oldest: true}
	for q.Page = (canon.Page{Limit: 1000}); ; q.Page.Offset += q.Page.Limit {
		events, _, err := l.Events(ctx, q)
		if err != nil {
			return h, err
		}
		for _, e := range events {
			c := calling{at: e.Seq, turn: opening}
			if e.Type == closing.event {
				c.turn = closing
			}
			if json.Unmarshal(e.Payload, &c.revelation) == nil {
				h.calls = append(h.calls, c)
			}
		}
		if len(events) < q.Page.Limit {
			return h, nil
		}
	}
}

// completion is the commit in which a session was completed first.
func completion(ctx context.Context, l *canon.Snapshot, c canon.Card) (at canon.Seq, found bool, err error) {
	for p := (canon.Page{Limit: 100}); ; p.Offset += p.Limit {
		versions, _, err := l.Versions(ctx, c.ID, p)
		if err != nil {
			return 0, false, err
		}
		for _, v := range versions {
			if recordOf(v.Fields).Status == completed {
				at, found = v.From, true
			}
		}
		if len(versions) < p.Limit {
			return at, found, nil
		}
	}
}

// asOf is the commit at which a session's knowledge stood: its end, or that of the last
// before it, and what was revealed for it until the next session was over. A session later
// than all that are over stands now; one before the first stands at 0, before everything.
func (h history) asOf(number int) canon.Seq {
	next, at := canon.Seq(0), canon.Seq(0)
	over := false
	for _, e := range h.ends {
		switch {
		case e.number <= number:
			at = max(at, e.at)
			over = over || e.number == number
		case next == 0 || e.at < next:
			next = e.at
		}
	}
	if next == 0 && !over {
		return h.now
	}
	for _, c := range h.calls {
		if c.Session != nil && *c.Session <= number && (next == 0 || c.at < next) {
			at = max(at, c.at)
		}
	}
	return at
}

// later are the things that were revealed or hidden for a session, or one before it, only
// after its knowledge stood: what the GM put down afterwards. Each has the commit that
// says how it stood.
func (h history) later(number int) map[string]canon.Seq {
	stood := h.asOf(number)
	out := map[string]canon.Seq{}
	for _, c := range h.calls {
		if c.at <= stood || c.Session == nil || *c.Session > number {
			continue
		}
		for _, it := range c.Items {
			for field, id := range it.given() {
				out[field+" "+id.card().String()] = c.at
			}
		}
	}
	return out
}

// knowing is what one audience knew at a time.
type knowing struct {
	l     *canon.Snapshot // the GM's
	view  access.View
	at    canon.Seq
	later map[string]canon.Seq
	calls []calling // none where it is about now
}

// seq is the commit at which a thing is looked at.
func (k knowing) seq(field, id string) canon.Seq {
	if at, ok := k.later[field+" "+id]; ok {
		return at
	}
	return k.at
}

// card is how a card stood, where it was open to the audience, with all that it lies
// below. What hides a card hides what lies below it, in its present version too; so what
// was revealed of it is asked besides.
func (k knowing) card(ctx context.Context, field, of string, id canon.CardID, seq canon.Seq) (canon.Version, bool, error) {
	if seq == 0 {
		return canon.Version{}, false, nil
	}
	v, ok, err := k.l.CardAt(ctx, id, seq)
	if err != nil || !ok {
		return v, false, err
	}
	if !k.view.Sees(v.Label) {
		if open, err := k.revealed(ctx, field, of, id, seq); err != nil || !open {
			return v, false, err
		}
	}
	c, ok, err := k.l.ByID(ctx, id)
	if err != nil || !ok || c.Parent.IsZero() {
		return v, ok, err
	}
	_, ok, err = k.card(ctx, "entity_id", c.Parent.String(), c.Parent, seq)
	return v, ok, err
}

// revealed reports whether a card had been revealed to the audience, and not hidden again,
// by a commit.
func (k knowing) revealed(ctx context.Context, field, of string, id canon.CardID, seq canon.Seq) (bool, error) {
	label := access.NewLabel(access.LevelGM)
	for _, c := range k.calls {
		if c.at > seq || !c.of(field, of) {
			continue
		}
		if _, there, err := k.l.CardAt(ctx, id, c.at); err != nil || !there {
			if err != nil {
				return false, err
			}
			continue
		}
		turned, err := c.label(label, c.To)
		if err == nil { // what could not be hidden then was not
			label = turned
		}
	}
	return k.view.Sees(label), nil
}

// entity is how an entity stood, where it was known.
func (k knowing) entity(ctx context.Context, id canon.CardID) (canon.Version, bool, error) {
	return k.card(ctx, "entity_id", id.String(), id, k.seq("entity_id", id.String()))
}

// secrets joins the secret attributes of an entity that were known.
func (k knowing) secrets(ctx context.Context, c canon.Card) (attributes, error) {
	cards, err := secretCards(ctx, k.l, c)
	if err != nil {
		return nil, err
	}
	joined := attributes{}
	for _, s := range cards {
		v, ok, err := k.card(ctx, "secret_of", c.ID.String(), s.ID, k.seq("secret_of", c.ID.String()))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		own, err := attributesOf(v.Fields)
		if err != nil {
			return nil, err
		}
		for name, value := range own {
			joined[name] = value
		}
	}
	return joined, nil
}

// relations are the relationships of an entity that were known, with their other ends.
func (k knowing) relations(ctx context.Context, c canon.Card) ([]relatedness, error) {
	states := map[canon.LinkID]canon.Link{}
	collect := func(seq canon.Seq, keep func(canon.LinkID) bool) error {
		if seq == 0 {
			return nil
		}
		for _, q := range []canon.LinkQuery{{From: c.ID}, {To: c.ID}} {
			q.Kinds, q.AsOf = []string{kindRelation}, seq
			links, err := allLinks(ctx, k.l, q)
			if err != nil {
				return err
			}
			for _, s := range links {
				if keep(s.ID) {
					states[s.ID] = s
				}
			}
		}
		return nil
	}
	if err := collect(k.at, func(id canon.LinkID) bool { return k.seq("relationship_id", id.String()) == k.at }); err != nil {
		return nil, err
	}
	for _, seq := range k.moments() {
		if err := collect(seq, func(id canon.LinkID) bool { return k.seq("relationship_id", id.String()) == seq }); err != nil {
			return nil, err
		}
	}
	var known []canon.Link
	for _, s := range states {
		other := s.To
		if other == c.ID {
			other = s.From
		}
		_, ok, err := k.entity(ctx, other)
		if err != nil {
			return nil, err
		}
		if ok && k.view.Sees(s.Label) {
			known = append(known, s)
		}
	}
	return seenFrom(ctx, k.l, c.ID, known)
}

// moments are the commits at which later revelations stand, each once.
func (k knowing) moments() []canon.Seq {
	var out []canon.Seq
	for _, seq := range k.later {
		if !slices.Contains(out, seq) {
			out = append(out, seq)
		}
	}
	slices.Sort(out)
	return out
}

// events are the timeline events about an entity that were known.
func (k knowing) events(ctx context.Context, c canon.Card) ([]event, error) {
	cards, err := period{}.of(ctx, k.l, c.ID)
	if err != nil {
		return nil, err
	}
	var known []canon.Card
	for _, e := range cards {
		v, ok, err := k.card(ctx, "event_id", e.ID.String(), e.ID, k.seq("event_id", e.ID.String()))
		if err != nil {
			return nil, err
		}
		if ok {
			e.Content, e.Fields, e.Type = v.Content, v.Fields, v.Type
			known = append(known, e)
		}
	}
	list, err := eventsOf(ctx, k.l, known)
	for i := range list {
		if list[i].Entities, err = k.only(ctx, list[i].Entities); err != nil {
			return nil, err
		}
	}
	return list, err
}

// only keeps of some entities those that were known.
func (k knowing) only(ctx context.Context, list []mention) ([]mention, error) {
	out := []mention{}
	for _, m := range list {
		v, ok, err := k.entity(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, mention{m.ID, v.Name, kindByType[markup.KeyOf(v.Type)]})
		}
	}
	return out, nil
}
