package benchtest

import (
	"math/rand/v2"
	"sort"
	"strings"
)

// vocabulary is how many words the worlds are written in.
const vocabulary = 40_000

// prose makes text in which the word of rank n is 1/n as frequent as the first.
type prose struct {
	rnd   *rand.Rand
	words []string
	sums  []float64
}

// newProse has the same words for every seed, and another text.
func newProse(seed uint64) *prose {
	p := &prose{}
	r := rand.New(rand.NewPCG(1, 7))
	syllables := strings.Fields("ba ke lo mi nu ra se ti vo wen dar gol hin jas kur lem mor nel pash quin rok sul tam urd vex wyn yar zel an ost")
	seen := map[string]bool{}
	sum := 0.0
	for len(p.words) < vocabulary {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			p.words = append(p.words, w)
			sum += 1 / float64(len(p.words))
			p.sums = append(p.sums, sum)
		}
	}
	p.rnd = rand.New(rand.NewPCG(seed, 11))
	return p
}

// word draws a word by its frequency.
func (p *prose) word() string {
	x := p.rnd.Float64() * p.sums[len(p.sums)-1]
	return p.words[min(sort.SearchFloat64s(p.sums, x), len(p.words)-1)]
}

// text makes about size bytes.
func (p *prose) text(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(p.word())
		b.WriteByte(' ')
	}
	return b.String()
}
