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
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// kindInvolves is the kind of link from a timeline event to an entity.
const kindInvolves = "involves"

// unknown is the precision of an event without a date.
const unknown = "unknown"

// event is an event of the timeline.
type event struct {
	ID          canon.CardID `json:"id"`
	Date        string       `json:"date" jsonschema:"As written, in the campaign's calendar."`
	Precision   string       `json:"precision"`
	Description string       `json:"description"`
	Entities    []mention    `json:"entities"`
	KnownTo     knownTo      `json:"known_to,omitzero" jsonschema:"For the GM: who sees the event."`
}

// eventFields are the fields of a timeline event's card.
type eventFields struct {
	Date      string `json:"date"`
	Precision string `json:"precision"`
	Sort      moment `json:"sort"`
}

// eventOf returns the visible timeline event with an id.
func eventOf(ctx context.Context, l *canon.Snapshot, id ref) (canon.Card, error) {
	c, ok, err := l.ByID(ctx, id.toCardID())
	if err == nil && (!ok || !isType(c, typeTimeline)) {
		err = absentFault("timeline event", id, "timeline_query")
	}
	return c, err
}

// eventsOf describes timeline events with their visible entities.
func eventsOf(ctx context.Context, l *canon.Snapshot, cards []canon.Card) ([]event, error) {
	involved, err := involvedIn(ctx, l, cards)
	if err != nil {
		return nil, err
	}
	out := make([]event, len(cards))
	for i, c := range cards {
		var d eventFields
		_ = json.Unmarshal(c.Fields, &d) // a card edited by hand may lack fields
		content, err := l.Content(ctx, c)
		if err != nil {
			return nil, err
		}
		out[i] = event{c.ID, markup.Clean(d.Date), cmp.Or(markup.Clean(d.Precision), unknown),
			toMarkdown(ctx, c.TextKind(), content), involved[c.ID], shownTo(l, c.Label)}
		if out[i].Entities == nil {
			out[i].Entities = []mention{}
		}
	}
	return out, nil
}

// involvedIn returns the visible entities of each event, by name.
func involvedIn(ctx context.Context, l *canon.Snapshot, events []canon.Card) (map[canon.CardID][]mention, error) {
	if len(events) == 0 {
		return nil, nil
	}
	ids := slicesx.Map(events, func(e canon.Card) canon.CardID { return e.ID })
	q := canon.LinkQuery{Froms: ids, Kinds: []string{kindInvolves}}
	links, _, err := canon.CollectUpTo(l.AllLinks(ctx, q), canon.CountCap)
	if err != nil {
		return nil, err
	}
	var others []canon.CardID
	for _, k := range links {
		others = append(others, k.To)
	}
	names, err := mentionsByID(ctx, l, others)
	if err != nil {
		return nil, err
	}
	out := map[canon.CardID][]mention{}
	for _, k := range links {
		out[k.From] = append(out[k.From], names[k.To])
	}
	for _, list := range out {
		slices.SortFunc(list,
			func(a, b mention) int { return cmp.Or(cmp.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:])) })
	}
	return out, nil
}

// period is a part of the timeline; a nil bound is open.
type period struct {
	from, to *moment
}

// periodOf parses the bounds of a query. A bound covers its whole date: the end 1926 is the end of
// that year.
func periodOf(cal calendar, start, end string) (p period, err error) {
	var wrong problems
	read := func(field, text string, pick func(span) moment) *moment {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		s, err := cal.parseDate(text)
		if err != nil {
			wrong.Add(field, "%v", err)
			return nil
		}
		m := pick(s)
		return &m
	}
	p.from = read("start_date", start, func(s span) moment { return s.from })
	p.to = read("end_date", end, func(s span) moment { return s.to })
	if err := wrong.Err(); err != nil {
		return p, err
	}
	if p.from != nil && p.to != nil && *p.from > *p.to {
		return p, fault.BadField("end_date", "must not be earlier than start_date")
	}
	return p, nil
}

// isBounded reports whether the period excludes events without a date.
func (p period) isBounded() bool { return p.from != nil || p.to != nil }

// toFilter returns the filter for events that begin in the period.
func (p period) toFilter() canon.Filter {
	f := canon.Filter{Type: typeTimeline, Sort: canon.SortField}
	if p.from != nil {
		f.SortFrom = sortValue(*p.from)
	}
	switch {
	case p.to != nil:
		f.SortTo = sortValue(*p.to)
	case p.from != nil:
		f.SortTo = sortValue(undated - 1)
	}
	return f
}

func sortValue(m moment) *int64 {
	n := int64(m)
	return &n
}

// coarserEvents returns the events that begin before the period but may lie in it, because their
// date is coarser than the period's beginning: "1926" for a period from March 1926 on. Such a date
// begins exactly at the beginning of the year, month or day.
func (p period) coarserEvents(ctx context.Context, l *canon.Snapshot) ([]canon.Card, error) {
	if p.from == nil {
		return nil, nil
	}
	var out []canon.Card
	for _, at := range coarserStarts(*p.from) {
		f := period{&at, &at}.toFilter()
		cards, _, err := l.Cards(ctx, f, canon.Page{Limit: 1000})
		if err != nil {
			return nil, err
		}
		out = append(out, cards...)
	}
	return out, nil
}

// eventsWithin returns a page of the events of a period, earliest first, and their total.
func (p period) eventsWithin(ctx context.Context, l *canon.Snapshot, pg canon.Page) ([]canon.Card, canon.Total, error) {
	first, err := p.coarserEvents(ctx, l)
	if err != nil {
		return nil, canon.Total{}, err
	}
	head := first[min(pg.Offset, len(first)):min(pg.Offset+pg.Limit, len(first))]
	rest := canon.Page{Limit: pg.Limit - len(head), Offset: max(pg.Offset-len(first), 0)}
	asked := rest
	asked.Limit = max(asked.Limit, 1) // the total is needed even if no row is
	cards, total, err := l.Cards(ctx, p.toFilter(), asked)
	total.Count += len(first)
	return append(slices.Clone(head), cards[:min(rest.Limit, len(cards))]...), total, err
}

// eventsInvolving returns the events of a period that involve an entity, earliest first.
func (p period) eventsInvolving(ctx context.Context, l *canon.Snapshot, entity canon.CardID) ([]canon.Card, error) {
	q := canon.LinkQuery{To: entity, Kinds: []string{kindInvolves}}
	links, _, err := canon.CollectUpTo(l.AllLinks(ctx, q), canon.CountCap)
	if err != nil {
		return nil, err
	}
	ids := slicesx.Map(links, func(k canon.Link) canon.CardID { return k.From })
	cards, err := l.ByIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	cards = slices.DeleteFunc(cards,
		func(c canon.Card) bool { return !isType(c, typeTimeline) || !p.canContain(sortOf(c)) })
	slices.SortFunc(cards, func(a, b canon.Card) int {
		return cmp.Or(cmp.Compare(sortOf(a), sortOf(b)), cmp.Compare(a.Key, b.Key), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return cards, nil
}

// canContain reports whether an event that begins at m may lie in the period.
func (p period) canContain(m moment) bool {
	switch {
	case !p.isBounded():
		return true
	case m >= undated:
		return false
	case p.to != nil && m > *p.to:
		return false
	}
	return p.from == nil || m >= *p.from || slices.Contains(coarserStarts(*p.from), m)
}

// sortOf returns the moment by which an event's card is sorted.
func sortOf(c canon.Card) moment {
	d := eventFields{Sort: undated}
	_ = json.Unmarshal(c.Fields, &d) // a card edited by hand may lack fields
	return d.Sort
}
