package archive

import (
	"context"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func relationReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "get_relationships",
			Asked: []string{
				"which pages point to this one", "backlinks", "who mentions it", "where is it referenced",
				"it point at", "pages that show it inside them", "pages that speak of this one",
				"who refers to it", "all places where it comes up", "links here",
				"who quotes or cites this page", "which pages name it", "where does this page lead to",
				"pages that point here", "backlinks of an article", "who links to it",
				"neighbours of a page in the web of links", "connections of an entry",
			},
			Cacheable: true,
			Title:     "Relations of a card",
			Doc: "List the cards that refer to a card, or the cards that it refers to. kind: referers (cards that link to it, nest it, or list it as a tag), " +
				"linked_by (cards that link to it), links (cards it links to), nests (cards it shows in place), nested_in (cards that show it in place). A reference by an alias counts as one by name.",
			Route:    "GET /api/mcp/cards/{name}/relations",
			Older:    relationRoutes(),
			Target:   "name",
			Examples: []op.Example{{Title: "Who mentions this card", Input: `{"name": "Oda Tarn", "kind": "referers"}`}},
		}, getRelationships),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "wanted_cards",
			Asked: []string{
				"missing pages", "names that nobody has written about yet", "dead links",
				"articles still to be written", "red links", "gaps in the wiki",
				"mentioned but not described anywhere", "topics without an article", "somebody write next",
				"unwritten entries that others mention", "pages still to be written", "names without an article",
				"gaps of the wiki", "mentioned and not yet described",
			},
			Cacheable: true,
			Title:     "Wanted cards",
			Doc:       "List the missing pages: names that texts link to and that are neither name nor alias of a card, most wanted first.",
			Route:     "GET /api/mcp/wanted",
			Examples:  []op.Example{{Title: "The ten most wanted", Input: `{"limit": 10}`}},
		}, wantedCards),
	}
}

type relationsIn struct {
	namedCard
	Kind string `json:"kind,omitzero" enum:"referers,linked_by,links,nests,nested_in" alias:"relationship_type" default:"referers" jsonschema:"Which connection."`
	page
}

// relatedCard is a card at the other end of a relation. If the name has no card that is visible to
// the caller, only the name is set.
type relatedCard struct {
	Name   string       `json:"name"`
	Exists bool         `json:"exists" jsonschema:"A card of this name exists and you may see it."`
	ID     canon.CardID `json:"id,omitzero"`
	Type   string       `json:"type,omitzero"`
	Level  string       `json:"level,omitzero"`
}

type relationsOut struct {
	Name  string        `json:"name"`
	Kind  string        `json:"kind"`
	Cards []relatedCard `json:"cards"`
	paged
}

func getRelationships(ctx context.Context, l *canon.Snapshot, _ *op.Call, in relationsIn) (relationsOut, error) {
	c, err := findCard(ctx, l, in.Name)
	if err != nil {
		return relationsOut{}, err
	}
	out := relationsOut{Name: c.Name, Kind: in.Kind}
	switch in.Kind {
	case "links":
		err = out.listTargets(ctx, l, c, canon.RefLink, in.page)
	case "nests":
		err = out.listTargets(ctx, l, c, canon.RefNest, in.page)
	case "linked_by":
		err = out.listSources(ctx, l, c, canon.RefLink, in.page)
	case "nested_in":
		err = out.listSources(ctx, l, c, canon.RefNest, in.page)
	default:
		err = out.listSources(ctx, l, c, 0, in.page)
	}
	return out, err
}

// listSources lists the cards that refer to the card by references of a kind, 0 for all kinds. Each is
// listed once; those that use the card's name come first.
func (o *relationsOut) listSources(ctx context.Context, l *canon.Snapshot, c canon.Card, kind canon.RefKind,
	p page) error {
	targets, err := l.RefTargets(ctx, c)
	if err != nil {
		return err
	}
	seen := map[canon.CardID]bool{}
	var from []canon.Card
	cut := false
	for _, target := range targets {
		refs, more, err := canon.CollectUpTo(l.AllRefs(ctx, canon.RefQuery{Target: target, Kind: kind}), maxRefs)
		if err != nil {
			return err
		}
		for _, r := range refs {
			if !seen[r.Card.ID] {
				seen[r.Card.ID] = true
				from = append(from, r.Card)
			}
		}
		if cut = cut || more || len(from) > maxRefs; cut {
			break
		}
	}
	if from, err = referring(ctx, l, c, from, func(t refTarget) bool {
		return (kind == 0 || t.kind == kind) && (t.means.ID == c.ID || t.means.ID.IsZero() && slices.Contains(targets, t.key))
	}); err != nil {
		return err
	}
	var all []relatedCard
	for _, c := range from {
		all = append(all, relatedTo(l, c))
	}
	o.Cards, o.paged = pageOf(all, p, cut)
	return nil
}

