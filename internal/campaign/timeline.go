package campaign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/fault"
)

// kindInvolves is the kind of link from a timeline event to an entity.
const kindInvolves = "involves"

// unknown is the precision of what has no date.
const unknown = "unknown"

// event is an event of the timeline.
type event struct {
	ID          canon.CardID `json:"id"`
	Date        string       `json:"date" jsonschema:"As it was written, in the campaign's calendar."`
	Precision   string       `json:"precision"`
	Description string       `json:"description"`
	Entities    []mention    `json:"entities"`
	KnownTo     knownTo      `json:"known_to,omitzero" jsonschema:"For the GM: who sees the event."`
}

// dated are a timeline event's own fields.
type dated struct {
	Date      string `json:"date"`
	Precision string `json:"precision"`
	Sort      moment `json:"sort"`
}

// eventOf finds a timeline event in sight by its id.
func eventOf(ctx context.Context, l *canon.Snapshot, id ref) (canon.Card, error) {
	c, ok, err := l.ByID(ctx, id.card())
	if err == nil && (!ok || !isType(c, typeTimeline)) {
		err = absent("timeline event", id, "timeline_query")
	}
	return c, err
}

// eventsOf describes timeline events, with the entities that are in sight too.
func eventsOf(ctx context.Context, l *canon.Snapshot, cards []canon.Card) ([]event, error) {
	involved, err := involvedIn(ctx, l, cards)
	if err != nil {
		return nil, err
	}
	out := make([]event, len(cards))
	for i, c := range cards {
		var d dated
		_ = json.Unmarshal(c.Fields, &d) // written by another hand, it may say less
		content, err := l.Content(ctx, c)
		if err != nil {
			return nil, err
		}
		out[i] = event{c.ID, clean(d.Date), cmp.Or(clean(d.Precision), unknown), prose(ctx, c.Type, content), involved[c.ID], openTo(l, c.Label)}
		if out[i].Entities == nil {
			out[i].Entities = []mention{}
		}
	}
	return out, nil
}

// involvedIn are the entities in sight of each of some events, by name.
func involvedIn(ctx context.Context, l *canon.Snapshot, events []canon.Card) (map[canon.CardID][]mention, error) {
	if len(events) == 0 {
		return nil, nil
	}
	ids := make([]canon.CardID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	links, err := allLinks(ctx, l, canon.LinkQuery{Froms: ids, Kinds: []string{kindInvolves}})
	if err != nil {
		return nil, err
	}
	var others []canon.CardID
	for _, k := range links {
		others = append(others, k.To)
	}
	names, err := mentions(ctx, l, others)
	if err != nil {
		return nil, err
	}
	out := map[canon.CardID][]mention{}
	for _, k := range links {
		out[k.From] = append(out[k.From], names[k.To])
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b mention) int { return cmp.Or(cmp.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:])) })
	}
	return out, nil
}

// allLinks are all links that a query finds, up to canon.CountCap.
func allLinks(ctx context.Context, l *canon.Snapshot, q canon.LinkQuery) (all []canon.Link, err error) {
	for q.Page = (canon.Page{Limit: 1000}); q.Page.Offset < canon.CountCap; q.Page.Offset += q.Page.Limit {
		part, _, err := l.Links(ctx, q)
		if err != nil {
			return nil, err
		}
		if all = append(all, part...); len(part) < q.Page.Limit {
			break
		}
	}
	return all, nil
}

// period is a stretch of the timeline to look at.
type period struct {
	from, to *moment
}

// periodOf reads the bounds of a query. Each bound is all that its date covers: an end of
// 1926 is the end of that year.
func periodOf(cal calendar, start, end string) (p period, err error) {
	var wrong problems
	read := func(field, text string, pick func(span) moment) *moment {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		s, err := cal.read(text)
		if err != nil {
			wrong.add(field, "%v", err)
			return nil
		}
		m := pick(s)
		return &m
	}
	p.from = read("start_date", start, func(s span) moment { return s.from })
	p.to = read("end_date", end, func(s span) moment { return s.to })
	if err := wrong.err(); err != nil {
		return p, err
	}
	if p.from != nil && p.to != nil && *p.from > *p.to {
		return p, fault.BadField("end_date", "must not lie before start_date")
	}
	return p, nil
}

// bounded reports whether a period leaves out what has no date.
func (p period) bounded() bool { return p.from != nil || p.to != nil }

// filter are the events that begin in a period.
func (p period) filter() canon.Filter {
	f := canon.Filter{Type: typeTimeline, Sort: canon.SortField}
	if p.from != nil {
		f.SortFrom = whole(*p.from)
	}
	switch {
	case p.to != nil:
		f.SortTo = whole(*p.to)
	case p.from != nil:
		f.SortTo = whole(undated - 1)
	}
	return f
}

func whole(m moment) *int64 {
	n := int64(m)
	return &n
}

// covering are the events that begin before a period and yet may lie in it, since their
// date is coarser than its beginning: "1926" of a period from March 1926 on. Such a date
// begins exactly where its year, month or day does.
func (p period) covering(ctx context.Context, l *canon.Snapshot) ([]canon.Card, error) {
	if p.from == nil {
		return nil, nil
	}
	var out []canon.Card
	for _, at := range floors(*p.from) {
		f := period{&at, &at}.filter()
		cards, _, err := l.Cards(ctx, f, canon.Page{Limit: 1000})
		if err != nil {
			return nil, err
		}
		out = append(out, cards...)
	}
	return out, nil
}

// within lists the events of a period, earliest first, and counts them.
func (p period) within(ctx context.Context, l *canon.Snapshot, pg canon.Page) ([]canon.Card, canon.Total, error) {
	first, err := p.covering(ctx, l)
	if err != nil {
		return nil, canon.Total{}, err
	}
	head := first[min(pg.Offset, len(first)):min(pg.Offset+pg.Limit, len(first))]
	rest := canon.Page{Limit: pg.Limit - len(head), Offset: max(pg.Offset-len(first), 0)}
	asked := rest
	asked.Limit = max(asked.Limit, 1) // the total is wanted even where no row is
	cards, total, err := l.Cards(ctx, p.filter(), asked)
	total.Count += len(first)
	return append(slices.Clone(head), cards[:min(rest.Limit, len(cards))]...), total, err
}

// of lists the events of a period in which an entity is involved, earliest first.
func (p period) of(ctx context.Context, l *canon.Snapshot, entity canon.CardID) ([]canon.Card, error) {
	links, err := allLinks(ctx, l, canon.LinkQuery{To: entity, Kinds: []string{kindInvolves}})
	if err != nil {
		return nil, err
	}
	ids := make([]canon.CardID, len(links))
	for i, k := range links {
		ids[i] = k.From
	}
	cards, err := l.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	cards = slices.DeleteFunc(cards, func(c canon.Card) bool { return !isType(c, typeTimeline) || !p.touches(sortOf(c)) })
	slices.SortFunc(cards, func(a, b canon.Card) int {
		return cmp.Or(cmp.Compare(sortOf(a), sortOf(b)), cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return cards, nil
}

// touches reports whether an event that begins at a moment may lie in the period.
func (p period) touches(m moment) bool {
	switch {
	case !p.bounded():
		return true
	case m >= undated:
		return false
	case p.to != nil && m > *p.to:
		return false
	}
	return p.from == nil || m >= *p.from || slices.Contains(floors(*p.from), m)
}

// sortOf is the moment that an event's card sorts by.
func sortOf(c canon.Card) moment {
	d := dated{Sort: undated}
	_ = json.Unmarshal(c.Fields, &d) // written by another hand, it may say less
	return d.Sort
}
