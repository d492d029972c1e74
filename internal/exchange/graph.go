package exchange

import (
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/markup"
)

// batchLinks is the maximum number of links or layers in one commit.
const batchLinks = 500

func (w *Writer) importLinks(ctx context.Context) error {
	return inBatches(ctx, w, w.Collection.Edges, (*graphPlanner).planLinks)
}

func (w *Writer) importLayers(ctx context.Context) error {
	return inBatches(ctx, w, w.Collection.Overlays, (*graphPlanner).planLayers)
}

// inBatches commits links or layers in batches, with one call of plan for each batch.
func inBatches[T any](ctx context.Context, w *Writer, all []T, plan func(*graphPlanner, context.Context, []T) error) error {
	for batch := range slices.Chunk(all, batchLinks) {
		err := w.commit(ctx, func(p *canon.Plan, t *tally) error {
			g := &graphPlanner{w: w, p: p, t: t, links: map[canon.LinkID]canon.Link{},
				layers: map[canon.CardID]map[canon.LayerID]canon.Layer{}}
			return plan(g, ctx, batch)
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
	links  map[canon.LinkID]canon.Link // that leave the cards of the batch, with those that the plan adds
	layers map[canon.CardID]map[canon.LayerID]canon.Layer
}

func (g *graphPlanner) planLinks(ctx context.Context, batch []*Edge) error {
	var links []canon.Link
	var files []string
	for _, e := range batch {
		l, ok, err := g.newLink(e)
		if err != nil {
			return err
		}
		if ok {
			links, files = append(links, l), append(files, e.File)
		}
	}
	if len(links) == 0 {
		return nil
	}
	if err := g.loadLinks(ctx, links); err != nil {
		return err
	}
	for i, l := range links {
		if err := g.planLink(l, files[i]); err != nil {
			return err
		}
	}
	return nil
}

// newLink returns the link of an edge; ok is false if one of its ends is missing.
func (g *graphPlanner) newLink(e *Edge) (l canon.Link, ok bool, err error) {
	from, ok, err := g.findEnd(e, e.From)
	if err != nil || !ok {
		return l, false, err
	}
	to, ok, err := g.findEnd(e, e.To)
	if err != nil || !ok {
		return l, false, err
	}
	label := from.Label.Meet(to.Label)
	if e.Label != nil {
		label = *e.Label
	}
	l = canon.Link{ID: e.ID, Kind: e.Kind, From: from.ID, To: to.ID, Attrs: decoded.EncodeFields(e.Attrs), Label: label}
	if l.ID == (canon.LinkID{}) {
		l.ID = LinkID(l.Kind, from.ID, to.ID, decoded.TextOf(e.Attrs["direction"]))
	}
	return l, true, nil
}

// loadLinks reads all that planLink needs of the links of a batch.
func (g *graphPlanner) loadLinks(ctx context.Context, links []canon.Link) error {
	var froms []canon.CardID
	for _, l := range links {
		froms = append(froms, l.From)
	}
	slices.SortFunc(froms, func(a, b canon.CardID) int { return slices.Compare(a[:], b[:]) })
	for l, err := range g.p.AllLinks(ctx, canon.LinkQuery{Froms: slices.Compact(froms)}) {
		if err != nil {
			return err
		}
		g.links[l.ID] = l
	}
	return g.p.PrefetchLinks(links)
}

func (g *graphPlanner) planLink(l canon.Link, file string) error {
	if old, ok := g.links[l.ID]; ok && old.From == l.From && old.Kind == l.Kind && old.To == l.To && old.Label.Equal(l.Label) &&
		string(old.Attrs) == string(l.Attrs) {
		return nil
	}
	var err error
	if planned := l; g.w.Grant.Request().DryRun { // the cards at both ends may not exist
		err = g.p.CheckLink(&planned)
	} else {
		_, err = g.p.Link(l)
	}
	if err != nil {
		return reportRefusal(g.t, file, err)
	}
	g.links[l.ID] = l
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
		return s.asCard(), s.done, nil // a sheet that was left out is reported already
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

func (g *graphPlanner) planLayers(ctx context.Context, batch []*Overlay) error {
	for _, o := range batch {
		if err := g.planLayer(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func (g *graphPlanner) planLayer(ctx context.Context, o *Overlay) error {
	if !o.On.done {
		return nil
	}
	card := o.On.asCard()
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
	planned := l
	if g.w.Grant.Request().DryRun {
		err = g.p.CheckLayer(&planned)
	} else {
		_, err = g.p.Layer(l)
	}
	if err != nil {
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
