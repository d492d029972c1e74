package canon

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"loregate/internal/markup"
)

// eachRoot calls f for every living card without a parent. It collects the list first.
func (p *projector) eachRoot(ctx context.Context, f func(Card) error) error {
	roots, err := Collect(pages(ctx, pageSize, func(page Page) ([]Card, Total, error) {
		return p.tx.Cards(ctx, p.all(), Filter{Roots: true, Sort: SortCreated}, page)
	}))
	if err != nil {
		return err
	}
	for _, c := range roots {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

// findParent returns the parent with an id; for a zero id, the zero Card. If the parent is not a
// living card, it returns movedFault.
func (p *projector) findParent(ctx context.Context, id CardID) (Card, error) {
	if id.IsZero() {
		return Card{}, nil
	}
	c, ok := p.known[id]
	if !ok {
		var err error
		if c, ok, err = First(p.tx.FindCards(ctx, p.all(), CardQuery{ID: id})); err != nil {
			return Card{}, err
		}
	}
	if !ok || c.Trashed() {
		return Card{}, movedFault()
	}
	return c, nil
}

// adoptOrphans makes a new card the parent of the living cards below its name that have no nearer
// ancestor. If the parent of the new card was created by the same commit, only cards of this commit
// can be below it.
func (p *projector) adoptOrphans(ctx context.Context, c Card) error {
	if p.made[c.Parent] && !p.partsBelow {
		return nil
	}
	own := markup.KeyOf(c.Part)
	below := pages(ctx, pageSize, func(page Page) ([]Card, Total, error) {
		return p.tx.Cards(ctx, p.all(), Filter{Below: c.Key, TagLists: true}, page)
	})
	for o, err := range below { // adoption changes no key, so the pages stay the same
		if err != nil {
			return err
		}
		part := markup.KeyOf(o.Part)
		if o.Parent != c.Parent || part == own || !part.HasPrefix(own) || !o.Label.Meet(c.Label).Equal(o.Label) {
			continue
		}
		p.partsBelow = true
		o.Part = markup.Join(markup.Parts(o.Part)[len(markup.Parts(c.Part)):]...)
		if err := p.updatePlacement(ctx, o, c); err != nil {
			return err
		}
	}
	return nil
}

// updatePlacement recomputes a living card's name, key and label from its parent, without a new
// version, and then those of the cards below it.
func (p *projector) updatePlacement(ctx context.Context, c, parent Card) error {
	settings, err := p.loadSettings(ctx)
	if err != nil {
		return err
	}
	was := c
	placeUnder(&c, parent, settings)
	if c.Name == was.Name && c.Label.Equal(was.Label) && c.Parent == was.Parent {
		if p.nameRulesChanged {
			return p.updatePlacementBelow(ctx, c)
		}
		return nil
	}
	if utf8.RuneCountInString(c.Name) > markup.MaxNameLength {
		return ruleFault("new_name", "a card below would have a name of more than %d characters; choose a shorter one",
			markup.MaxNameLength)
	}
	if err := p.relabelVersion(ctx, was, &c); err != nil {
		return err
	}
	if err := p.putCard(ctx, c); err != nil {
		return err
	}
	if err := p.indexCard(ctx, c); err != nil {
		return err
	}
	return p.updatePlacementBelow(ctx, c)
}

// relabelVersion gives the card's current version the card's effective label. Levels that now see
// the card count this version. Older versions keep their labels.
func (p *projector) relabelVersion(ctx context.Context, was Card, c *Card) error {
	p.noteOpened(was, *c)
	if was.Label.Equal(c.Label) {
		return nil
	}
	for l := c.Label.Level; l < was.Label.Level; l++ {
		c.Counts[l-1]++
	}
	v, ok, err := p.tx.VersionByRev(ctx, p.world, c.ID, c.Rev)
	if err != nil || !ok {
		return fmt.Errorf("version %d of card %s: present %t: %w", c.Rev, c.ID, ok, err)
	}
	v.setLabel(*c)
	if err := p.tx.PutVersion(ctx, v); err != nil || !p.opensOnlyNow || was.Label.Covers(c.Label) {
		return err
	}
	return p.hidePast(ctx, *c)
}

// updatePlacementBelow updates the placement of the children of a card, and so of all cards below
// it.
func (p *projector) updatePlacementBelow(ctx context.Context, c Card) error {
	children, err := p.livingBelow(ctx, c, 1)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := p.updatePlacement(ctx, child, c); err != nil {
			return err
		}
	}
	return nil
}

// trashCard puts a card and everything below it in the trash.
func (p *projector) trashCard(ctx context.Context, c *Card) error {
	p.stampVersion(c)
	if err := p.putVersion(ctx, *c, true); err != nil {
		return err
	}
	below, err := p.livingBelow(ctx, *c, MaxNesting)
	if err != nil {
		return err
	}
	c.TrashedAt, c.TrashRoot = p.rec.At, c.ID
	for _, d := range append([]Card{*c}, below...) {
		d.TrashedAt, d.TrashRoot = p.rec.At, c.ID
		if err := p.putCard(ctx, d); err != nil {
			return err
		}
		if err := p.unindexCard(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// livingBelow returns the living cards below a card, down to a depth.
func (p *projector) livingBelow(ctx context.Context, c Card, depth int) ([]Card, error) {
	return Collect(pages(ctx, pageSize, func(page Page) ([]Card, Total, error) {
		return p.tx.Descendants(ctx, p.all(), c.ID, depth, page)
	}))
}

// MaxNesting bounds the depth of cards: a name has at most 255 characters, so at most 128 parts.
const MaxNesting = 128

// restoreCard takes a card out of the trash, with everything that was put there with it.
func (p *projector) restoreCard(ctx context.Context, c *Card) error {
	went, err := p.tx.FindCards(ctx, p.all(), CardQuery{TrashRoot: c.ID})
	if err != nil {
		return err
	}
	was := *c
	c.TrashedAt, c.TrashRoot = time.Time{}, CardID{}
	p.noteOpened(was, *c)
	if err := p.putNewVersion(ctx, c); err != nil {
		return err
	}
	up := map[CardID]Card{c.ID: *c}
	settings, err := p.loadSettings(ctx)
	if err != nil {
		return err
	}
	for _, d := range went {
		parent, ok := up[d.Parent]
		if d.ID == c.ID || !ok {
			continue
		}
		was := d
		d.TrashedAt, d.TrashRoot = time.Time{}, CardID{}
		placeUnder(&d, parent, settings)
		if err := p.relabelVersion(ctx, was, &d); err != nil {
			return err
		}
		if err := p.putCard(ctx, d); err != nil {
			return err
		}
		if err := p.indexCard(ctx, d); err != nil {
			return err
		}
		up[d.ID] = d
	}
	return nil
}
