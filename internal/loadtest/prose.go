package loadtest

import (
	"math/rand/v2"
	"sort"
	"strings"
)

// vocabulary is the number of different words in the texts.
const vocabulary = 40_000

// Prose generates text in which the word of rank n is 1/n as frequent as the first. The words are
// the same for every seed. It is not safe for concurrent use.
type Prose struct {
	Words []string // by rank

	rnd  *rand.Rand
	sums []float64
}

// NewProse returns a source of text.
func NewProse(seed uint64) *Prose {
	p := &Prose{}
	r := rand.New(rand.NewPCG(1, 7))
	syllables := strings.Fields("ba ke lo mi nu ra se ti vo wen dar gol hin jas kur lem mor nel pash quin rok sul tam urd vex wyn yar zel an ost")
	seen := map[string]bool{}
	sum := 0.0
	for len(p.Words) < vocabulary {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			p.Words = append(p.Words, w)
			sum += 1 / float64(len(p.Words))
			p.sums = append(p.sums, sum)
		}
	}
	return p.Fork(seed)
}

// Fork returns a source of other text with the same words.
func (p *Prose) Fork(seed uint64) *Prose {
	return &Prose{Words: p.Words, sums: p.sums, rnd: rand.New(rand.NewPCG(seed, 11))}
}

// Word returns a random word by its frequency.
func (p *Prose) Word() string {
	x := p.rnd.Float64() * p.sums[len(p.sums)-1]
	return p.Words[min(sort.SearchFloat64s(p.sums, x), len(p.Words)-1)]
}

// Text returns text of about size bytes.
func (p *Prose) Text(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(p.Word())
		b.WriteByte(' ')
	}
	return b.String()
}
