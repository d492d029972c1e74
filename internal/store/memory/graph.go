package memory

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// visibleRefs returns the references whose source is alive and visible to the caller, each with its
// source.
func (r reader) visibleRefs(s canon.Visibility) []canon.RefRow {
	var out []canon.RefRow
	for key, refs := range r.s.refs.all() {
		c, ok := r.findLiving(s, key.id)
		if key.world != s.World || !ok {
			continue
		}
		for _, ref := range refs {
			out = append(out, canon.RefRow{Ref: ref, Card: c})
		}
	}
	slices.SortFunc(out, func(a, b canon.RefRow) int {
		return cmp.Or(byKey(a.Card, b.Card), cmp.Compare(a.Ref.Kind, b.Ref.Kind), cmp.Compare(a.Ref.Order, b.Ref.Order))
	})
	return out
}

// taggedCard returns the visible card that a reference is a tag of.
func (r reader) taggedCard(s canon.Visibility, row canon.RefRow) (canon.Card, bool) {
	if row.Ref.Kind != canon.RefTag || !canon.HoldsTags(row.Card.Key) {
		return canon.Card{}, false
	}
	c, ok := r.findLiving(s, row.Card.Parent)
	return c, ok && c.Key == row.Card.Key.Left()
}

// hasTag reports whether a card has a tag visible to the caller.
func (r reader) hasTag(s canon.Visibility, id canon.CardID, tag markup.Key) bool {
	for _, row := range r.visibleRefs(s) {
		if c, ok := r.taggedCard(s, row); ok && c.ID == id && row.Ref.Target == tag {
			return true
		}
	}
	return false
}

// tagNames returns, by card, the names of the tags that everyone who sees the card sees on it.
func (r reader) tagNames(w access.WorldID) map[canon.CardID][]string {
	names := map[canon.CardID][]string{}
	for key, list := range r.s.cards.all() {
		above, ok := r.s.cards.get(cardKey{w, list.Parent})
		if key.world != w || !list.IsTagList() || list.Trashed() || !ok || !list.Label.Equal(above.Label) {
			continue
		}
		refs, _ := r.s.refs.get(key)
		for _, ref := range refs {
			if ref.Kind == canon.RefTag {
				names[above.ID] = append(names[above.ID], ref.Name)
			}
		}
	}
	return names
}

func (r reader) Refs(_ context.Context, s canon.Visibility, q canon.RefQuery) ([]canon.RefRow, canon.Total, error) {
	var all []canon.RefRow
	for _, row := range r.visibleRefs(s) {
		matches := row.Ref.Target == q.Target
		if !q.From.IsZero() {
			matches = row.Ref.From == q.From
		}
		if matches && (q.Kind == 0 || row.Ref.Kind == q.Kind) {
			all = append(all, row)
		}
	}
	out, total := cutPage(all, q.Page)
	return out, total, nil
}

// refTarget is a target, the alphabetically first name written for it, and the cards that refer to
// it.
type refTarget struct {
	key   markup.Key
	name  string
	cards map[canon.CardID]bool
}

// refTargets gathers targets.
type refTargets map[markup.Key]*refTarget

func (p refTargets) add(ref canon.Ref, by canon.CardID) {
	t, ok := p[ref.Target]
	if !ok {
		t = &refTarget{ref.Target, ref.Name, map[canon.CardID]bool{}}
		p[ref.Target] = t
	}
	t.name = min(t.name, ref.Name)
	t.cards[by] = true
}

// sortByCount returns the targets, those that most cards refer to first, then by key.
func (p refTargets) sortByCount() []*refTarget {
	return slices.SortedFunc(maps.Values(p), func(a, b *refTarget) int {
		return cmp.Or(cmp.Compare(len(b.cards), len(a.cards)), cmp.Compare(a.key, b.key))
	})
}

