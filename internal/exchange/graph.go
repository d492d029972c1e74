package exchange

import (
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// batchLinks is the maximum number of links or layers in one commit.
const batchLinks = 500

func (im *importer) importLinks(ctx context.Context) error {
	return inBatches(ctx, im, im.c.edges, func(g *graphPlanner, e *edge) error { return g.planLink(ctx, e) })
}

func (im *importer) importLayers(ctx context.Context) error {
	return inBatches(ctx, im, im.c.overlays, func(g *graphPlanner, o *overlay) error { return g.planLayer(ctx, o) })
}

// inBatches commits links or layers in batches, with one call of plan for each.
func inBatches[T any](ctx context.Context, im *importer, all []T, plan func(*graphPlanner, T) error) error {
	for batch := range slices.Chunk(all, batchLinks) {
		err := im.commit(ctx, func(p *canon.Plan, t *tally) error {
			g := &graphPlanner{im: im, p: p, t: t, links: map[canon.CardID]map[canon.LinkID]canon.Link{},
				layers: map[canon.CardID]map[canon.LayerID]canon.Layer{}}
			for _, item := range batch {
				if err := plan(g, item); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		im.addSteps(len(batch))
	}
	return nil
}

// graphPlanner adds links and layers to a plan.
type graphPlanner struct {
	im     *importer
	p      *canon.Plan
	t      *tally
	links  map[canon.CardID]map[canon.LinkID]canon.Link
	layers map[canon.CardID]map[canon.LayerID]canon.Layer
}

func (g *graphPlanner) planLink(ctx context.Context, e *edge) error {
	from, ok, err := g.findEnd(e, e.from)
	if err != nil || !ok {
		return err
	}
	to, ok, err := g.findEnd(e, e.to)
	if err != nil || !ok {
		return err
	}
	label := from.Label.Meet(to.Label)
	if e.label != nil {
		label = *e.label
	}
	l := canon.Link{ID: e.id, Kind: e.kind, From: from.ID, To: to.ID, Attrs: fieldsOf(e.attrs), Label: label}
	if l.ID == (canon.LinkID{}) {
		l.ID = linkID(l.Kind, from.ID, to.ID, textOf(e.attrs["direction"]))
	}
	if g.im.grant.Request().DryRun {
		return nil // the cards at both ends may exist only in the dry run
	}
	there, err := g.linksFrom(ctx, from.ID)
	if err != nil {
		return err
	}
	if old, ok := there[l.ID]; ok && old.Kind == l.Kind && old.To == l.To && old.Label.Equal(l.Label) &&
		string(old.Attrs) == string(l.Attrs) {
		return nil
	}
	if _, err := g.p.Link(l); err != nil {
		return reportRefusal(g.t, e.file, err)
	}
	there[l.ID] = l
	g.t.links++
	return nil
}

// findEnd returns the card at one end of a link; ok is false if there is no such card.
func (g *graphPlanner) findEnd(e *edge, at linkEnd) (canon.Card, bool, error) {
	s := at.sheet
	if s == nil && !at.id.IsZero() {
		s = g.im.c.byID[at.id]
	}
	if s == nil && at.id.IsZero() {
		s = g.im.c.findLowest(markup.KeyOf(at.name))
	}
	if s != nil {
		return s.card, s.done, nil // a sheet that was left out is reported already
	}
	name := at.name
	if !at.id.IsZero() {
		name = "~" + at.id.String()
	}
	card, ok, err := g.p.Has(name)
	if err == nil && !ok && !at.id.IsZero() && at.name != "" {
		card, ok, err = g.p.Has(at.name)
	}
	if err == nil && !ok {
		g.t.addProblem(e.file, "a link %s names %q, which is not there; left out", e.kind, at.name)
	}
	return card, ok, err
}

func (g *graphPlanner) linksFrom(ctx context.Context, from canon.CardID) (map[canon.LinkID]canon.Link, error) {
	if there := g.links[from]; there != nil {
		return there, nil
	}
	there := map[canon.LinkID]canon.Link{}
	for l, err := range g.p.AllLinks(ctx, canon.LinkQuery{From: from}) {
		if err != nil {
			return nil, err
		}
		there[l.ID] = l
	}
	g.links[from] = there
	return there, nil
}

func (g *graphPlanner) planLayer(ctx context.Context, o *overlay) error {
	if !o.on.done || g.im.grant.Request().DryRun {
		return nil
	}
	card := o.on.card
	label := access.NewLabel(access.LevelUser).Meet(card.Label)
	if o.label != nil {
		label = *o.label
	}
	l := canon.Layer{ID: o.id, Card: card.ID, Kind: o.kind, Text: o.text, FromTick: o.from, ToTick: o.to, Label: label}
	if l.ID == (canon.LayerID{}) {
		l.ID = layerID(card.ID, l.Kind, l.FromTick, o.number)
	}
	there, err := g.layersOn(ctx, card.ID)
	if err != nil {
		return err
	}
	if old, ok := there[l.ID]; ok && old.Kind == l.Kind && old.Text == l.Text && old.FromTick == l.FromTick &&
		old.ToTick == l.ToTick && old.Label.Equal(l.Label) {
		return nil
	}
	if _, err := g.p.Layer(l); err != nil {
		return reportRefusal(g.t, o.file, err)
	}
	there[l.ID] = l
	g.t.links++
	return nil
}

func (g *graphPlanner) layersOn(ctx context.Context, card canon.CardID) (map[canon.LayerID]canon.Layer, error) {
	if there := g.layers[card]; there != nil {
		return there, nil
	}
	there := map[canon.LayerID]canon.Layer{}
	list, err := g.p.Layers(ctx, canon.LayerQuery{Card: card})
	for _, l := range list {
		there[l.ID] = l
	}
	g.layers[card] = there
	return there, err
}
