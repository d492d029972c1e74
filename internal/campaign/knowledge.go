package campaign

import (
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// history records when the players learnt something: the commits that completed sessions, and the
// reveal events, some of which belong to a session.
type history struct {
	now         canon.Seq
	sessionEnds []sessionEnd
	reveals     []revealEvent
}

// sessionEnd is the commit in which a session was first completed.
type sessionEnd struct {
	number int
	at     canon.Seq
}

// revealEvent is the event of a reveal or an unreveal.
type revealEvent struct {
	revelation
	revealMode
	at canon.Seq
}

// hasItem reports whether the event revealed or hid the object with this id.
func (c revealEvent) hasItem(field, id string) bool {
	return slices.ContainsFunc(c.Items, func(it item) bool {
		named, ok := it.givenIDs()[field]
		return ok && named.toCardID().String() == id
	})
}

// historyFor reads the history of a campaign that has a session of this number.
func historyFor(ctx context.Context, l *canon.Snapshot, number int) (history, error) {
	if _, ok, err := l.Exists(ctx, sessionName(number)); err != nil || !ok {
		if err == nil {
			e := fault.New(fault.NotFound, "there is no session %d in this campaign; session_list lists the sessions", number)
			e.Fields = []fault.Field{{Field: "as_of_session", Error: "no such session"}}
			err = e
		}
		return history{}, err
	}
	return historyOf(ctx, l)
}

// historyOf reads the history of a campaign as far as the caller sees it: only the GM sees the reveals.
func historyOf(ctx context.Context, l *canon.Snapshot) (h history, err error) {
	h.now = l.Now()
	for c, err := range allSessions(ctx, l) {
		if err != nil {
			return h, err
		}
		at, ok, err := completionSeq(ctx, l, c)
		if err != nil {
			return h, err
		}
		if ok {
			h.sessionEnds = append(h.sessionEnds, sessionEnd{numberOf(c), at})
		}
	}
	q := canon.EventQuery{Types: []string{modeReveal.event, modeUnreveal.event}, Scopes: []string{scope}, Oldest: true}
	for e, err := range l.AllEvents(ctx, q) {
		if err != nil {
			return h, err
		}
		c := revealEvent{at: e.Seq, revealMode: modeReveal}
		if e.Type == modeUnreveal.event {
			c.revealMode = modeUnreveal
		}
		if json.Unmarshal(e.Payload, &c.revelation) == nil {
			h.reveals = append(h.reveals, c)
		}
	}
	return h, nil
}

// completionSeq returns the commit in which a session was first completed.
func completionSeq(ctx context.Context, l *canon.Snapshot, c canon.Card) (at canon.Seq, found bool, err error) {
	for v, err := range l.AllVersions(ctx, c.ID) {
		if err != nil {
			return 0, false, err
		}
		if sessionFieldsOf(v.Fields).Status == completed {
			at, found = v.From, true
		}
	}
	return at, found, nil
}

// asOf returns the commit that shows the players' knowledge after a session. That is the commit
// that completed the session or the last one before it, or a later reveal for one of these sessions
// if it was made before the next session was completed. For a session after all completed ones it
// is the current commit; for a session before the first it is 0.
func (h history) asOf(number int) canon.Seq {
	next, at := canon.Seq(0), canon.Seq(0)
	over := false
	for _, e := range h.sessionEnds {
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
	for _, c := range h.reveals {
		if c.Session != nil && *c.Session <= number && (next == 0 || c.at < next) {
			at = max(at, c.at)
		}
	}
	return at
}

// laterSeqs returns the objects that were revealed or hidden for a session or an earlier one, but
// only after asOf(number), because the GM recorded it late. Each entry has the commit of the last
// such event.
func (h history) laterSeqs(number int) map[string]canon.Seq {
	stood := h.asOf(number)
	out := map[string]canon.Seq{}
	for _, c := range h.reveals {
		if c.at <= stood || c.Session == nil || *c.Session > number {
			continue
		}
		for _, it := range c.Items {
			for field, id := range it.givenIDs() {
				out[field+" "+id.toCardID().String()] = c.at
			}
		}
	}
	return out
}

// knowledge is the knowledge of one audience at one commit.
type knowledge struct {
	l       *canon.Snapshot // the GM's snapshot
	view    access.View
	at      canon.Seq
	later   map[string]canon.Seq
	reveals []revealEvent // empty for the present knowledge
}

// seqFor returns the commit at which an object is read.
func (k knowledge) seqFor(field, id string) canon.Seq {
	if at, ok := k.later[field+" "+id]; ok {
		return at
	}
	return k.at
}

// cardAt returns a card's version at commit seq; the result is false unless the card and all cards
// above it were visible to the audience. Hiding a card also hides the cards below it in their
// present version, so labels alone do not suffice: the reveal events are checked as well.
func (k knowledge) cardAt(ctx context.Context, field, of string, id canon.CardID,
	seq canon.Seq) (canon.Version, bool, error) {
	if seq == 0 {
		return canon.Version{}, false, nil
	}
	v, ok, err := k.l.CardAt(ctx, id, seq)
	if err != nil || !ok {
		return v, false, err
	}
	if !k.view.Sees(v.Label) {
		if open, err := k.isRevealed(ctx, field, of, id, seq); err != nil || !open {
			return v, false, err
		}
	}
	c, ok, err := k.l.ByID(ctx, id)
	if err != nil || !ok || c.Parent.IsZero() {
		return v, ok, err
	}
	_, ok, err = k.cardAt(ctx, "entity_id", c.Parent.String(), c.Parent, seq)
	return v, ok, err
}

// isRevealed reports whether a card had been revealed to the audience by commit seq and not been
// hidden again.
func (k knowledge) isRevealed(ctx context.Context, field, of string, id canon.CardID, seq canon.Seq) (bool, error) {
	label := access.NewLabel(access.LevelGM)
	for _, c := range k.reveals {
		if c.at > seq || !c.hasItem(field, of) {
			continue
		}
		if _, there, err := k.l.CardAt(ctx, id, c.at); err != nil || !there {
			if err != nil {
				return false, err
			}
			continue
		}
		turned, err := c.label(label, c.To)
		if err == nil { // an unreveal that failed at the time changed nothing
			label = turned
		}
	}
	return k.view.Sees(label), nil
}

// entityAt returns an entity's version if the audience knew the entity.
func (k knowledge) entityAt(ctx context.Context, id canon.CardID) (canon.Version, bool, error) {
	return k.cardAt(ctx, "entity_id", id.String(), id, k.seqFor("entity_id", id.String()))
}

// knownSecrets merges the known secret attributes of an entity.
func (k knowledge) knownSecrets(ctx context.Context, c canon.Card) (attributes, error) {
	cards, err := secretCards(ctx, k.l, c)
	if err != nil {
		return nil, err
	}
	joined := attributes{}
	for _, s := range cards {
		v, ok, err := k.cardAt(ctx, "secret_of", c.ID.String(), s.ID, k.seqFor("secret_of", c.ID.String()))
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

// knownRelations returns the known relationships of an entity whose other end was known too.
func (k knowledge) knownRelations(ctx context.Context, c canon.Card) ([]entityRelation, error) {
	states := map[canon.LinkID]canon.Link{}
	collect := func(seq canon.Seq, keep func(canon.LinkID) bool) error {
		if seq == 0 {
			return nil
		}
		for _, q := range []canon.LinkQuery{{From: c.ID}, {To: c.ID}} {
			q.Kinds, q.AsOf = []string{kindRelation}, seq
			links, _, err := canon.CollectUpTo(k.l.AllLinks(ctx, q), canon.CountCap)
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
	if err := collect(k.at,
		func(id canon.LinkID) bool { return k.seqFor("relationship_id", id.String()) == k.at }); err != nil {
		return nil, err
	}
	for _, seq := range k.distinctSeqs() {
		if err := collect(seq,
			func(id canon.LinkID) bool { return k.seqFor("relationship_id", id.String()) == seq }); err != nil {
			return nil, err
		}
	}
	var known []canon.Link
	for _, s := range states {
		other := s.To
		if other == c.ID {
			other = s.From
		}
		_, ok, err := k.entityAt(ctx, other)
		if err != nil {
			return nil, err
		}
		if ok && k.view.Sees(s.Label) {
			known = append(known, s)
		}
	}
	return seenFrom(ctx, k.l, c.ID, known)
}

// distinctSeqs returns the commits of the late reveals, each once.
func (k knowledge) distinctSeqs() []canon.Seq {
	var out []canon.Seq
	for _, seq := range k.later {
		if !slices.Contains(out, seq) {
			out = append(out, seq)
		}
	}
	slices.Sort(out)
	return out
}

// knownEvents returns the known timeline events about an entity.
func (k knowledge) knownEvents(ctx context.Context, c canon.Card) ([]event, error) {
	cards, err := period{}.eventsInvolving(ctx, k.l, c.ID)
	if err != nil {
		return nil, err
	}
	var known []canon.Card
	for _, e := range cards {
		v, ok, err := k.cardAt(ctx, "event_id", e.ID.String(), e.ID, k.seqFor("event_id", e.ID.String()))
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
		if list[i].Entities, err = k.knownOnly(ctx, list[i].Entities); err != nil {
			return nil, err
		}
	}
	return list, err
}

// knownOnly filters a list of entities by knowledge.
func (k knowledge) knownOnly(ctx context.Context, list []mention) ([]mention, error) {
	out := []mention{}
	for _, m := range list {
		v, ok, err := k.entityAt(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, mention{m.ID, v.Name, kindByType[markup.KeyOf(v.Type)]})
		}
	}
	return out, nil
}