func (r reader) Wanted(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Wanted, canon.Total, error) {
	links, first := refTargets{}, map[markup.Key]canon.Ref{}
	for _, row := range r.visibleRefs(s) {
		if row.Ref.Kind != canon.RefLink || canon.HoldsTags(row.Card.Key) {
			continue
		}
		links.add(row.Ref, row.Card.ID)
		if f, ok := first[row.Ref.Target]; !ok || cmp.Or(bytes.Compare(row.Card.ID[:], f.From[:]),
			cmp.Compare(row.Ref.Order, f.Order)) < 0 {
			first[row.Ref.Target] = row.Ref
		}
	}
	var all []canon.Wanted
	for _, t := range links.sortByCount() {
		there, _ := r.FindCards(ctx, s, canon.CardQuery{Key: t.key})
		if aliased, _ := r.FindCards(ctx, s, canon.CardQuery{Alias: t.key}); len(there)+len(aliased) == 0 {
			all = append(all, canon.Wanted{Key: t.key, Name: first[t.key].Name, Count: len(t.cards)})
		}
	}
	out, total := cutPage(all, p)
	return out, total, nil
}

func (r reader) Tags(_ context.Context, s canon.Visibility, prefix string,
	p canon.Page) ([]canon.TagCount, canon.Total, error) {
	tags := refTargets{}
	for _, row := range r.visibleRefs(s) {
		if c, ok := r.taggedCard(s, row); ok {
			tags.add(row.Ref, c.ID)
		}
	}
	var all []canon.TagCount
	for _, t := range tags.sortByCount() {
		if strings.HasPrefix(markup.Fold(t.name), markup.Fold(prefix)) {
			all = append(all, canon.TagCount{Key: t.key, Name: t.name, Count: len(t.cards)})
		}
	}
	out, total := cutPage(all, p)
	return out, total, nil
}

func (r reader) Links(_ context.Context, s canon.Visibility, q canon.LinkQuery) ([]canon.Link, canon.Total, error) {
	var all []canon.Link
	for key := range r.s.links.all() {
		l, ok := r.findLink(s, key.id, q.AsOf)
		if ok && matchesLink(q, l) {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b canon.Link) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	out, total := cutPage(all, q.Page)
	return out, total, nil
}

func matchesLink(q canon.LinkQuery, l canon.Link) bool {
	return (q.From.IsZero() || q.From == l.From) && (q.To.IsZero() || q.To == l.To) &&
		(len(q.Froms) == 0 || slices.Contains(q.Froms, l.From)) &&
		(len(q.IDs) == 0 || slices.Contains(q.IDs, l.ID)) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, l.Kind))
}

// findLink returns a link as it was just after a commit, or as it is now for commit 0. The link and
// both its cards must be visible to the caller, and the cards alive.
func (r reader) findLink(s canon.Visibility, id canon.LinkID, asOf canon.Seq) (canon.Link, bool) {
	rows, _ := r.s.links.get(linkKey{s.World, id})
	for _, l := range rows {
		_, from := r.findLiving(s, l.From)
		_, to := r.findLiving(s, l.To)
		if from && to && s.View.Sees(l.Label) && isValidAt(l.Since, l.Until, asOf) {
			return l, true
		}
	}
	return canon.Link{}, false
}

// isValidAt reports whether a row of commits [since, until) was valid just after a commit, or is
// valid now for commit 0.
func isValidAt(since, until, asOf canon.Seq) bool {
	if asOf == 0 {
		return until == 0
	}
	return since <= asOf && (until == 0 || asOf < until)
}

func (r reader) Layers(_ context.Context, s canon.Visibility, q canon.LayerQuery) ([]canon.Layer, error) {
	var out []canon.Layer
	for key := range r.s.layers.all() {
		l, ok := r.findLayer(s, key.id, q.AsOf)
		of := l.Card == q.Card || q.Card.IsZero() && slices.Contains(q.Cards, l.Card)
		if len(q.IDs) > 0 {
			of = slices.Contains(q.IDs, l.ID)
		}
		if ok && of && (!q.Active || isActive(l, q.Tick)) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b canon.Layer) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), bytes.Compare(b.ID[:], a.ID[:]))
	})
	return out, nil
}

func isActive(l canon.Layer, tick int64) bool {
	return l.FromTick <= tick && (l.ToTick == 0 || tick <= l.ToTick)
}

// findLayer is findLink for layers.
func (r reader) findLayer(s canon.Visibility, id canon.LayerID, asOf canon.Seq) (canon.Layer, bool) {
	rows, _ := r.s.layers.get(layerKey{s.World, id})
	for _, l := range rows {
		_, card := r.findLiving(s, l.Card)
		if card && s.View.Sees(l.Label) && isValidAt(l.Since, l.Until, asOf) {
			return l, true
		}
	}
	return canon.Layer{}, false
}
