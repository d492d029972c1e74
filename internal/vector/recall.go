package vector

import (
	"cmp"
	"math"
	"slices"
)

// Bounds of a sample of recall.
const (
	recallDepth   = 10 // nearest texts
	recallQueries = 4  // of a batch
)

// sampleRecall returns the share of the nearest texts by the model's own vectors that the stored, coarser vectors find
// among a batch, with some of its texts as queries. ok is false for a batch that is too small to tell.
func sampleRecall(exact [][]float32) (share float64, ok bool) {
	if len(exact) <= recallDepth+1 {
		return 0, false
	}
	stored := make([]vector, len(exact))
	for i, v := range exact {
		stored[i] = toVector(v)
	}
	found, queries := 0, min(recallQueries, len(exact))
	for n := range queries {
		q := n * len(exact) / queries
		want := nearestOf(len(exact), q, func(i int) float64 { return exactCosine(exact[q], exact[i]) })
		got := nearestOf(len(exact), q, func(i int) float64 { return float64(stored[q].cosine(stored[i])) })
		least := exactCosine(exact[q], exact[want[recallDepth-1]])
		for _, i := range got { // texts that are as near as the last wanted one are as good
			if slices.Contains(want, i) || exactCosine(exact[q], exact[i]) >= least {
				found++
			}
		}
	}
	return float64(found) / float64(queries*recallDepth), true
}

// nearestOf returns the numbers of the texts, but for the query, with the highest scores.
func nearestOf(n, query int, score func(int) float64) []int {
	list := make([]int, 0, n-1)
	scores := make([]float64, n)
	for i := range n {
		if i != query {
			list, scores[i] = append(list, i), score(i)
		}
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return list[:recallDepth]
}

// exactCosine returns the cosine similarity of two vectors, or 0 if their lengths differ or one of them is zero.
func exactCosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, ofA, ofB float64
	for i, x := range a {
		dot, ofA, ofB = dot+float64(x)*float64(b[i]), ofA+float64(x)*float64(x), ofB+float64(b[i])*float64(b[i])
	}
	if ofA == 0 || ofB == 0 {
		return 0
	}
	return dot / math.Sqrt(ofA*ofB)
}
