package archive

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/surface"
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

// readCardResource gives the same error for hidden and for missing cards: it does not check the name rules.
func (d *deps) readCardResource(ctx context.Context, c *op.Call, vars map[string]string) (op.Content, error) {
	return surface.Read(ctx, d.Kit, c, func(l *canon.Snapshot) (op.Content, error) {
		card, err := l.Find(ctx, vars["name"])
		if err != nil {
			return op.Content{}, err
		}
		text, err := renderMarkdown(ctx, l, card)
		return op.Content{Text: text, Modified: card.UpdatedAt}, err
	})
}

// maxListedCards is the highest number of cards in the resource list.
const maxListedCards = 25

// listCardResources lists the starter card of the world's settings, and root cards that changed
// lately.
func (d *deps) listCardResources(ctx context.Context, c *op.Call) ([]op.Listed, error) {
	return surface.Read(ctx, d.Kit, c, func(l *canon.Snapshot) (items []op.Listed, err error) {
		if name := l.World().Settings.Starter; name != "" {
			card, ok, err := l.Exists(ctx, name)
			if err != nil {
				return nil, err
			}
			if ok {
				items = append(items, listedCard(card, false))
			}
		}
		recent, err := l.Recent(ctx)
		for _, card := range recent {
			if card.Parent.IsZero() && len(items) < maxListedCards {
				items = append(items, listedCard(card, true))
			}
		}
		return items, err
	})
}

func listedCard(c canon.Card, recent bool) op.Listed {
	return op.Listed{URI: cardURI(c.Name), Name: c.Name, Title: c.Name, Size: int64(c.Size), Modified: c.UpdatedAt,
		Thing: c.ID.String(), Recent: recent}
}

// maxCompletions is the highest number of names in a completion.
const maxCompletions = 20

func (d *deps) completeCardName(ctx context.Context, c *op.Call, _, prefix string) ([]string, error) {
	return surface.Read(ctx, d.Kit, c, func(l *canon.Snapshot) ([]string, error) {
		return l.Complete(ctx, prefix, maxCompletions)
	})
}
