package archive

import (
	"cmp"
	"context"
	"encoding/json"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func typeReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "list_types",
			Asked: []string{
				"kinds of pages are there", "sorts of entries", "which categories can a page be",
				"sorts of pages could I make", "sorts of entry exist", "kinds that a page may be of",
				"sorts of articles that exist", "kinds to choose from for a new entry",
				"which templates of entries are known", "classes of pages",
			},
			Cacheable: true,
			Title:     "List card types",
			Doc:       "List the types that cards can have, before you create a card or filter by type.",
			Route:     "GET /api/mcp/types",
			Examples: []op.Example{{Title: "All types", Input: `{}`},
				{Title: "A page of them", Input: `{"limit": 20, "offset": 20}`}},
		}, listTypes),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "get_type",
			Asked: []string{
				"which fields does a kind of page have", "form of a character sheet page",
				"definition of a kind", "belongs into an entry of this sort",
				"which blanks does a character page have", "an entry of this kind contain",
				"blanks to fill in for such an entry", "fields of a kind of article", "explain one kind of page",
			},
			Cacheable: true,
			Title:     "Look up a card type",
			Doc:       "Look up one card type by name or codename: its id, its description, and the schema of its fields.",
			Route:     "GET /api/mcp/types/{name}",
			Examples:  []op.Example{{Title: "RichText", Input: `{"name": "RichText"}`}},
		}, getType),
	}
}

// cardType is a type that cards can have.
type cardType struct {
	Name        string          `json:"name"`
	ID          string          `json:"id"`
	Codename    string          `json:"codename"`
	Description string          `json:"description"`
	Common      bool            `json:"common" jsonschema:"Frequently used; prefer these."`
	Schema      json.RawMessage `json:"schema,omitzero" jsonschema:"JSON Schema of the fields of its cards."`
}

func typeOf(t canon.Type) cardType {
	return cardType{t.Name, t.ID, t.Codename, markup.Clean(t.Description), t.Common, t.Schema}
}

type typesIn struct {
	Limit  int `json:"limit,omitzero" min:"1" max:"1000" jsonschema:"Maximum number of types to return; default all."`
	Offset int `json:"offset,omitzero" min:"0" jsonschema:"Types to skip: next_offset of the page before."`
}

type typesOut struct {
	Types []cardType `json:"types"`
	paged
}

func listTypes(ctx context.Context, l *canon.Snapshot, _ *op.Call, in typesIn) (typesOut, error) {
	types, err := l.Types(ctx)
	if err != nil {
		return typesOut{}, err
	}
	all := make([]cardType, len(types))
	for i, t := range types {
		all[i] = typeOf(t)
		all[i].Schema = nil
	}
	in.Limit = cmp.Or(in.Limit, max(len(all), 1))
	var out typesOut
	out.Types, out.paged = pageOf(all, page(in), false)
	return out, nil
}

type typeIn struct {
	Name string `json:"name" minlen:"1" maxlen:"1020" jsonschema:"Name or codename of the type."`
}

func getType(ctx context.Context, l *canon.Snapshot, _ *op.Call, in typeIn) (cardType, error) {
	if err := checkNameRules(l, in.Name); err != nil {
		return cardType{}, err
	}
	t, err := l.Type(ctx, in.Name)
	if fault.KindOf(err) == fault.Rule && err != nil {
		return cardType{}, fault.New(fault.NotFound, "there is no type %q; list them with list_types",
			markup.Clean(markup.Clip(in.Name, markup.MaxNameLength)))
	}
	if err != nil {
		return cardType{}, err
	}
	return typeOf(t), nil
}
