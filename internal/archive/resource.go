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
		Least:    access.RoleUser,
		Read:     d.readCard,
		List:     d.listCards,
		Complete: d.completeCard,
	}}
}

// readCard finds what is hidden and what is absent alike: no name is refused by itself
// here.
func (d *deps) readCard(ctx context.Context, c *op.Call, vars map[string]string) (content op.Content, err error) {
	err = d.canon.Look(ctx, c.Grant, func(l *canon.Look) error {
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

// listedPage is how many cards one page of the resource list has.
const listedPage = 50

// listCards lists the cards at the top, by name.
func (d *deps) listCards(ctx context.Context, c *op.Call, offset int) (items []op.Listed, more int, err error) {
	err = d.canon.Look(ctx, c.Grant, func(l *canon.Look) error {
		cards, total, err := l.Cards(ctx, canon.Filter{Roots: true}, canon.Page{Limit: listedPage, Offset: offset})
		if err != nil {
			return err
		}
		for _, card := range cards {
			items = append(items, op.Listed{URI: cardURI(card.Name), Name: card.Name, Title: card.Name,
				Size: int64(card.Size), Modified: card.UpdatedAt})
		}
		if next := pagedAt(page{listedPage, offset}, total, len(cards)).NextOffset; next != nil {
			more = *next
		}
		return nil
	})
	return items, more, err
}

// completions is how many names a completion gives.
const completions = 20

func (d *deps) completeCard(ctx context.Context, c *op.Call, _, prefix string) (names []string, err error) {
	err = d.canon.Look(ctx, c.Grant, func(l *canon.Look) error {
		names, err = l.Complete(ctx, prefix, completions)
		return err
	})
	return names, err
}
