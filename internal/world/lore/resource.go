package lore

import (
	"cmp"
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/world"
)

// factResource declares the resource that shows a fact.
func (l *Lore) factResource() *op.Resource {
	return &op.Resource{
		Template: "world://fact/{factId}",
		Name:     "fact",
		Title:    "Fact",
		Doc:      "A canonical fact of the world, as get-canonical-fact gives it.",
		MIME:     "application/json",
		Surfaces: onLore,
		MinRole:  access.RoleUser,
		Read:     l.readFact,
		List:     l.listFacts,
		Complete: l.completeFact,
	}
}

func (l *Lore) readFact(ctx context.Context, c *op.Call, vars map[string]string) (content op.Content, err error) {
	err = l.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		f, err := l.loadFact(ctx, l.world.Current(snap), vars["factId"])
		if err != nil {
			return err
		}
		if f == nil {
			return fault.New(fault.NotFound, "there is no fact %q; look for it with search-lore",
				markup.Clip(markup.Clean(vars["factId"]), 100))
		}
		text, err := op.Encode(f)
		content = op.Content{Text: string(text), Modified: f.CreatedUTC}
		if f.UpdatedUTC != nil {
			content.Modified = *f.UpdatedUTC
		}
		return err
	})
	return content, err
}

// maxListedFacts bounds the facts in the resource list.
const maxListedFacts = 10

// listFacts lists the facts that changed most recently.
func (l *Lore) listFacts(ctx context.Context, c *op.Call) (items []op.Listed, err error) {
	err = l.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		recent, err := snap.Recent(ctx)
		for _, card := range recent {
			if _, fact := l.types[markup.KeyOf(card.Type)]; fact && card.Codename != "" && len(items) < maxListedFacts {
				items = append(items, op.Listed{URI: "world://fact/" + card.Codename, Name: card.Codename,
					Title:    markup.Clean(card.Name),
					Modified: card.UpdatedAt, Thing: card.ID.String(), Recent: true})
			}
		}
		return err
	})
	return items, err
}

// completeFact returns the ids of facts whose id or name begins with prefix.
func (l *Lore) completeFact(ctx context.Context, c *op.Call, _, prefix string) (out []string, err error) {
	err = l.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
		cards, _, err := snap.Cards(ctx, l.factsFilter(), canon.Page{Limit: 1000})
		slices.SortFunc(cards, func(a, b canon.Card) int { return cmp.Compare(a.Codename, b.Codename) })
		out = world.CompleteCode(cards, prefix)
		return err
	})
	return out, err
}
