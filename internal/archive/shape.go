package archive

import (
	"context"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// stamp is a time in an answer: RFC 3339, UTC, milliseconds.
type stamp time.Time

const stampForm = "2006-01-02T15:04:05.000Z"

// AppendText gives the stamp its JSON form.
func (s stamp) AppendText(b []byte) ([]byte, error) {
	return time.Time(s).UTC().AppendFormat(b, stampForm), nil
}

// MarshalText is AppendText to a new slice.
func (s stamp) MarshalText() ([]byte, error) { return s.AppendText(make([]byte, 0, len(stampForm))) }

// IsZero reports whether there is no time.
func (s stamp) IsZero() bool { return time.Time(s).IsZero() }

// Schema sets the stamp's format.
func (stamp) Schema(s *jsonschema.Schema) { s.Format = "date-time" }

// summary is a card in a list.
type summary struct {
	Name          string       `json:"name"`
	ID            canon.CardID `json:"id"`
	Type          string       `json:"type"`
	UpdatedAt     stamp        `json:"updated_at"`
	Version       uint32       `json:"version"`
	ContentLength int          `json:"content_length" jsonschema:"Characters of content; bytes of an attached file."`
	Level         string       `json:"level,omitzero" jsonschema:"Who may see the card; shown to gm and up."`
}

func summaryFromCard(l *canon.Snapshot, c canon.Card) summary {
	return summary{Name: c.Name, ID: c.ID, Type: c.Type, UpdatedAt: stamp(c.UpdatedAt), Version: c.Version(l.View()),
		ContentLength: c.Length, Level: shownLevel(l, c.Label)}
}

func summariesFromCards(l *canon.Snapshot, cards []canon.Card) []summary {
	list := make([]summary, len(cards))
	for i, c := range cards {
		list[i] = summaryFromCard(l, c)
	}
	return list
}

// shownLevel returns the level of a label if the caller may know of levels, else "".
func shownLevel(l *canon.Snapshot, label access.Label) string {
	if l.View().Level < access.LevelGM {
		return ""
	}
	return label.Level.String()
}

// page selects a part of a list.
type page struct {
	Limit  int `json:"limit,omitzero" default:"50" min:"1" max:"100" jsonschema:"Most entries to give."`
	Offset int `json:"offset,omitzero" default:"0" min:"0" jsonschema:"Entries to skip: next_offset of the page before."`
}

func (p page) toCanonPage() canon.Page { return canon.Page{Limit: p.Limit, Offset: p.Offset} }

// paged describes the part of a list that an answer has.
type paged struct {
	Total             int  `json:"total" jsonschema:"Entries in all that you may see."`
	TotalIsLowerBound bool `json:"total_is_lower_bound,omitzero" jsonschema:"There are more than total."`
	Limit             int  `json:"limit"`
	Offset            int  `json:"offset"`
	NextOffset        *int `json:"next_offset" jsonschema:"Offset of the next page; null at the end."`
}

// pagedAt describes a page of n entries.
func pagedAt(p page, t canon.Total, n int) paged {
	out := paged{Total: t.Count, TotalIsLowerBound: t.AtLeast, Limit: p.Limit, Offset: p.Offset}
	if next := p.Offset + n; n > 0 && (next < t.Count || t.AtLeast && n == p.Limit) {
		out.NextOffset = &next
	}
	return out
}

// pageOf cuts a page out of a complete list.
func pageOf[T any](all []T, p page, atLeast bool) ([]T, paged) {
	from := min(p.Offset, len(all))
	rows := all[from:min(from+p.Limit, len(all))]
	return rows, pagedAt(p, canon.Total{Count: len(all), AtLeast: atLeast}, len(rows))
}

// pageOverhead is about the number of bytes of an answer's members other than its rows.
const pageOverhead = 512

// shortenPage cuts a page to the rows that fit in budget bytes of JSON, but at least one, and
// returns the arguments of the next call; ok is false if all rows fit.
func shortenPage[T any](rows *[]T, p *paged, budget int) (next map[string]any, ok bool) {
	left := budget - pageOverhead
	for i, r := range *rows {
		b, err := json.Marshal(r)
		if err != nil {
			return nil, false
		}
		if left -= len(b) + 1; left < 0 && i > 0 {
			end := p.Offset + i
			*rows, p.NextOffset = (*rows)[:i], &end
			return map[string]any{"offset": end}, true
		}
	}
	return nil, false
}

// cardList is a page of cards.
type cardList struct {
	Cards []summary `json:"cards"`
	paged
}

// Cut shortens the list.
func (o cardList) Cut(budget int) (any, map[string]any, bool) {
	next, ok := shortenPage(&o.Cards, &o.paged, budget)
	return o, next, ok
}

// nextCall is the exact call that continues a truncated answer.
type nextCall struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// callOn returns a nextCall. It names the world if the caller's key opens several worlds.
func callOn(l *canon.Snapshot, tool string, args map[string]any) *nextCall {
	c := l.Grant().Caller()
	if c.Home.IsZero() && c.SeveralWorlds() {
		args["world"] = l.World().Slug
	}
	return &nextCall{tool, args}
}

// textPart returns the part of a text that begins at offset and has at most limit characters, and
// its end; both offsets count characters. If the text ends there, more is false and end is 0.
func textPart(text string, offset, limit int) (part string, end int, more bool) {
	if offset > 0 {
		text = text[len(markup.Clip(text, offset)):]
	}
	part, more = markup.Truncate(text, limit)
	if !more {
		return part, 0, false
	}
	return part, offset + utf8.RuneCountInString(part), true
}

// fitText returns the longest beginning of a text that takes at most budget bytes as JSON, but at
// least 256 characters. It cuts where textPart would cut.
func fitText(text string, budget int) string {
	n := 0
	for _, r := range text {
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\t' || r == '\r':
			budget -= 2
		case r < ' ':
			budget -= 6
		default:
			budget -= utf8.RuneLen(r)
		}
		if budget < 0 && n >= 256 {
			break
		}
		n++
	}
	part, _ := markup.Truncate(text, n)
	return part
}

// contentOf returns a card's content for readers: without invisible characters, and empty for an
// attached file. Every offset in an answer counts its characters.
func contentOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (string, error) {
	if canon.TextOf(c.Type) == canon.TextFile {
		return "", nil
	}
	text, err := l.Content(ctx, c)
	return markup.Clean(text), err
}

// fieldsOf returns a card's fields as a JSON object.
func fieldsOf(fields json.RawMessage) json.RawMessage {
	if len(fields) == 0 {
		return json.RawMessage("{}")
	}
	return json.RawMessage(markup.Clean(string(fields)))
}
