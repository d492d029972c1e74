package canon

import (
	"context"
	"fmt"

	"loregate/internal/access"
)

// countParts counts a change of hidden parts in the version number of the card whose text they belong to, for the
// levels that see the parts.
func (p *projector) countParts(ctx context.Context, holder Card) error {
	if holder.Parent.IsZero() {
		return nil
	}
	c, err := p.findParent(ctx, holder.Parent)
	if err != nil {
		return err
	}
	kind := LevelParts
	if len(holder.Own.Subjects)+len(holder.Label.Subjects) > 0 {
		kind = NamedParts
	}
	c.Parts = max(c.Parts, kind)
	c.Counts = c.Counts.addVersion(holder.Label.Level)
	v, ok, err := p.tx.VersionByRev(ctx, p.world, c.ID, c.Rev)
	if err != nil || !ok {
		return fmt.Errorf("version %d of card %s: present %t: %w", c.Rev, c.ID, ok, err)
	}
	v.Counts = c.Counts
	if err := p.tx.PutVersion(ctx, v); err != nil {
		return err
	}
	for i := range p.cards {
		if p.cards[i].ID == c.ID {
			p.cards[i] = c
		}
	}
	return p.putCard(ctx, c)
}

// hidePast hides the earlier versions of a card, of whose text a part is hidden now.
func (p *projector) hidePast(ctx context.Context, c Card) error {
	gm := access.NewLabel(access.LevelGM)
	for rev := c.Rev - 1; rev > 0; rev-- {
		v, ok, err := p.tx.VersionByRev(ctx, p.world, c.ID, rev)
		if err != nil {
			return err
		}
		if hidden := v.Label.Meet(gm); ok && !hidden.Equal(v.Label) {
			v.Label, v.Former.Label = hidden, v.Former.Label.Meet(gm)
			if err := p.tx.PutVersion(ctx, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteOpened notes a card that more readers see than before: its label lets them, or it leaves the trash.
func (p *projector) noteOpened(was, c Card) {
	if was.ID.IsZero() || c.Trashed() || was.Label.Covers(c.Label) && !was.Trashed() || was.isEmptied() {
		return
	}
	p.opened = append(p.opened, Opened{Card: c.ID, Name: c.Name, From: was.Label, To: c.Label})
}
