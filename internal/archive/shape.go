package archive

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/slicesx"
	"loregate/internal/surface"
)

// summary is a card in a list.
type summary struct {
	Name          string        `json:"name"`
	ID            canon.CardID  `json:"id"`
	Type          string        `json:"type"`
	UpdatedAt     surface.Stamp `json:"updated_at"`
	Version       uint32        `json:"version"`
	ContentLength int           `json:"content_length" jsonschema:"Characters of content. Of an attached file, for game masters: its bytes."`
	Level         string        `json:"level,omitzero" jsonschema:"Who may see the card; shown to gm and up."`
}

func summaryFromCard(l *canon.Snapshot, c canon.Card) summary {
	return summary{Name: c.Name, ID: c.ID, Type: c.Type, UpdatedAt: surface.Stamp(c.UpdatedAt),
		Version: c.Version(l.View()), ContentLength: shownLength(l, c.Type, c.Length), Level: shownLevel(l, c.Label)}
}

func summariesFromCards(l *canon.Snapshot, cards []canon.Card) []summary {
	return slicesx.Map(cards, func(c canon.Card) summary { return summaryFromCard(l, c) })
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
	Limit  int `json:"limit,omitzero" default:"50" min:"1" max:"100" jsonschema:"Maximum number of entries to return."`
	Offset int `json:"offset,omitzero" default:"0" min:"0" jsonschema:"Entries to skip: next_offset of the page before."`
}

func (p page) toCanonPage() canon.Page { return canon.Page{Limit: p.Limit, Offset: p.Offset} }

// paged describes the part of a list that an answer has.
type paged struct {
	surface.Count
	Limit  int `json:"limit"`
	Offset int `json:"offset"`
	op.NextPage
}

// pagedAt describes a page of n entries.
func pagedAt(p page, t canon.Total, n int) paged {
	count, next := surface.PageAt(p.toCanonPage(), t, n)
	return paged{count, p.Limit, p.Offset, next}
}

// pageOf cuts a page out of a complete list.
func pageOf[T any](all []T, p page, atLeast bool) ([]T, paged) {
	rows := surface.Slice(all, p.toCanonPage())
	return rows, pagedAt(p, canon.Total{Count: len(all), AtLeast: atLeast}, len(rows))
}

// cardList is a page of cards.
type cardList struct {
	Cards []summary `json:"cards"`
	paged
}

// shownLength returns the length of a content for readers. Below a game master a file has none: its size would
// tell that the file has data which its reader does not get.
func shownLength(l *canon.Snapshot, typ string, length int) int {
	if canon.TextOf(typ) == canon.TextFile && l.View().Level < access.LevelGM {
		return 0
	}
	return length
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
