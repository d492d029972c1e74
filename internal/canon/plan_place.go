package canon

import (
	"fmt"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// placeCard computes a card's name, key and label from its parent and its own part.
func (p *Plan) placeCard(c *Card, parent Card) {
	placeUnder(c, parent, p.world.Settings)
}

// placeUnder computes a card's parent id, name, key and label from its parent. For a root, parent
// is the zero Card.
func placeUnder(c *Card, parent Card, s Settings) {
	c.Parent, c.Name, c.Key = parent.ID, c.Part, markup.KeyOf(c.Part)
	c.Label = access.NewLabel(access.LevelUser).Meet(c.Own)
	if !parent.ID.IsZero() {
		c.Name = parent.Name + "+" + c.Part
		c.Key = parent.Key + "+" + c.Key
		c.Label = parent.Label.Meet(c.Label)
	}
	c.Label = c.Label.Meet(access.NewLabel(s.nameLevel(markup.KeyOf(c.Part))))
}

// placeNewCard is parentFor for a new card, which may name its ancestor by id.
func (p *Plan) placeNewCard(n NewCard, own access.Label) (parent Card, part string, err error) {
	if n.Root {
		return Card{}, markup.Join(markup.Parts(n.Name)...), nil
	}
	if n.Parent.IsZero() {
		return p.parentFor(n.Name, own, n.Orphan)
	}
	parent, ok, err := p.Has("~" + n.Parent.String())
	if err != nil {
		return Card{}, "", err
	}
	parts, above := markup.Parts(n.Name), len(parent.Key.Parts())
	if !ok || len(parts) <= above || markup.KeyOf(markup.Join(parts[:above]...)) != parent.Key {
		return Card{}, "", ruleFault("name", "the card's name does not begin with the name of the card above it")
	}
	p.dependOn(parent)
	return parent, markup.Join(parts[above:]...), nil
}

// freeID returns the id for a new card: the requested one, or a new one if none was requested or a
// card has it, even a hidden one.
func (p *Plan) freeID(id CardID) (CardID, error) {
	if !id.IsZero() {
		_, held, err := First(p.r.FindCards(p.ctx, Visibility{p.world.ID, access.View{Level: access.LevelAll}},
			CardQuery{ID: id}))
		if err != nil || !held && p.now[id] == nil {
			return id, err
		}
	}
	return CardID(p.newID()), nil
}

// newID returns an id for something that the plan creates.
func (p *Plan) newID() uuid.UUID { return p.canon.newID(WorldStream(p.world.ID)) }

// parentFor finds the nearest ancestor of a name and returns it with the remaining part of the
// name. It creates missing ancestors unless orphan is set. A created ancestor is visible to nobody
// who may not see the new card, by the card's own label and the name rules, because its name is
// part of the card's name.
func (p *Plan) parentFor(name string, own access.Label, orphan bool) (parent Card, part string, err error) {
	parts := markup.Parts(name)
	for i := len(parts) - 1; i > 0; i-- {
		c, ok, err := p.Has(markup.Join(parts[:i]...))
		if err != nil {
			return Card{}, "", err
		}
		if ok {
			parent, parts = c, parts[i:]
			break
		}
	}
	if orphan {
		return parent, markup.Join(parts...), nil
	}
	own = own.Meet(access.NewLabel(p.world.Settings.nameLevel(markup.KeyOf(markup.Join(parts...)))))
	for len(parts) > 1 {
		above := markup.Join(parent.Name, parts[0])
		if parent.ID.IsZero() {
			above = parts[0]
		}
		if parent, err = p.Create(NewCard{Name: above, Label: &own}); err != nil {
			return Card{}, "", err
		}
		parts = parts[1:]
	}
	return parent, parts[0], nil
}

// parentOf returns a card's parent in the state after the plan, even if it is hidden; for a root,
// the zero Card.
func (p *Plan) parentOf(c Card) (Card, error) {
	if c.Parent.IsZero() {
		return Card{}, nil
	}
	if now, ok := p.now[c.Parent]; ok {
		return *now, nil
	}
	parent, ok, err := First(p.r.FindCards(p.ctx, Visibility{p.world.ID, access.View{Level: access.LevelAll}},
		CardQuery{ID: c.Parent}))
	if err == nil && !ok {
		err = fmt.Errorf("canon: card %s has no parent row", c.ID)
	}
	return parent, err
}

// checkNameFree returns a conflict if a visible card has the same name under the same label.
func (p *Plan) checkNameFree(c Card) error {
	if id, ok := p.made[c.Key]; ok && id != c.ID && p.now[id].Label.Equal(c.Label) {
		return takenFault(c.Name)
	}
	others, err := p.Homonyms(p.ctx, c.Key)
	if err != nil {
		return err
	}
	for _, o := range others {
		if now, ok := p.now[o.ID]; ok {
			o = *now
		}
		if o.ID != c.ID && !p.gone[o.ID] && o.Key == c.Key && o.Label.Equal(c.Label) {
			return takenFault(o.Name)
		}
	}
	return nil
}
