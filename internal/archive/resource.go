package archive

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// newResources returns the resources: each card as a document.
func newResources(d *deps) []*op.Resource {
	return []*op.Resource{{
		Template: "archive://card/{name}",
		Name:     "card",
		Title:    "Card",
		Doc:      "A card of the wiki as Markdown, as you may see it, with nested cards shown in place.",
		MIME:     "text/markdown",
		Surfaces: []string{Surface},
		MinRole:  access.RoleUser,
		Read:     d.readCardResource,
		List:     d.listCardResources,
		Complete: d.completeCardName,
	}}
}

// readCardResource gives the same error for hidden and for missing cards: it has no name gate.
func (d *deps) readCardResource(ctx context.Context, c *op.Call,
	vars map[string]string) (content op.Content, err error) {
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

// maxListedCards is the highest number of cards in the resource list.
const maxListedCards = 25

// listCardResources lists the starter card of the world's settings, and root cards that changed
// lately.
func (d *deps) listCardResources(ctx context.Context, c *op.Call) (items []op.Listed, err error) {
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
			if card.Parent.IsZero() && len(items) < maxListedCards {
				add(card, true)
			}
		}
		return err
	})
	return items, err
}

// maxCompletions is the highest number of names in a completion.
const maxCompletions = 20

func (d *deps) completeCardName(ctx context.Context, c *op.Call, _, prefix string) (names []string, err error) {
	err = d.canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		names, err = l.Complete(ctx, prefix, maxCompletions)
		return err
	})
	return names, err
}
