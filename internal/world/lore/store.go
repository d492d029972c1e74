package lore

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/world"
)

// searchStore finds facts in a world that has too many for an index. It combines the store's
// searches by words in any form, by name and alias, and by similar names, fused by rank as in an
// index. The word search requires all words; only if that finds nothing does it search each word
// separately.
func (l *Lore) searchStore(ctx context.Context, snap *canon.Snapshot, query string, k int) ([]match, error) {
	s := &storeSearch{places: map[canon.CardID]int32{}}
	words, err := s.searchWords(ctx, snap, query, l.factsFilter())
	if err != nil {
		return nil, err
	}
	named, err := s.searchNames(ctx, snap, l, query)
	if err != nil {
		return nil, err
	}
	hits, err := snap.NearCards(ctx, query, l.factsFilter(), fusedDepth)
	if err != nil {
		return nil, err
	}
	var found []match
	for _, r := range fuseRankings(words, named, s.toRanked(hits)) {
		c := s.cards[r.doc]
		kind, _ := l.factType(world.CardOf(c))
		if found = append(found, match{card: c, kind: kind, score: r.score}); len(found) == k {
			break
		}
	}
	return found, nil
}

// storeSearch numbers the cards that appear in several rankings.
type storeSearch struct {
	cards  []canon.Card
	places map[canon.CardID]int32
}

func (s *storeSearch) docNumber(c canon.Card) int32 {
	i, ok := s.places[c.ID]
	if !ok {
		i = int32(len(s.cards))
		s.places[c.ID] = i
		s.cards = append(s.cards, c)
	}
	return i
}

func (s *storeSearch) toRanked(hits []canon.Hit) (list []ranked) {
	for _, h := range hits {
		list = append(list, ranked{s.docNumber(h.Card), h.Score})
	}
	return list
}

func (s *storeSearch) searchWords(ctx context.Context, snap *canon.Snapshot, query string,
	f canon.Filter) ([]ranked, error) {
	var full []string
	for _, w := range foldedWords(query) {
		if !stopWords[w] && !slices.Contains(full, w) && len(full) < maxStoreWords {
			full = append(full, w)
		}
	}
	ask := func(q string) (canon.SearchResult, error) {
		return snap.Search(ctx, canon.SearchQuery{Q: q, InName: true, InContent: true, InFields: true, Mode: canon.MatchStem,
			Filter: f}, canon.Page{Limit: fusedDepth})
	}
	all, err := ask(strings.Join(full, " "))
	if err != nil || len(all.Hits) > 0 || len(full) < 2 {
		return s.toRanked(all.Hits), err
	}
	scores := map[int32]float64{}
	for _, w := range full {
		r, err := ask(w)
		if err != nil {
			return nil, err
		}
		for _, h := range s.toRanked(r.Hits) {
			scores[h.doc] += h.score
		}
	}
	return (*index)(nil).topRanked(scores), nil
}

// maxStoreWords bounds the words of a query that are searched.
const maxStoreWords = 8

// searchNames returns the facts whose name or alias is the whole query.
func (s *storeSearch) searchNames(ctx context.Context, snap *canon.Snapshot, l *Lore,
	query string) (list []ranked, err error) {
	cards, err := snap.ByAlias(ctx, query)
	if err != nil {
		return nil, err
	}
	if c, ok, err := snap.ByKey(ctx, markup.KeyOf(query)); err != nil || ok {
		if err != nil {
			return nil, err
		}
		cards = append([]canon.Card{c}, cards...)
	}
	for _, c := range cards {
		if _, ok := l.factType(world.CardOf(c)); ok && c.Codename != "" {
			list = append(list, ranked{s.docNumber(c), 1})
		}
	}
	return list, nil
}
