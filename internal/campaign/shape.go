package campaign

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// stamp is a time in an answer: RFC 3339, UTC, milliseconds.
type stamp time.Time

// MarshalText gives the stamp its JSON form.
func (s stamp) MarshalText() ([]byte, error) {
	return time.Time(s).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000Z"), nil
}

// Schema sets the stamp's format.
func (stamp) Schema(s *jsonschema.Schema) { s.Format = "date-time" }

// page selects a part of a list.
type page struct {
	Limit  int `json:"limit,omitzero" default:"20" min:"1" max:"100" jsonschema:"Most entries to give."`
	Offset int `json:"offset,omitzero" default:"0" min:"0" max:"1000000" jsonschema:"Entries to skip: next_offset of the page before."`
}

func (p page) toCanonPage() canon.Page { return canon.Page{Limit: p.Limit, Offset: p.Offset} }

// paged describes the part of a list that an answer has.
type paged struct {
	Total             int  `json:"total" jsonschema:"Entries in all that you may see."`
	TotalIsLowerBound bool `json:"total_is_lower_bound,omitzero" jsonschema:"There are more than total."`
	NextOffset        *int `json:"next_offset" jsonschema:"Offset of the next page; null at the end."`

	offset int
}

// pagedAt describes a page of n entries.
func pagedAt(p page, t canon.Total, n int) paged {
	out := paged{Total: t.Count, TotalIsLowerBound: t.AtLeast, offset: p.Offset}
	if next := p.Offset + n; n > 0 && (next < t.Count || t.AtLeast && n == p.Limit) {
		out.NextOffset = &next
	}
	return out
}

// pageOf cuts a page out of a complete list.
func pageOf[T any](all []T, p page) ([]T, paged) {
	from := min(p.Offset, len(all))
	rows := all[from:min(from+p.Limit, len(all))]
	return rows, pagedAt(p, canon.Total{Count: len(all)}, len(rows))
}

// countFitting returns the number of rows that fit in budget bytes of JSON, but at least one.
func countFitting[T any](rows []T, budget int) int {
	left := budget - overhead
	for i, r := range rows {
		b, err := json.Marshal(r)
		if err != nil {
			return len(rows)
		}
		if left -= len(b) + 1; left < 0 && i > 0 {
			return i
		}
	}
	return len(rows)
}

// overhead is about the number of bytes of an answer's members other than its rows.
const overhead = 512

// shortenPage cuts a page to the rows that fit in budget bytes of JSON and returns the arguments of
// the next call; ok is false if all rows fit.
func shortenPage[T any](rows *[]T, p *paged, budget int) (next map[string]any, ok bool) {
	n := countFitting(*rows, budget)
	if n == len(*rows) {
		return nil, false
	}
	end := p.offset + n
	*rows, p.NextOffset = (*rows)[:n], &end
	return map[string]any{"offset": end}, true
}

// cleanText returns text for readers: without invisible characters.
func cleanText(s string) string { return markup.Clean(s) }

// excerptLength is the number of characters of a description that a list shows.
const excerptLength = 200

// excerptOf returns the beginning of a card's content as plain text.
func excerptOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (string, error) {
	content, err := l.Content(ctx, c)
	if err != nil {
		return "", err
	}
	text, cut := markup.Truncate(cleanText(canon.PlainText(c.Type, content)), excerptLength)
	if cut {
		text += "…"
	}
	return text, nil
}

// toMarkdown returns a card's content as Markdown.
func toMarkdown(ctx context.Context, typ, content string) string {
	switch canon.TextOf(typ) {
	case canon.TextHTML:
		if md, err := markup.ToMarkdown(ctx, content); err == nil {
			return cleanText(md)
		}
		return cleanText(markup.Text(content))
	case canon.TextData, canon.TextFile:
		return ""
	}
	return cleanText(content)
}

// storedFromMarkdown converts Markdown to the form in which a type stores it.
func storedFromMarkdown(ctx context.Context, field, typ, md string) (string, error) {
	if canon.TextOf(typ) != canon.TextHTML {
		return cleanText(md), nil
	}
	html, err := markup.ToHTML(ctx, md)
	if err != nil {
		return "", ruleFault(field, "%v", err)
	}
	return html, nil
}

// knownTo shows the GM the audience of an object: "gm", "all", "admin", or the named subjects.
type knownTo struct{ label access.Label }

// Schema sets the forms of a knownTo.
func (knownTo) Schema(s *jsonschema.Schema) {
	s.AnyOf = []*jsonschema.Schema{
		{Type: "string", Enum: []any{"gm", "all", "admin"}},
		{Type: "array", Items: &jsonschema.Schema{Type: "string"}},
	}
}

// MarshalJSON returns the word or the names.
func (k knownTo) MarshalJSON() ([]byte, error) {
	switch {
	case k.label.Level <= access.LevelUser:
		return []byte(`"all"`), nil
	case len(k.label.Subjects) > 0:
		return json.Marshal(k.label.Subjects)
	}
	return json.Marshal(k.label.Level.String())
}

// IsZero reports whether there is no label to show, as in answers to players.
func (k knownTo) IsZero() bool { return k.label.Level == access.LevelNone }

// shownTo returns the label if the caller may know of labels, else the zero value.
func shownTo(l *canon.Snapshot, label access.Label) knownTo {
	if l.View().Level < access.LevelGM {
		return knownTo{}
	}
	return knownTo{label}
}

// goneFault is the fault for a repeated call about an object that was deleted since.
func goneFault(what string) error {
	return fault.New(fault.NotFound,
		"%s that this call made is there no more; repeat it without the idempotency key", what)
}
