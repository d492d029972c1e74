package canon

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Plan builds a ChangeSet on a snapshot. It includes its own changes: it finds a card that it
// created by name, and a card that it changed in its new state. Each method checks all that can be
// checked before the commit and returns a fault that names the field.
type Plan struct {
	*Snapshot
	ctx     context.Context
	set     ChangeSet
	made    map[markup.Key]CardID   // cards that the plan created or renamed, by key
	now     map[CardID]*Card        // changed cards in their new state
	gone    map[CardID]bool         // cards that the plan puts in the trash
	text    map[CardID]string       // content that the plan writes
	divided map[CardID]*dividedText // of these contents, those with hidden parts
	// hidesPast are the cards whose earlier versions the plan hides.
	hidesPast map[CardID]bool
	looked    int // sentences looked for in hidden texts

	composes bool // see Composes

	present map[CardID]bool // cards that PrefetchLinks found
	hidden  map[LinkID]bool // links that PrefetchLinks looked up: whether they exist and are hidden
}

func newPlan(ctx context.Context, s *Snapshot) *Plan {
	bodies := make(map[Hash][]byte)
	m, ok := s.r.(*memo)
	if !ok {
		m = &memo{Reader: s.r}
		own := *s
		own.r, s = m, &own
	}
	m.bodies = bodies // the plan reads the texts that it writes
	return &Plan{
		Snapshot: s, ctx: ctx,
		set:  ChangeSet{bodies: bodies},
		made: make(map[markup.Key]CardID), now: make(map[CardID]*Card),
		gone: make(map[CardID]bool), text: make(map[CardID]string), divided: make(map[CardID]*dividedText),
		hidesPast: make(map[CardID]bool),
	}
}

// Target lists a card in the reply as one that the caller acted on.
func (p *Plan) Target(id CardID) { p.set.Targets = append(p.set.Targets, id) }

// Note sets the reason for the change, which is stored in the commit.
func (p *Plan) Note(why string) { p.set.Note = markup.Clip(markup.Clean(why), 500) }

// Repeated returns the receipt of the earlier use of the grant's idempotency key. Its error is
// fault.Conflict if the key was used with other input.
func (s *Snapshot) Repeated(ctx context.Context, g access.Grant) (Receipt, bool, error) {
	return findRepeat(ctx, s.r, g)
}

// Acted is a planned change to a card.
type Acted struct {
	Card CardID
	Act  Act
}

// Acts lists the changes to cards planned so far, in order.
func (p *Plan) Acts() []Acted {
	var list []Acted
	for _, ch := range p.set.Changes {
		if ch.Card != nil {
			list = append(list, Acted{ch.Card.ID, ch.Card.Act})
		}
	}
	return list
}

// Type is Snapshot.Type with the plan's changes: a type card that the plan created, renamed or
// changed is found in its new state.
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

// plannedType is loadType for a card whose content may not be stored yet.
func (p *Plan) plannedType(c Card) (Type, error) {
	content, err := p.Text(c)
	if err != nil {
		return Type{}, err
	}
	return typeFromCard(c, content), nil
}

// Card finds a card by name, in the state after the plan, and makes the plan depend on it.
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

// Has is Card for callers that can continue without the card.
func (p *Plan) Has(name string) (Card, bool, error) {
	if id, err := uuid.Parse(strings.TrimSpace(strings.TrimPrefix(name, "~"))); err == nil &&
		strings.HasPrefix(name, "~") {
		if now, ok := p.now[CardID(id)]; ok && !p.gone[now.ID] {
			return *now, true, nil
		}
	}
	if !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, ":") {
		c, ok, err := p.findByKey(markup.KeyOf(name))
		if err != nil || ok || uuid.Validate(name) != nil {
			return c, ok, err
		}
		return p.Has("~" + name)
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

// findByKey finds the card of a key in the state after the plan: a card that the plan created or
// renamed to the key, else the visible card with the lowest label that has not lost the key to the
// plan.
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

// dependOn makes the plan depend on a card: the commit is refused if the card has changed.
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

// Text returns a card's content after the plan.
func (p *Plan) Text(c Card) (string, error) {
	if t, ok := p.text[c.ID]; ok {
		return t, nil
	}
	return p.Content(p.ctx, c)
}

// openText returns the part of a card's text after the plan that everybody reads who sees the card.
func (p *Plan) openText(c Card) (string, error) {
	if d := p.divided[c.ID]; d != nil {
		return d.now.Open, nil
	}
	if c.Parts != NoParts {
		return p.Body(p.ctx, c.Content)
	}
	return p.Text(c)
}

// planCard plans a card's new state. An update that follows the creation or another update of the
// card is merged into that change, so that a commit writes one version.
func (p *Plan) planCard(act Act, c *Card) {
	own := *c
	p.now[c.ID] = &own
	image := imageFromCard(own, act)
	if act == ActUpdate || act == ActRename { // a new name hides the versions with the former one
		d := p.divided[c.ID]
		image.HidePast = d != nil && d.hid || p.hidesPast[c.ID]
	}
	if act == ActCreate || act == ActRename {
		p.set.keys = append(p.set.keys, own.Key)
	}
	if last := p.lastChangeOf(c.ID); act == ActUpdate && last != nil && (last.Act == ActCreate || last.Act == ActUpdate) {
		image.Act, image.HidePast = last.Act, (image.HidePast || last.HidePast) && last.Act == ActUpdate
		*last = *image
		return
	}
	p.set.Changes = append(p.set.Changes, Change{Card: image})
}

// lastChangeOf returns the last planned change of a card, or nil. Updates must not be merged into
// an earlier change, because they may depend on cards created in between.
func (p *Plan) lastChangeOf(id CardID) *CardImage {
	for _, ch := range slices.Backward(p.set.Changes) {
		if ch.Card != nil && ch.Card.ID == id {
			return ch.Card
		}
	}
	return nil
}
