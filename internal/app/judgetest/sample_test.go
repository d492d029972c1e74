package judgetest

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
)

// whole reports whether make judge runs, which judges all cases.
func whole() bool { return os.Getenv("JUDGE_PAGE") != "" }

// sampleSize is the number of cases of a set that are asked if the whole set is not judged.
const sampleSize = 150

// sample returns all cases if the whole set is judged, else n of them, always the same.
func sample[T any](cases []T, n int) []T {
	if whole() || len(cases) <= n {
		return cases
	}
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]T, 0, n)
	for _, i := range r.Perm(len(cases))[:n] {
		out = append(out, cases[i])
	}
	return out
}

// share returns part/whole, and 0 of nothing.
func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
