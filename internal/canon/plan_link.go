package canon

import (
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Link plans a typed edge. It replaces a visible link with the same id. An attribute with a mark of secrecy is
// refused, see Composes.
func (p *Plan) Link(l Link) (LinkID, error) {
	for _, end := range []CardID{l.From, l.To} {
		if err := p.checkPresent(end); err != nil {
			return LinkID{}, err
		}
	}
	if err := p.CheckLink(&l); err != nil {
		return LinkID{}, err
	}
	hidden, err := p.hiddenLink(l.ID)
	if err != nil {
		return LinkID{}, err
	}
	if hidden || l.ID == (LinkID{}) {
		l.ID = LinkID(p.newID())
	}
	p.set.Changes = append(p.set.Changes, Change{Link: &LinkImage{ID: l.ID, Kind: l.Kind, From: l.From, To: l.To,
		Attrs: l.Attrs, Label: l.Label}})
	return l.ID, nil
}

// CheckLink checks all of a link but that its ends exist. It sets the label that Link gives the link, and its
// attributes as they are stored.
func (p *Plan) CheckLink(l *Link) (err error) {
	if l.Kind == "" || len(l.Kind) > 64 {
		return fault.BadField("kind", "1 to 64 characters")
	}
	if err := p.checkLabel(&l.Label); err != nil {
		return err
	}
	if l.Attrs, err = mergeFields(nil, l.Attrs); err != nil {
		return err
	}
	return p.checkAttrs(*l)
}

// PrefetchLinks reads in a few queries all that Link reads for these links. It is for plans of many links.
func (p *Plan) PrefetchLinks(links []Link) error {
	var ends []CardID
	var ids []LinkID
	for _, l := range links {
		ends = append(ends, l.From, l.To)
		if l.ID != (LinkID{}) {
			ids = append(ids, l.ID)
		}
	}
	slices.SortFunc(ends, func(a, b CardID) int { return slices.Compare(a[:], b[:]) })
	cards, err := p.ByIDs(p.ctx, slices.Compact(ends))
	if err != nil {
		return err
	}
	if p.present == nil {
		p.present, p.hidden = map[CardID]bool{}, map[LinkID]bool{}
	}
	for _, c := range cards {
		p.present[c.ID] = true
	}
	for _, id := range ids {
		p.hidden[id] = false // no such link
	}
	everything := Visibility{p.world.ID, access.View{Level: access.LevelAll}}
	for _, look := range []struct {
		as     Visibility
		hidden bool
	}{{everything, true}, {p.visibility, false}} {
		if len(ids) == 0 {
			return nil
		}
		there, _, err := p.r.Links(p.ctx, look.as, LinkQuery{IDs: ids, Page: Page{Limit: len(ids), Uncounted: true}})
		if err != nil {
			return err
		}
		ids = ids[:0]
		for _, l := range there {
			p.hidden[l.ID] = look.hidden
			ids = append(ids, l.ID)
		}
	}
	return nil
}

// checkPresent refuses a card that is neither visible nor created by the plan.
func (p *Plan) checkPresent(id CardID) error {
	if _, planned := p.now[id]; planned || p.present[id] {
		return nil
	}
	_, ok, err := p.ByID(p.ctx, id)
	if err == nil && !ok {
		err = p.notFoundFault(p.ctx, "~"+id.String())
	}
	return err
}

// checkLabel replaces the zero label by the one that is visible to everyone, and refuses a label
// above the caller's view.
func (p *Plan) checkLabel(l *access.Label) error {
	if l.Level == access.LevelNone {
		*l = access.NewLabel(access.LevelUser)
	}
	if !p.View().Sees(*l) {
		return p.aboveRoleFault("level", *l)
	}
	return nil
}

// hiddenLink reports whether the link with an id exists and is hidden: then it must not be
// replaced.
func (p *Plan) hiddenLink(id LinkID) (bool, error) {
	if id == (LinkID{}) {
		return false, nil
	}
	if hidden, known := p.hidden[id]; known {
		return hidden, nil
	}
	if _, ok, err := findLink(p.ctx, p.r, p.visibility, id); err != nil || ok {
		return false, err
	}
	_, ok, err := findLink(p.ctx, p.r, Visibility{p.world.ID, access.View{Level: access.LevelAll}}, id)
	return ok, err
}

// hiddenLayer is hiddenLink for layers.
func (p *Plan) hiddenLayer(id LayerID) (bool, error) {
	if id == (LayerID{}) {
		return false, nil
	}
	if _, ok, err := First(p.r.Layers(p.ctx, p.visibility, LayerQuery{IDs: []LayerID{id}})); err != nil || ok {
		return false, err
	}
	_, ok, err := First(p.r.Layers(p.ctx, Visibility{p.world.ID, access.View{Level: access.LevelAll}},
		LayerQuery{IDs: []LayerID{id}}))
	return ok, err
}

// Unlink ends a link.
func (p *Plan) Unlink(l Link) {
	p.set.Changes = append(p.set.Changes, Change{Link: &LinkImage{ID: l.ID, Kind: l.Kind, From: l.From, To: l.To,
		Attrs: l.Attrs, Label: l.Label, Gone: true}})
}

// Layer plans text for a place or realm. It replaces a visible layer with the same id. A text with a mark of
// secrecy is refused, see Composes.
func (p *Plan) Layer(l Layer) (LayerID, error) {
	if err := p.checkPresent(l.Card); err != nil {
		return LayerID{}, err
	}
	if err := p.CheckLayer(&l); err != nil {
		return LayerID{}, err
	}
	hidden, err := p.hiddenLayer(l.ID)
	if err != nil {
		return LayerID{}, err
	}
	if hidden || l.ID == (LayerID{}) {
		l.ID = LayerID(p.newID())
	}
	p.set.Changes = append(p.set.Changes, Change{Layer: &LayerImage{ID: l.ID, Card: l.Card, Kind: l.Kind, Text: l.Text,
		FromTick: l.FromTick, ToTick: l.ToTick, Label: l.Label}})
	return l.ID, nil
}

// CheckLayer checks all of a layer but that its card exists. It sets the label that Layer gives the layer.
func (p *Plan) CheckLayer(l *Layer) error {
	if err := p.checkLabel(&l.Label); err != nil {
		return err
	}
	if err := checkContent(l.Text); err != nil {
		return err
	}
	return p.checkLayer(*l)
}

// DependOnLink makes the plan depend on a link: the commit is refused if the link has changed. Of two plans
// that change the same link, the later one is thus planned again. A link with Since 0 means that no
// link with that id is visible.
func (p *Plan) DependOnLink(l Link) {
	mark := ReadMark{Link: l.ID, Since: l.Since}
	if !slices.Contains(p.set.Reads, mark) {
		p.set.Reads = append(p.set.Reads, mark)
	}
}
