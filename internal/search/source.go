package search

import (
	"math/bits"
	"slices"
	"sync"

	"loregate/internal/store/words"
)

// source walks the documents of a part that have a term: a list as it is kept, with dead
// documents in it, or entries that were gathered from several, without them.
type source struct {
	list
	gathered []entry
	isList   bool
	living   int // documents that live
}

func (s *source) n() int {
	if s.isList {
		return s.list.n
	}
	return s.living
}

func (s *source) next() bool {
	if s.isList {
		return s.list.next()
	}
	if len(s.gathered) == 0 {
		s.last = entry{doc: end}
		return false
	}
	s.last, s.gathered = s.gathered[0], s.gathered[1:]
	return true
}

func (s *source) advance(doc uint32) bool {
	if s.isList {
		return s.list.advance(doc)
	}
	if s.last.doc >= doc && s.last.doc != end {
		return true
	}
	step := 1
	for step < len(s.gathered) && s.gathered[step].doc < doc {
		step *= 2
	}
	from := step / 2
	to := min(step+1, len(s.gathered))
	i, _ := slices.BinarySearchFunc(s.gathered[min(from, to):to], doc, func(e entry, doc uint32) int {
		if e.doc < doc {
			return -1
		}
		return 1
	})
	s.gathered = s.gathered[min(from, to)+i:]
	return s.next()
}

func listed(d *dictionary, term, living int) source {
	return source{list: d.list(term), isList: true, living: living}
}

func entries(list []entry) source {
	return source{list: unread, gathered: list, living: len(list)}
}

// unread is a list that nothing was read of.
var unread = list{last: entry{doc: end}}

// source finds a term in a part.
func (f *finding) source(p *part, t words.Term) (source, error) {
	if len(t.Row) > 1 {
		return f.inRow(p, t.Row)
	}
	return f.single(p, t.Row[0])
}

// single finds documents with a token that fits a piece.
func (f *finding) single(p *part, piece words.Piece) (source, error) {
	dict := ofAll
	if f.columns == inNames {
		dict = ofNames
	}
	d := &p.dicts[dict]
	terms := d.fitting(piece)
	switch {
	case len(terms) == 0:
		return entries(nil), nil
	case len(terms) == 1 && f.columns != inTexts:
		return listed(d, terms[0], p.docFreq(dict, terms[0])), nil
	}
	return f.union(p, dict, terms)
}

// marked finds documents that have one of several marks.
func (f *finding) marked(p *part, any []string) (source, error) {
	d := &p.dicts[ofMarks]
	var terms []int
	for _, mark := range any {
		if i, ok := d.find(mark); ok {
			terms = append(terms, i)
		}
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	if len(terms) == 1 {
		return listed(d, terms[0], p.docFreq(ofMarks, terms[0])), nil
	}
	return f.union(p, ofMarks, terms)
}

// union gathers the living documents of several terms, with how often they are there
// together.
func (f *finding) union(p *part, dict int, terms []int) (source, error) {
	if len(terms) == 0 {
		return entries(nil), nil
	}
	d := &p.dicts[dict]
	sum := f.tally(p.n)
	for _, term := range terms {
		if err := f.ctx.Err(); err != nil {
			return source{}, err
		}
		for l := d.list(term); l.next(); {
			e := l.last
			if dict == ofAll && f.columns == inTexts {
				if e.inName = 0; e.text == 0 {
					continue
				}
			}
			if !p.isDead(e.doc) {
				sum.count(e)
			}
		}
	}
	return entries(sum.entries()), nil
}

// tally sums entries by document.
type tally struct {
	counts []uint64 // by document: inName << 32 | text
	seen   []uint64 // a bit a document
	n      int
	list   []entry
}

var tallies = sync.Pool{New: func() any { return &tally{} }}

// tally gives an empty tally for some documents, till release.
func (f *finding) tally(n int) *tally {
	t, _ := tallies.Get().(*tally)
	if cap(t.counts) < n {
		t.counts = make([]uint64, n)
	}
	if words := (n + 63) / 64; cap(t.seen) < words {
		t.seen = make([]uint64, words)
	}
	t.counts, t.seen, t.n = t.counts[:n], t.seen[:(n+63)/64], 0
	f.scratch = append(f.scratch, t)
	return t
}

// release gives back what a search worked with, empty: a search that was cut off leaves
// documents counted, and the next one that uses the tally may be of another world.
func (f *finding) release() {
	for _, t := range f.scratch {
		clear(t.seen)
		tallies.Put(t)
	}
}

func (t *tally) count(e entry) {
	bit := uint64(1) << (e.doc % 64)
	if t.seen[e.doc/64]&bit == 0 {
		t.seen[e.doc/64] |= bit
		t.counts[e.doc] = 0
		t.n++
	}
	t.counts[e.doc] += uint64(e.inName)<<32 | uint64(e.text)
}

// entries gives the documents that were counted, rising, valid till the tally is released.
func (t *tally) entries() []entry {
	list := slices.Grow(t.list[:0], t.n)
	for i, word := range t.seen {
		for ; word != 0; word &= word - 1 {
			doc := uint32(i)*64 + uint32(bits.TrailingZeros64(word))
			list = append(list, entry{doc, uint32(t.counts[doc] >> 32), uint32(t.counts[doc])})
		}
	}
	t.list = list
	return list
}
