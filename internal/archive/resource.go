package archive

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// resources are the cards as documents.
func resources(d *deps) []*op.Resource {
	return []*op.Resource{{
		Template: "archive://card/{name}",
		Name:     "card",
		Title:    "Card",
		Doc:      "A card of the wiki as Markdown, as you may see it, with nested cards shown in place.",
		MIME:     "text/markdown",
		Surfaces: []string{Surface},
		MinRole:  access.RoleUser,
		Read:     d.readCard,
		List:     d.listCards,
		Complete: d.completeCard,
	}}
}

// readCard finds what is hidden and what is absent alike: no name is refused by itself
// here.
func (d *deps) readCard(ctx context.Context, c *op.Call, vars map[string]string) (content op.Content, err error) {
	err = d.canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		card, err := l.Find(ctx, vars["name"])
		if err != nil {
			return err
		}
		text, err := renderMarkdown(ctx, l, card)
		content = op.Content{Text: text, Modified: card.UpdatedAt}
		return err
	})
	return content, err
}

// listedCards is how many cards the resource list has at most.
const listedCards = 25

// listCards lists the card that the world's settings begin with, and those at the top that
// changed lately.
func (d *deps) listCards(ctx context.Context, c *op.Call) (items []op.Listed, err error) {
	add := func(card canon.Card, recent bool) {
		items = append(items, op.Listed{URI: cardURI(card.Name), Name: card.Name, Title: card.Name,
			Size: int64(card.Size), Modified: card.UpdatedAt, Thing: card.ID.String(), Recent: recent})
	}
	err = d.canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		if name := l.World().Settings.Starter; name != "" {
			card, ok, err := l.Exists(ctx, name)
			if err != nil {
				return err
			}
			if ok {
				add(card, false)
			}
		}
		recent, err := l.Recent(ctx)
		for _, card := range recent {
			if card.Parent.IsZero() && len(items) < listedCards {
				add(card, true)
			}
		}
		return err
	})
	return items, err
}

// completions is how many names a completion gives.
const completions = 20

func (d *deps) completeCard(ctx context.Context, c *op.Call, _, prefix string) (names []string, err error) {
	err = d.canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		names, err = l.Complete(ctx, prefix, completions)
		return err
	})
	return names, err
}
