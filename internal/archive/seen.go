package archive

import (
	"context"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/surface"
)

// seenBefore tells a game master who had read the data that a change hides.
type seenBefore struct {
	SeenBy  []hadRead `json:"seen_by,omitzero" jsonschema:"For game masters, of a change that hides: those who were shown the card while they could read what is hidden now, the latest first. They may remember it."`
	Unknown bool      `json:"seen_by_unknown,omitzero" jsonschema:"The records of readers could not be read: seen_by is missing."`
}

// hadRead is somebody who was shown a card before it was hidden.
type hadRead struct {
	Who   access.Subject `json:"who"`
	Times int            `json:"times" jsonschema:"Number of answers that held the card."`
	Last  surface.Stamp  `json:"last"`
}

// hidden is data that a change hides from some readers.
type hidden struct {
	card  canon.CardID     // that showed the data
	since time.Time        // when it began to; zero: always
	from  []access.Subject // the readers who lose it; nil: all who do not see the label
	label access.Label     // that the data gets
}

// findReaders lists those who had read data that a call hides, without the caller.
func (d *deps) findReaders(ctx context.Context, c *op.Call, all []hidden) (out seenBefore) {
	if c.Grant.Role() < access.RoleGM {
		return out
	}
	for _, h := range all {
		seen, err := d.Canon.SeenBy(ctx, c.Grant, []canon.CardID{h.card}, h.since)
		if err != nil {
			d.logger.WarnContext(ctx, "the records of readers cannot be read", "error", err)
			return seenBefore{Unknown: true}
		}
		for _, s := range seen {
			view := access.View{Level: s.Role.Level(), Subject: s.Subject}
			if s.Subject != c.Grant.Caller().Subject && !view.Sees(h.label) &&
				(h.from == nil || slices.Contains(h.from, s.Subject)) {
				out.add(s)
			}
		}
	}
	slices.SortStableFunc(out.SeenBy, func(a, b hadRead) int { return time.Time(b.Last).Compare(time.Time(a.Last)) })
	out.SeenBy = out.SeenBy[:min(len(out.SeenBy), maxListed)]
	return out
}

func (o *seenBefore) add(s access.Seen) {
	i := slices.IndexFunc(o.SeenBy, func(r hadRead) bool { return r.Who == s.Subject })
	if i < 0 {
		o.SeenBy = append(o.SeenBy, hadRead{s.Subject, s.Times, surface.Stamp(s.Last)})
		return
	}
	r := &o.SeenBy[i]
	r.Times += s.Times
	if s.Last.After(time.Time(r.Last)) {
		r.Last = surface.Stamp(s.Last)
	}
}

// readableSince returns the time since which the open text of a card has had one of some passages; the zero time if
// that is longer ago than its latest versions.
func readableSince(ctx context.Context, l *canon.Snapshot, c canon.Card, passages []string) (since time.Time,
	err error) {
	versions, _, err := l.Versions(ctx, c.ID, canon.Page{Limit: maxListed})
	if err != nil {
		return since, err
	}
	for _, v := range versions {
		text, err := l.Body(ctx, v.Content)
		if err != nil {
			return since, err
		}
		if !slices.ContainsFunc(passages, func(p string) bool { return strings.Contains(text, p) }) {
			return since, nil
		}
		since = v.At
	}
	if len(versions) == maxListed {
		since = time.Time{}
	}
	return since, nil
}
