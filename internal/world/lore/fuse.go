package lore

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Constants of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): a fact scores
// 1/(60+rank) in each list that contains it. Scores of different lists are never compared.
const (
	fuseK      = 60
	fusedDepth = 100 // entries of a list that are used
)

// fuseRankings merges rankings. A fact that is first in every list that is not empty scores 1.
// Facts of equal score are ordered by id.
func fuseRankings(lists ...[]ranked) []ranked {
	scores, most := map[int32]float64{}, 0.0
	for _, list := range lists {
		if len(list) == 0 {
			continue
		}
		most += 1.0 / (fuseK + 1)
		for i, r := range list {
			scores[r.doc] += 1 / float64(fuseK+1+i)
		}
	}
	out := make([]ranked, 0, len(scores))
	for d, s := range scores {
		out = append(out, ranked{d, math.Round(s/most*1e4) / 1e4})
	}
	slices.SortFunc(out, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc)) })
	return out
}

// rankQuery ranks facts for a query by words, by name and by similar names, and fuses these
// rankings with more.
func (x *index) rankQuery(query string, more ...[]ranked) []ranked {
	folded := strings.Join(foldedWords(query), " ")
	terms := queryTerms(x.language, query)
	plain := make([]term, len(terms))
	for i, t := range terms {
		plain[i] = term{t, 1}
	}
	lists := [][]ranked{x.rankByWords(plain), x.rankByName(folded), x.rankByLikeName(folded)}
	if mended, changed := x.correctTerms(terms); changed {
		lists = append(lists, x.rankByWords(mended))
	}
	return fuseRankings(append(lists, more...)...)
}

// letterSlips returns the number of letters that must be inserted, deleted, replaced or swapped
// with the next one to turn a into b.
func letterSlips(a, b []rune) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		now[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			now[j+1] = min(last[j+1]+1, now[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
