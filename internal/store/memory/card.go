package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// livingCards returns the living cards visible to the caller, by key and id.
func (r reader) livingCards(s canon.Visibility) []canon.Card {
	var out []canon.Card
	for key, c := range r.s.cards.all() {
		if key.world == s.World && s.View.Sees(c.Label) && !c.Trashed() {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, byKey)
	return out
}

// findLiving returns a living card, if it is visible to the caller.
func (r reader) findLiving(s canon.Visibility, id canon.CardID) (canon.Card, bool) {
	c, ok := r.s.cards.get(cardKey{s.World, id})
	if !ok || !s.View.Sees(c.Label) || c.Trashed() {
		return canon.Card{}, false
	}
	return *c, true
}

// findVisible returns a card that a query names, if it is visible to the caller. A view that
// sees the trash also finds cards in it.
func (r reader) findVisible(s canon.Visibility, id canon.CardID) (canon.Card, bool) {
	c, ok := r.s.cards.get(cardKey{s.World, id})
	if !ok || !s.View.Sees(c.Label) || c.Trashed() && !s.View.SeesTrash() {
		return canon.Card{}, false
	}
	return *c, true
}

// listedCards returns the living cards that a search finds: livingCards without the lists of tags.
func (r reader) listedCards(s canon.Visibility) []canon.Card {
	return r.filterCards(s, canon.Filter{})
}

func byKey(a, b canon.Card) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), byID(a, b))
}

func byID(a, b canon.Card) int { return bytes.Compare(a.ID[:], b.ID[:]) }

func (r reader) FindCards(_ context.Context, s canon.Visibility, q canon.CardQuery) (out []canon.Card, err error) {
	switch {
	case q.OldKey != "":
		return r.formerHolders(s, q.OldKey), nil
	case !q.TrashRoot.IsZero():
		return r.trashedWith(s, q.TrashRoot), nil
	}
	if c, ok := r.findVisible(s, q.ID); ok {
		return []canon.Card{c}, nil
	}
	for _, id := range q.IDs {
		if c, ok := r.findLiving(s, id); ok {
			out = append(out, c)
		}
	}
	if q.Key == "" && q.Alias == "" && q.Codename == "" {
		return out, nil
	}
	for _, c := range r.livingCards(s) {
		if c.Key == q.Key || q.Codename != "" && c.Codename == q.Codename ||
			slices.ContainsFunc(c.Aliases(), func(a string) bool { return markup.KeyOf(a) == q.Alias }) {
			out = append(out, c)
		}
	}
	if q.Codename == "" {
		slices.SortFunc(out, canon.CompareHomonyms)
		return out, nil
	}
	slices.SortFunc(out,
		func(a, b canon.Card) int { return cmp.Or(cmp.Compare(a.Label.Level, b.Label.Level), byID(a, b)) })
	return out[:min(len(out), 1)], nil
}

// formerHolders returns the living cards that once had a key in a version visible to the caller,
// latest rename first.
func (r reader) formerHolders(s canon.Visibility, key markup.Key) (out []canon.Card) {
	type former struct {
		card canon.Card
		to   canon.Seq // end of the last visible version with the key
	}
	var found []former
	for _, c := range r.livingCards(s) {
		if c.Key == key {
			continue
		}
		var last canon.Seq
		rows, _ := r.s.versions.get(cardKey{s.World, c.ID})
		for _, v := range rows {
			if hadKey(s.View, v, key) {
				last = max(last, endOrMax(v.To))
			}
		}
		if last > 0 {
			found = append(found, former{c, last})
		}
	}
	slices.SortFunc(found, func(a, b former) int {
		return cmp.Or(cmp.Compare(b.to, a.to), byID(a.card, b.card))
	})
	for _, f := range found {
		out = append(out, f.card)
	}
	return out
}

// hadKey reports whether a view may know that a version had a key.
func hadKey(view access.View, v canon.Version, key markup.Key) bool {
	return view.Sees(v.Label) && markup.KeyOf(v.Name) == key ||
		v.Former.Name != "" && view.Sees(v.Former.Label) && markup.KeyOf(v.Former.Name) == key
}

