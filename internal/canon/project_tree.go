package canon

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"loregate/internal/markup"
)

// eachRoot calls f for every living card without a parent, on a stable listing.
func (p *projector) eachRoot(ctx context.Context, f func(Card) error) error {
	roots, err := whole(func(page Page) ([]Card, Total, error) {
		return p.tx.Cards(ctx, p.all(), Filter{Roots: true, Sort: SortCreated}, page)
	})
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

func (p *projector) parent(ctx context.Context, id CardID) (Card, error) {
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
		return Card{}, moved()
	}
	return c, nil
}

// adopt gives a new card the living cards below its name that had no parent between. Below
// a parent of the same commit there are none, but for those that the commit put there.
func (p *projector) adopt(ctx context.Context, c Card) error {
	if p.made[c.Parent] && !p.partsBelow {
		return nil
	}
	const page = 1000
	for from := 0; ; from += page { // adopting changes no key, so the pages stay as they are
		below, _, err := p.tx.Cards(ctx, p.all(), Filter{Below: c.Key}, Page{Limit: page, Offset: from})
		if err != nil {
			return err
		}
		if err := p.adoptOf(ctx, c, below); err != nil || len(below) < page {
			return err
		}
	}
}

// adoptOf takes in those of some cards below c's key that hang where c does.
func (p *projector) adoptOf(ctx context.Context, c Card, below []Card) error {
	own := markup.KeyOf(c.Part)
	for _, o := range below {
		part := markup.KeyOf(o.Part)
		if o.Parent != c.Parent || part == own || !part.HasPrefix(own) || !o.Label.Meet(c.Label).Equal(o.Label) {
			continue
		}
		p.partsBelow = true
		o.Part = markup.Join(markup.Parts(o.Part)[len(markup.Parts(c.Part)):]...)
		if err := p.settle(ctx, o, c); err != nil {
			return err
		}
	}
	return nil
}

// settle puts a living card where its parent says, without a new version, and then what
// lies below it.
func (p *projector) settle(ctx context.Context, c, parent Card) error {
	settings, err := p.settings(ctx)
	if err != nil {
		return err
	}
	was := c
	placeUnder(&c, parent, settings)
	if c.Name == was.Name && c.Label.Equal(was.Label) && c.Parent == was.Parent {
		if p.deep {
			return p.settleBelow(ctx, c)
		}
		return nil
	}
	if utf8.RuneCountInString(c.Name) > markup.MaxNameLength {
		return ruleFault("new_name", "a card below would have a name of more than %d characters; choose a shorter one", markup.MaxNameLength)
	}
	if err := p.relabel(ctx, was, &c); err != nil {
		return err
	}
	if err := p.put(ctx, c); err != nil {
		return err
	}
	if err := p.derive(ctx, c); err != nil {
		return err
	}
	return p.settleBelow(ctx, c)
}

// relabel lets the current version of a card follow its effective label. Levels that
// come to see the card count this version; older versions keep their labels.
func (p *projector) relabel(ctx context.Context, was Card, c *Card) error {
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
	v.relabel(*c)
	return p.tx.PutVersion(ctx, v)
}

func (p *projector) settleBelow(ctx context.Context, c Card) error {
	children, err := p.below(ctx, c, 1)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := p.settle(ctx, child, c); err != nil {
			return err
		}
	}
	return nil
}

// trash takes a card and everything below it out of sight.
func (p *projector) trash(ctx context.Context, c *Card) error {
	p.stamp(c)
	if err := p.version(ctx, *c, true); err != nil {
		return err
	}
	below, err := p.below(ctx, *c, maxNesting)
	if err != nil {
		return err
	}
	c.TrashedAt, c.TrashRoot = p.rec.At, c.ID
	for _, d := range append([]Card{*c}, below...) {
		d.TrashedAt, d.TrashRoot = p.rec.At, c.ID
		if err := p.put(ctx, d); err != nil {
			return err
		}
		if err := p.forget(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// below gives the living cards below one, down to a depth.
func (p *projector) below(ctx context.Context, c Card, depth int) ([]Card, error) {
	return whole(func(page Page) ([]Card, Total, error) { return p.tx.Descendants(ctx, p.all(), c.ID, depth, page) })
}

// whole collects all pages of a stable listing.
func whole(list func(Page) ([]Card, Total, error)) (all []Card, err error) {
	for page := (Page{Limit: 1000}); ; page.Offset += page.Limit {
		cards, _, err := list(page)
		if err != nil {
			return nil, err
		}
		if all = append(all, cards...); len(cards) < page.Limit {
			return all, nil
		}
	}
}

// maxNesting bounds how deep cards lie: a name has at most 255 characters.
const maxNesting = 128

// restore brings a card back with everything that went to the trash with it.
func (p *projector) restore(ctx context.Context, c *Card) error {
	went, err := p.tx.FindCards(ctx, p.all(), CardQuery{TrashRoot: c.ID})
	if err != nil {
		return err
	}
	c.TrashedAt, c.TrashRoot = time.Time{}, CardID{}
	if err := p.renew(ctx, c); err != nil {
		return err
	}
	up := map[CardID]Card{c.ID: *c}
	settings, err := p.settings(ctx)
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
		if err := p.relabel(ctx, was, &d); err != nil {
			return err
		}
		if err := p.put(ctx, d); err != nil {
			return err
		}
		if err := p.derive(ctx, d); err != nil {
			return err
		}
		up[d.ID] = d
	}
	return nil
}
