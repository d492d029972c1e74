package campaign

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/marked"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

// page selects a part of a list.
type page struct {
	Limit  int `json:"limit,omitzero" default:"20" min:"1" max:"100" jsonschema:"Maximum number of entries to return."`
	Offset int `json:"offset,omitzero" default:"0" min:"0" max:"1000000" jsonschema:"Entries to skip: next_offset of the page before."`
}

func (p page) toCanonPage() canon.Page { return canon.Page{Limit: p.Limit, Offset: p.Offset} }

// paged describes the part of a list that an answer has.
type paged struct {
	surface.Count
	op.NextPage
}

// pagedAt describes a page of n entries.
func pagedAt(p page, t canon.Total, n int) paged {
	count, next := surface.PageAt(p.toCanonPage(), t, n)
	return paged{count, next}
}

// pageOf cuts a page out of a complete list.
func pageOf[T any](all []T, p page) ([]T, paged) {
	rows := surface.Slice(all, p.toCanonPage())
	return rows, pagedAt(p, canon.Total{Count: len(all)}, len(rows))
}

// excerptLength is the number of characters of a description that a list shows.
const excerptLength = 200

// excerptOf returns the beginning of a card's content as plain text.
func excerptOf(ctx context.Context, l *canon.Snapshot, c canon.Card) (string, error) {
	content, err := l.Content(ctx, c)
	if err != nil {
		return "", err
	}
	text, cut := markup.Truncate(markup.Clean(canon.PlainText(c.TextKind(), content)), excerptLength)
	if cut {
		text += "…"
	}
	return text, nil
}

// toMarkdown returns a card's content as Markdown, in which its reader may edit it.
func toMarkdown(ctx context.Context, kind canon.TextKind, content string) string {
	switch kind {
	case canon.TextHTML:
		if md, err := marked.ToMarkdown(ctx, content); err == nil {
			return markup.Clean(md)
		}
		return markup.Clean(markup.Text(content))
	case canon.TextData, canon.TextFile:
		return ""
	}
	return markup.Clean(content)
}

// source is a text in Markdown that a call gives, and the text before.
type source struct {
	field, was, text string
	hidden           bool // players do not read it
}

// storedAs converts a text to content of a kind.
func (s source) storedAs(ctx context.Context, g access.Grant, kind canon.TextKind) (string, error) {
	if kind != canon.TextHTML {
		return markup.Clean(s.text), nil
	}
	md := s.text
	if !s.hidden {
		settled, err := canon.Settle(g, s.field, func() (string, error) { return s.was, nil }, md, canon.TextMarkdown)
		if err != nil {
			return "", err
		}
		md = settled
	}
	html, err := marked.ToHTML(ctx, md)
	if err != nil {
		return "", fault.BrokenRule(s.field, "%v", err)
	}
	return canon.Settled(html), nil
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