// endOrMax makes ends of versions comparable: a version without an end ends last.
func endOrMax(end canon.Seq) canon.Seq {
	return cmp.Or(end, ^canon.Seq(0))
}

func (r reader) Cards(_ context.Context, s canon.Visibility, f canon.Filter,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	all := r.filterCards(s, f)
	sortCards(all, f.Sort)
	out, total := cutPage(all, p)
	return out, total, nil
}

// filterCards returns the living cards visible to the caller that pass a filter, by key and id.
func (r reader) filterCards(s canon.Visibility, f canon.Filter) []canon.Card {
	return slicesx.Filter(r.livingCards(s), func(c canon.Card) bool { return r.matchesFilter(s, f, c) })
}

func (r reader) matchesFilter(s canon.Visibility, f canon.Filter, c canon.Card) bool {
	return f.Fits(c) && (f.Tag == "" || r.hasTag(s, c.ID, markup.KeyOf(f.Tag)))
}

// sortCards sorts cards that are already sorted by key and id.
func sortCards(cards []canon.Card, by canon.Sort) {
	switch by {
	case canon.SortUpdated:
		slices.SortStableFunc(cards, func(a, b canon.Card) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	case canon.SortCreated:
		slices.SortStableFunc(cards, func(a, b canon.Card) int { return b.CreatedAt.Compare(a.CreatedAt) })
	case canon.SortField:
		slices.SortStableFunc(cards, func(a, b canon.Card) int { return cmp.Compare(a.SortValue(), b.SortValue()) })
	}
}

func (r reader) Descendants(_ context.Context, s canon.Visibility, id canon.CardID, depth int,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	var all []canon.Card
	if root, ok := r.findLiving(s, id); ok {
		generation := []canon.Card{root}
		for ; depth > 0 && len(generation) > 0; depth-- {
			generation = r.childrenOf(s, generation)
			all = append(all, generation...)
		}
	}
	out, total := cutPage(all, p)
	return out, total, nil
}

// childrenOf returns the living children of cards that are visible to the caller, parent by parent.
func (r reader) childrenOf(s canon.Visibility, parents []canon.Card) []canon.Card {
	cards := r.livingCards(s)
	slices.SortFunc(cards, func(a, b canon.Card) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), byID(a, b))
	})
	var out []canon.Card
	for _, p := range parents {
		for _, c := range cards {
			if c.Parent == p.ID {
				out = append(out, c)
			}
		}
	}
	return out
}

func (r reader) Trash(_ context.Context, s canon.Visibility, p canon.Page) ([]canon.Card, canon.Total, error) {
	var all []canon.Card
	for key, c := range r.s.cards.all() {
		if _, ok := r.findVisible(s, key.id); ok && key.world == s.World && c.Trashed() && c.TrashRoot == c.ID {
			all = append(all, *c)
		}
	}
	slices.SortFunc(all, func(a, b canon.Card) int {
		return cmp.Or(b.TrashedAt.Compare(a.TrashedAt), byKey(a, b))
	})
	out, total := cutPage(all, p)
	return out, total, nil
}

// trashedWith returns the visible cards that went to the trash with root, root first.
func (r reader) trashedWith(s canon.Visibility, root canon.CardID) (out []canon.Card) {
	for key, c := range r.s.cards.all() {
		if key.world == s.World && s.View.Sees(c.Label) && c.Trashed() && c.TrashRoot == root {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(a, b canon.Card) int {
		return cmp.Or(boolToInt(a.ID != root)-boolToInt(b.ID != root), byKey(a, b))
	})
	return out
}

func (r reader) TypeUse(_ context.Context, s canon.Visibility) (map[string]int, error) {
	use := map[string]int{}
	for _, c := range r.listedCards(s) {
		use[string(markup.KeyOf(c.Type))]++
	}
	return use, nil
}
