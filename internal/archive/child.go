package archive

import (
	"cmp"
	"context"
	"math"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func childReads(d *deps) []*op.Operation {
	return []*op.Operation{surface.DefineRead(d.Kit, op.Spec{
		Name: "list_children",
		Asked: []string{
			"subpages under a page", "filed below it", "parts or chapters of an entry",
			"items that belong to a page", "belongs under it", "pages inside a page", "inside a folder or book",
			"sections filed beneath", "hangs below it", "pages filed under another", "subpages of an article",
			"parts that belong to an entry", "contents of a section",
		},
		Cacheable: true,
		Title:     "List the cards below a card",
		Doc: "List the cards below a card: names, types and ids, without content. " +
			"Children come in the order of a parent that lists them (a Pointer or List), then by creation; with depth above 1, generation by generation.",
		Route:  "GET /api/mcp/cards/{name}/children",
		Target: "name",
		Examples: []op.Example{
			{Title: "Direct children", Input: `{"name": "The Kept Light"}`},
			{Title: "Three generations", Input: `{"name": "Registry House", "depth": 3, "limit": 100}`},
		},
	}, listChildren)}
}

type childrenIn struct {
	namedCard
	Depth          int  `json:"depth,omitzero" default:"1" min:"1" max:"5" jsonschema:"Generations to list; 1 is the direct children."`
	IncludeVirtual bool `json:"include_virtual,omitzero" default:"true" jsonschema:"false leaves out cards that have neither content nor fields."`
	page
}

// child is a card below another.
type child struct {
	childName
	Depth    int    `json:"depth" jsonschema:"1 for a direct child."`
	Position int    `json:"position" jsonschema:"Position among the children of its own parent, from 1."`
	Level    string `json:"level,omitzero" jsonschema:"Who may see the card; shown to gm and up."`

	updated surface.Stamp
	filled  bool
}

type childrenOut struct {
	Parent     string  `json:"parent"`
	Children   []child `json:"children"`
	Depth      int     `json:"depth"`
	ChildCount int     `json:"child_count" jsonschema:"Cards directly below that you may see."`
	paged
}

func listChildren(ctx context.Context, l *canon.Snapshot, _ *op.Call, in childrenIn) (childrenOut, error) {
	parent, err := findCard(ctx, l, in.Name)
	if err != nil {
		return childrenOut{}, err
	}
	out := childrenOut{Parent: parent.Name, Depth: in.Depth}
	if in.Depth == 1 && in.IncludeVirtual && canon.TextOf(parent.Type) != canon.TextItems {
		err = plainChildren(ctx, l, parent, in.page, &out)
	} else {
		err = treeBelow(ctx, l, parent, in, &out)
	}
	return out, err
}

// plainChildren lists direct children in order of creation.
func plainChildren(ctx context.Context, l *canon.Snapshot, parent canon.Card, p page, out *childrenOut) error {
	cards, total, err := l.Descendants(ctx, parent.ID, 1, p.toCanonPage())
	if err != nil {
		return err
	}
	out.Children = make([]child, len(cards))
	for i, c := range cards {
		out.Children[i] = childOf(l, c, 1, p.Offset+i+1)
	}
	out.ChildCount, out.paged = total.Count, pagedAt(p, total, len(cards))
	return nil
}

func childOf(l *canon.Snapshot, c canon.Card, depth, position int) child {
	return child{childName{c.Name, c.Type, c.ID}, depth, position, shownLevel(l, c.Label), surface.Stamp(c.UpdatedAt),
		c.Length > 0 || len(c.Fields) > 0}
}

// maxTree bounds the number of cards that are sorted for one listing.
const maxTree = 5000

// treeBelow lists the cards below parent generation by generation, and each card's children in the
// order in which that card lists them.
func treeBelow(ctx context.Context, l *canon.Snapshot, parent canon.Card, in childrenIn, out *childrenOut) error {
	cards, more, err := canon.CollectUpTo(l.AllDescendants(ctx, parent.ID, in.Depth), maxTree)
	if err != nil {
		return err
	}
	if more {
		if in.Depth == 1 {
			return plainChildren(ctx, l, parent, in.page, out)
		}
		return fault.BadField("depth",
			"there are more than %d cards below %q at this depth; list it with depth 1, then list its children", maxTree,
			parent.Name)
	}
	byParent := map[canon.CardID][]canon.Card{}
	for _, c := range cards {
		byParent[c.Parent] = append(byParent[c.Parent], c)
	}
	var rows []child
	generation := []canon.Card{parent}
	for depth := 1; depth <= in.Depth && len(generation) > 0; depth++ {
		var below []canon.Card
		for _, p := range generation {
			siblings, err := inOrder(ctx, l, p, byParent[p.ID])
			if err != nil {
				return err
			}
			for i, c := range siblings {
				rows = append(rows, childOf(l, c, depth, i+1))
			}
			below = append(below, siblings...)
		}
		generation = below
	}
	if !in.IncludeVirtual {
		rows = slices.DeleteFunc(rows, func(c child) bool { return !c.filled })
	}
	for _, c := range rows {
		if c.Depth == 1 {
			out.ChildCount++
		}
	}
	out.Children, out.paged = pageOf(rows, in.page, false)
	return nil
}

// inOrder sorts children, given in order of creation, by the items that their parent lists.
func inOrder(ctx context.Context, l *canon.Snapshot, parent canon.Card, children []canon.Card) ([]canon.Card, error) {
	if len(children) < 2 || canon.TextOf(parent.Type) != canon.TextItems {
		return children, nil
	}
	content, err := l.Content(ctx, parent)
	if err != nil {
		return nil, err
	}
	place := map[markup.Key]int{}
	for i, item := range markup.Items(content) {
		if key := markup.KeyOf(markup.Resolve(item, parent.Name)); place[key] == 0 {
			place[key] = i + 1
		}
	}
	at := func(c canon.Card) int {
		if n := place[c.Key]; n > 0 {
			return n
		}
		return math.MaxInt
	}
	slices.SortStableFunc(children, func(a, b canon.Card) int { return cmp.Compare(at(a), at(b)) })
	return children, nil
}
