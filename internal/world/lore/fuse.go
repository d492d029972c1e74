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