// referring returns those of some cards whose references mean a card, and further ones whose references mean it by
// canon.LinkRefers. A card without such links means what its references name; of the others isMeant decides.
func referring(ctx context.Context, l *canon.Snapshot, c canon.Card, named []canon.Card,
	isMeant func(refTarget) bool) (all []canon.Card, err error) {
	above := map[canon.CardID]bool{}
	var froms []canon.CardID
	for _, from := range named {
		froms = append(froms, from.ID)
		if from.Places != nil {
			froms = append(froms, from.Parent)
		}
		above[from.ID] = true
	}
	refers := map[canon.CardID]bool{}
	var more []canon.CardID
	for _, q := range []canon.LinkQuery{{To: c.ID}, {Froms: froms}} {
		if q.Kinds = []string{canon.LinkRefers}; q.To.IsZero() && len(froms) == 0 {
			continue
		}
		for k, err := range l.AllLinks(ctx, q) {
			if err != nil {
				return nil, err
			}
			if k.To == c.ID && !above[k.From] {
				above[k.From] = true
				more = append(more, k.From)
			}
			refers[k.From] = true
		}
	}
	if len(more) > 0 {
		added, err := l.ByIDs(ctx, more)
		if err != nil {
			return nil, err
		}
		named = append(named, added...)
	}
	for _, from := range named {
		if !refers[from.ID] && (from.Places == nil || !refers[from.Parent]) {
			all = append(all, from)
			continue
		}
		targets, _, err := targetsIn(ctx, l, from)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(targets, isMeant) {
			all = append(all, from)
		}
	}
	return all, nil
}

// refTarget is the target of a reference: a name, or a card that it means by canon.LinkRefers.
type refTarget struct {
	kind  canon.RefKind
	name  string
	key   markup.Key // of the name, if it decides
	means canon.Card
}

// targetsIn returns the targets of the references in the open text of a card; ok is false if they all mean the cards
// that they name.
func targetsIn(ctx context.Context, l *canon.Snapshot, c canon.Card) (all []refTarget, ok bool, err error) {
	means, err := l.Referred(ctx, c)
	if err != nil || len(means) == 0 {
		return nil, false, err
	}
	text, err := l.Body(ctx, c.Content)
	for _, r := range canon.RefsIn(c.TextKind(), text) {
		if r.External {
			continue
		}
		to, linked := means[r.Path]
		t := refTarget{kind: canon.RefLink, name: markup.Resolve(r.Target, c.Name), means: to}
		if r.Kind == markup.NestRef {
			t.kind = canon.RefNest
		}
		if !linked {
			t.key = markup.KeyOf(t.name)
		}
		all = append(all, t)
	}
	return all, true, err
}

func relatedTo(l *canon.Snapshot, c canon.Card) relatedCard {
	return relatedCard{c.Name, true, c.ID, c.Type, shownLevel(l, c.Label)}
}

// listTargets lists the names that the card refers to, each once, with the visible cards of those
// names.
func (o *relationsOut) listTargets(ctx context.Context, l *canon.Snapshot, c canon.Card, kind canon.RefKind,
	p page) error {
	all, linked, err := targetsIn(ctx, l, c)
	more := false
	if err == nil && !linked {
		var refs []canon.RefRow
		refs, more, err = canon.CollectUpTo(l.AllRefs(ctx, canon.RefQuery{From: c.ID, Kind: kind}), maxRefs)
		for _, r := range refs {
			all = append(all, refTarget{kind: kind, name: r.Ref.Name, key: r.Ref.Target})
		}
	}
	if err != nil {
		return err
	}
	type end struct {
		key   markup.Key
		means canon.CardID
	}
	seen := map[end]bool{}
	all = slices.DeleteFunc(all, func(t refTarget) bool {
		at := end{t.key, t.means.ID}
		was := seen[at] || t.kind != kind
		seen[at] = seen[at] || t.kind == kind
		return was
	})
	rows, pg := pageOf(all, p, more)
	o.Cards, o.paged = make([]relatedCard, len(rows)), pg
	for i, t := range rows {
		c, ok := t.means, false
		if ok = !c.ID.IsZero(); !ok && t.key != "" {
			if c, ok, err = l.ByRef(ctx, t.key); err != nil {
				return err
			}
		}
		if o.Cards[i] = (relatedCard{Name: t.name}); ok {
			o.Cards[i] = relatedTo(l, c)
		}
	}
	return nil
}

// maxRefs bounds the number of references that are read for one answer.
const maxRefs = 5000

type wantedIn struct{ page }

// wantedName is a name that texts link to and that has no card.
type wantedName struct {
	Name  string `json:"name"`
	Count int    `json:"count" jsonschema:"Cards that link to it."`
}

type wantedOut struct {
	Wanted []wantedName `json:"wanted"`
	paged
}

func wantedCards(ctx context.Context, l *canon.Snapshot, _ *op.Call, in wantedIn) (wantedOut, error) {
	list, total, err := l.Wanted(ctx, in.page.toCanonPage())
	if err != nil {
		return wantedOut{}, err
	}
	out := wantedOut{Wanted: make([]wantedName, len(list)), paged: pagedAt(in.page, total, len(list))}
	for i, w := range list {
		out.Wanted[i] = wantedName{markup.Clean(w.Name), w.Count}
	}
	return out, nil
}
