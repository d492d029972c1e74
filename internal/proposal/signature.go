package proposal

import (
	"hash/fnv"
	"math"
	"math/bits"
	"slices"
	"strings"

	"loregate/internal/safety"
)

// shingleWords is the number of consecutive words in a shingle.
const shingleWords = 3

// signature is the data by which texts are compared: their distinct shingles, sorted, and the
// SimHash of the shingles (Charikar, 2002; 64 bits).
type signature struct {
	shingles []uint64
	sim      uint64
}

// signatureOf returns the signature of texts. Without texts it is empty and like no other.
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

// maxWords bounds the words that hashWords returns.
const maxWords = 500

// hashWords returns a hash of each word of texts.
func hashWords(texts []Text) (list []uint32) {
	for _, t := range texts {
		for _, word := range safety.Fold(t.Text) {
			if len(list) < maxWords {
				h := fnv.New32a()
				_, _ = h.Write([]byte(word))
				list = append(list, h.Sum32())
			}
		}
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

// isLike reports whether two signatures are nearly the same by one of the two measures in Limits.
func (s signature) isLike(o signature, l Limits) bool {
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
		return false // even if the smaller set were part of the larger
	}
	return s.sharesPrefix(o, l.Likeness) && s.jaccard(o) >= l.Likeness
}

// sharesPrefix reports whether the smallest shingles of both have one in common. They do whenever
// the likeness is reached: the prefix filter of set joins (Chaudhuri, Ganti and Kaushik, 2006).
func (s signature) sharesPrefix(o signature, likeness float64) bool {
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

// prefixOf returns one more than the number of n shingles that may be missing from a set of this
// likeness.
func prefixOf(n int, likeness float64) int {
	return n - int(math.Ceil(likeness*float64(n)-1e-9)) + 1
}

// jaccard returns the number of shingles in both divided by the number in either.
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
