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

func (w *Writer) importLinks(ctx context.Context) error {
	return inBatches(ctx, w, w.Collection.Edges, func(g *graphPlanner, e *Edge) error { return g.planLink(ctx, e) })
}

func (w *Writer) importLayers(ctx context.Context) error {
	return inBatches(ctx, w, w.Collection.Overlays, func(g *graphPlanner, o *Overlay) error {
		return g.planLayer(ctx,
			o)
	})
}

// inBatches commits links or layers in batches, with one call of plan for each.
func inBatches[T any](ctx context.Context, w *Writer, all []T, plan func(*graphPlanner, T) error) error {
	for batch := range slices.Chunk(all, batchLinks) {
		err := w.commit(ctx, func(p *canon.Plan, t *tally) error {
			g := &graphPlanner{w: w, p: p, t: t, links: map[canon.CardID]map[canon.LinkID]canon.Link{},
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
		w.addSteps(len(batch))
	}
	return nil
}

// graphPlanner adds links and layers to a plan.
type graphPlanner struct {
	w      *Writer
	p      *canon.Plan
	t      *tally
	links  map[canon.CardID]map[canon.LinkID]canon.Link
	layers map[canon.CardID]map[canon.LayerID]canon.Layer
}

func (g *graphPlanner) planLink(ctx context.Context, e *Edge) error {
	from, ok, err := g.findEnd(e, e.From)
	if err != nil || !ok {
		return err
	}
	to, ok, err := g.findEnd(e, e.To)
	if err != nil || !ok {
		return err
	}
	label := from.Label.Meet(to.Label)
	if e.Label != nil {
		label = *e.Label
	}
	l := canon.Link{ID: e.ID, Kind: e.Kind, From: from.ID, To: to.ID, Attrs: EncodeFields(e.Attrs), Label: label}
	if l.ID == (canon.LinkID{}) {
		l.ID = LinkID(l.Kind, from.ID, to.ID, TextOf(e.Attrs["direction"]))
	}
	there, err := g.linksFrom(ctx, from.ID)
	if err != nil {
		return err
	}
	if old, ok := there[l.ID]; ok && old.Kind == l.Kind && old.To == l.To && old.Label.Equal(l.Label) &&
		string(old.Attrs) == string(l.Attrs) {
		return nil
	}
	if g.w.Grant.Request().DryRun { // the cards at both ends may exist only in the dry run
		there[l.ID] = l
		g.t.links++
		return nil
	}
	if _, err := g.p.Link(l); err != nil {
		return reportRefusal(g.t, e.File, err)
	}
	there[l.ID] = l
	g.t.links++
	return nil
}

// findEnd returns the card at one end of a link; ok is false if there is no such card.
func (g *graphPlanner) findEnd(e *Edge, at End) (canon.Card, bool, error) {
	s := at.Sheet
	if s == nil && !at.ID.IsZero() {
		s = g.w.Collection.byID[at.ID]
	}
	if s == nil && at.ID.IsZero() {
		s = g.w.Collection.findLowest(markup.KeyOf(at.Name))
	}
	if s != nil {
		return s.card, s.done, nil // a sheet that was left out is reported already
	}
	name := at.Name
	if !at.ID.IsZero() {
		name = "~" + at.ID.String()
	}
	card, ok, err := g.p.Has(name)
	if err == nil && !ok && !at.ID.IsZero() && at.Name != "" {
		card, ok, err = g.p.Has(at.Name)
	}
	if err == nil && !ok {
		g.t.addProblem(e.File, "a link %s leads to %q, which does not exist; left out", e.Kind, at.Name)
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

func (g *graphPlanner) planLayer(ctx context.Context, o *Overlay) error {
	if !o.On.done {
		return nil
	}
	card := o.On.card
	label := access.NewLabel(access.LevelUser).Meet(card.Label)
	if o.Label != nil {
		label = *o.Label
	}
	l := canon.Layer{ID: o.ID, Card: card.ID, Kind: o.Kind, Text: o.Text, FromTick: o.From, ToTick: o.To, Label: label}
	if l.ID == (canon.LayerID{}) {
		l.ID = LayerID(card.ID, l.Kind, l.FromTick, o.Number)
	}
	there, err := g.layersOn(ctx, card.ID)
	if err != nil {
		return err
	}
	if old, ok := there[l.ID]; ok && old.Kind == l.Kind && old.Text == l.Text && old.FromTick == l.FromTick &&
		old.ToTick == l.ToTick && old.Label.Equal(l.Label) {
		return nil
	}
	if g.w.Grant.Request().DryRun {
		there[l.ID] = l
		g.t.links++
		return nil
	}
	if _, err := g.p.Layer(l); err != nil {
		return reportRefusal(g.t, o.File, err)
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
