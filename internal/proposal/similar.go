package proposal

import (
	"hash/fnv"
	"math"
	"math/bits"
	"slices"
	"strings"

	"loregate/internal/safety"
)

// shingleWords is how many words in a row make a shingle.
const shingleWords = 3

// signature is what texts are compared by: their shingles, sorted and each once, and the
// SimHash of those (Charikar, 2002; 64 bits).
type signature struct {
	shingles []uint64
	sim      uint64
}

// signatureOf is the signature of texts; of none it is empty, and like nothing.
func signatureOf(texts []Text) signature {
	var s signature
	for _, t := range texts {
		s.shingles = appendShingles(s.shingles, safety.Fold(t.Text))
	}
	slices.Sort(s.shingles)
	s.shingles = slices.Compact(s.shingles)
	s.sim = simHash(s.shingles)
	return s
}

func appendShingles(list []uint64, words []string) []uint64 {
	if len(words) == 0 {
		return list
	}
	for i := 0; i == 0 || i+shingleWords <= len(words); i++ {
		h := fnv.New64a()
		_, _ = h.Write([]byte(strings.Join(words[i:min(i+shingleWords, len(words))], " ")))
		list = append(list, h.Sum64())
	}
	return list
}

func simHash(shingles []uint64) (sim uint64) {
	var votes [64]int
	for _, h := range shingles {
		for b := range votes {
			votes[b] += int(h>>b&1)*2 - 1
		}
	}
	for b, v := range votes {
		if v > 0 {
			sim |= 1 << b
		}
	}
	return sim
}

// like reports whether two signatures are near the same by a measure of the limits.
func (s signature) like(o signature, l Limits) bool {
	if len(s.shingles) == 0 || len(o.shingles) == 0 {
		return false
	}
	if bits.OnesCount64(s.sim^o.sim) <= l.Distance {
		return true
	}
	few, many := len(s.shingles), len(o.shingles)
	if few > many {
		few, many = many, few
	}
	if float64(few) < l.Likeness*float64(many) {
		return false // even were the fewer all among the many
	}
	return s.shares(o, l.Likeness) && s.jaccard(o) >= l.Likeness
}

// shares reports whether the least shingles of both have one in common, as they do where
// the likeness is reached: the prefix filter of set joins (Chaudhuri, Ganti and Kaushik, 2006).
func (s signature) shares(o signature, likeness float64) bool {
	a, b := s.shingles[:prefixOf(len(s.shingles), likeness)], o.shingles[:prefixOf(len(o.shingles), likeness)]
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			return true
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

// prefixOf is how many of n shingles may be missing from a set of the likeness, and one.
func prefixOf(n int, likeness float64) int {
	return n - int(math.Ceil(likeness*float64(n)-1e-9)) + 1
}

// jaccard is the share of shingles in either that are in both.
func (s signature) jaccard(o signature) float64 {
	both, i, j := 0, 0, 0
	for i < len(s.shingles) && j < len(o.shingles) {
		switch a, b := s.shingles[i], o.shingles[j]; {
		case a == b:
			both, i, j = both+1, i+1, j+1
		case a < b:
			i++
		default:
			j++
		}
	}
	return float64(both) / float64(len(s.shingles)+len(o.shingles)-both)
}
