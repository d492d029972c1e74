package world

import (
	"context"

	"loregate/internal/canon"
)

// maxOfPlace bounds the links of a place that are prefetched.
const maxOfPlace = MaxExits + MaxHere + maxAnchors

// PrefetchPlace reads the links from and to a place in one query for each direction, and the cards
// at their other ends in one more. Later reads of these links and cards need no query. The links of
// a place with more than maxOfPlace links from it are not prefetched; they are read kind by kind
// later.
func (m *AsOf) PrefetchPlace(ctx context.Context, place canon.CardID) error {
	from, err := m.ReadLinks(ctx, canon.LinkQuery{From: place, Kinds: []string{LinkExit, LinkHolds, LinkAnchor}},
		maxOfPlace+1)
	if err != nil || len(from) > maxOfPlace {
		return err
	}
	to, err := m.ReadLinks(ctx, canon.LinkQuery{To: place, Kinds: []string{LinkAt}}, MaxHere)
	if err != nil {
		return err
	}
	m.prefetched = make(map[canon.CardID]*Card, len(from)+len(to))
	var ids []canon.CardID
	add := func(id canon.CardID) {
		if _, asked := m.prefetched[id]; !asked {
			m.prefetched[id] = nil
			ids = append(ids, id)
		}
	}
	for _, l := range from {
		if l.Kind != LinkAnchor {
			add(l.To)
		}
	}
	for _, l := range to {
		add(l.From)
	}
	var found []Card
	if len(ids) > 0 {
		found, err = m.readCards(ctx, ids)
	}
	for i := range found {
		m.prefetched[found[i].ID] = &found[i]
	}
	m.prefetchedPlace, m.linksFrom, m.linksTo = place, from, to
	return err
}

// ReadLinks lists links as of the commit that m shows.
func (m *AsOf) ReadLinks(ctx context.Context, q canon.LinkQuery, limit int) ([]canon.Link, error) {
	if len(q.Kinds) == 1 && !m.prefetchedPlace.IsZero() {
		switch {
		case q.From == m.prefetchedPlace && q.To.IsZero():
			var found []canon.Link
			for _, l := range m.linksFrom {
				if l.Kind == q.Kinds[0] && len(found) < limit {
					found = append(found, l)
				}
			}
			return found, nil
		case q.To == m.prefetchedPlace && q.From.IsZero() && q.Kinds[0] == LinkAt && limit <= MaxHere:
			return m.linksTo[:min(limit, len(m.linksTo))], nil
		}
	}
	q.AsOf, q.Page = m.Seq, canon.Page{Limit: limit, Uncounted: true}
	list, _, err := m.Links(ctx, q)
	return list, err
}
