package canon

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Plan builds a ChangeSet on a snapshot. It sees its own changes: a card that it made is
// found by name, and a card that it changed is found as changed. Each method checks what
// can be checked before the commit and answers with a fault that names the field.
type Plan struct {
	*Snapshot
	ctx  context.Context
	set  ChangeSet
	made map[markup.Key]CardID // cards the plan created or renamed to, by key
	now  map[CardID]*Card      // cards as the plan leaves them
	gone map[CardID]bool       // cards the plan trashed
	text map[CardID]string     // content the plan wrote
}

func newPlan(ctx context.Context, s *Snapshot) *Plan {
	return &Plan{
		Snapshot: s, ctx: ctx,
		set:  ChangeSet{bodies: make(map[Hash][]byte)},
		made: make(map[markup.Key]CardID), now: make(map[CardID]*Card),
		gone: make(map[CardID]bool), text: make(map[CardID]string),
	}
}

// Target names a card as what the caller acted on, for the reply.
func (p *Plan) Target(id CardID) { p.set.Targets = append(p.set.Targets, id) }

// Note says why the change is made; it is kept in the commit.
func (p *Plan) Note(why string) { p.set.Note = clipRunes(markup.Clean(why), 500) }

// Empty reports whether nothing is planned so far.
func (p *Plan) Empty() bool { return p.set.isEmpty() }

// Repeated finds the receipt of what a grant's idempotency key was used for. Its error
// is fault.Conflict where that was another input.
func (s *Snapshot) Repeated(ctx context.Context, g access.Grant) (Receipt, bool, error) {
	return findRepeat(ctx, s.r, g)
}

// Acted is what a plan does to one card.
type Acted struct {
	Card CardID
	Act  Act
}

// Acts lists what is planned for cards so far, in order.
func (p *Plan) Acts() []Acted {
	var list []Acted
	for _, ch := range p.set.Changes {
		if ch.Card != nil {
			list = append(list, Acted{ch.Card.ID, ch.Card.Act})
		}
	}
	return list
}

// Type finds a type as Snapshot.Type does, as the plan leaves it: a type card that the plan
// made, renamed or changed is known by what it is now.
func (p *Plan) Type(ctx context.Context, name string) (Type, error) {
	key := markup.KeyOf(name)
	if _, ok := builtinByKey[key]; !ok {
		id, ok := p.made[key]
		if c := p.now[id]; ok && markup.KeyOf(c.Type) == markup.KeyOf(TypeCardtype) {
			return p.plannedType(*c)
		}
	}
	t, err := p.Snapshot.Type(ctx, name)
	if err != nil || p.now[t.card] == nil || t.card.IsZero() {
		return t, err
	}
	if c := p.now[t.card]; !p.gone[t.card] && c.Key == key && markup.KeyOf(c.Type) == markup.KeyOf(TypeCardtype) {
		return p.plannedType(*c)
	}
	return Type{}, unknownType(name)
}

// plannedType is typeOf for a card whose content may not be stored yet.
func (p *Plan) plannedType(c Card) (Type, error) {
	content, err := p.Text(c)
	if err != nil {
		return Type{}, err
	}
	return typeFromCard(c, content), nil
}

// Card finds a card by name as the plan leaves it, and rests the plan on it.
func (p *Plan) Card(name string) (Card, error) {
	c, ok, err := p.Has(name)
	if err != nil {
		return Card{}, err
	}
	if !ok {
		return Card{}, p.notFoundFault(p.ctx, name)
	}
	return c, nil
}

// Has is Card for those who can go on without.
func (p *Plan) Has(name string) (Card, bool, error) {
	if id, err := uuid.Parse(strings.TrimSpace(strings.TrimPrefix(name, "~"))); err == nil && strings.HasPrefix(name, "~") {
		if now, ok := p.now[CardID(id)]; ok && !p.gone[now.ID] {
			return *now, true, nil
		}
	}
	if !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, ":") {
		return p.findByKey(markup.KeyOf(name))
	}
	c, ok, err := p.findByName(p.ctx, name)
	if err != nil || !ok || p.gone[c.ID] {
		return Card{}, false, err
	}
	if now, ok := p.now[c.ID]; ok {
		return *now, true, nil
	}
	p.dependOn(c)
	return c, true, nil
}

// findByKey finds the card that a key means as the plan leaves it: one that it made or
// renamed to it, else the lowest-labelled in sight that it took from nobody.
func (p *Plan) findByKey(key markup.Key) (Card, bool, error) {
	if id, ok := p.made[key]; ok {
		return *p.now[id], true, nil
	}
	cards, err := p.Homonyms(p.ctx, key)
	if err != nil {
		return Card{}, false, err
	}
	for _, c := range cards {
		now, changed := p.now[c.ID]
		switch {
		case p.gone[c.ID] || changed && now.Key != key:
		case changed:
			return *now, true, nil
		default:
			p.dependOn(c)
			return c, true, nil
		}
	}
	return Card{}, false, nil
}

// dependOn makes the plan depend on a card staying as it is.
func (p *Plan) dependOn(c Card) {
	if c.Rev == 0 { // made by this plan
		return
	}
	for _, m := range p.set.Reads {
		if m.Card == c.ID {
			return
		}
	}
	p.set.Reads = append(p.set.Reads, ReadMark{Card: c.ID, Rev: c.Rev})
}

// Text gives a card's content as the plan leaves it.
func (p *Plan) Text(c Card) (string, error) {
	if t, ok := p.text[c.ID]; ok {
		return t, nil
	}
	return p.Content(p.ctx, c)
}

// planCard plans the card's state as it is now. An update that follows on a card's making or
// another update becomes part of that change, so that one commit writes one version.
func (p *Plan) planCard(act Act, c *Card) {
	own := *c
	p.now[c.ID] = &own
	image := imageFromCard(own, act)
	if act == ActCreate || act == ActRename {
		p.set.keys = append(p.set.keys, own.Key)
	}
	if last := p.lastChangeOf(c.ID); act == ActUpdate && last != nil && (last.Act == ActCreate || last.Act == ActUpdate) {
		image.Act = last.Act
		*last = *image
		return
	}
	p.set.Changes = append(p.set.Changes, Change{Card: image})
}

// lastChangeOf is the last change of a card that is planned; nil for none. One before it must
// not take in what came after, which may rest on cards made in between.
func (p *Plan) lastChangeOf(id CardID) *CardImage {
	for _, ch := range slices.Backward(p.set.Changes) {
		if ch.Card != nil && ch.Card.ID == id {
			return ch.Card
		}
	}
	return nil
}
