package memory

import (
	"context"
	"slices"

	"loregate/internal/canon"
)

func (r reader) Reach(ctx context.Context, s canon.Visibility, q canon.ReachQuery) (out canon.Reached, err error) {
	links, _, err := r.Links(ctx, s, canon.LinkQuery{Kinds: q.Kinds, AsOf: q.AsOf, Page: canon.Page{Limit: 1 << 62}})
	if err != nil {
		return out, err
	}
	start, ok := r.findLiving(s, q.From)
	if !ok {
		return out, nil
	}
	seen := map[canon.CardID]bool{start.ID: true}
	frontier := []canon.Card{start}
	for depth := 0; len(frontier) > 0 && depth <= q.Depth; depth++ {
		for _, c := range frontier {
			if len(out.Cards) == q.Limit {
				out.Cut = true
				break
			}
			out.Cards, out.Depth = append(out.Cards, c), append(out.Depth, depth)
		}
		frontier = r.nextCards(s, q, links, frontier, seen)
	}
	if q.CardsOnly {
		return out, nil
	}
	for _, l := range links {
		from, to := slices.ContainsFunc(out.Cards, isCard(l.From)), slices.ContainsFunc(out.Cards, isCard(l.To))
		if from && to {
			out.Links = append(out.Links, l)
		}
	}
	return out, nil
}

func isCard(id canon.CardID) func(canon.Card) bool {
	return func(c canon.Card) bool { return c.ID == id }
}

// nextCards returns the cards that are one link further and not in seen, by key and id.
func (r reader) nextCards(s canon.Visibility, q canon.ReachQuery, links []canon.Link, from []canon.Card,
	seen map[canon.CardID]bool) (next []canon.Card) {
	add := func(here, there canon.CardID) {
		if !seen[there] && slices.ContainsFunc(from, isCard(here)) {
			c, _ := r.findLiving(s, there)
			seen[there] = true
			next = append(next, c)
		}
	}
	for _, l := range links {
		add(l.From, l.To)
		if q.Both {
			add(l.To, l.From)
		}
	}
	slices.SortFunc(next, byKey)
	return next
}

func (r reader) LinkMax(ctx context.Context, s canon.Visibility, kind, attr string) (most int64, ok bool, err error) {
	links, _, err := r.Links(ctx, s, canon.LinkQuery{Kinds: []string{kind}, Page: canon.Page{Limit: 1 << 62}})
	for _, l := range links {
		if n, is := l.Integer(attr); is && (!ok || n > most) {
			most, ok = n, true
		}
	}
	return most, ok, err
}
