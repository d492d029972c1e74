package search

import (
	"cmp"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"loregate/internal/store/words"
)

// source walks the documents of a part that have a term: a list as it is kept, with dead
// documents in it, or the living documents of several lists, by the tally of their weights
// or as entries with their weights as their text.
type source struct {
	list
	sum    *tally
	found  []entry
	isList bool
	dense  dense  // where the term is frequent; its list is then not walked with others
	named  *list  // of a dense term in texts: its list again, where has is
	any    []list // of marks, where each document is tested for one of them; not walked
	ended  bool
	living int // documents that live
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
	return s.from(s.last.doc + 1) // of none yet it is the greatest number
}

func (s *source) advance(doc uint32) bool {
	if s.isList {
		return s.list.advance(doc)
	}
	return s.last.doc != end && s.last.doc >= doc || s.from(doc)
}

// from goes to the first living document from one on.
func (s *source) from(doc uint32) bool {
	switch {
	case s.ended:
	case s.sum != nil:
		for ; int(doc) < len(s.sum.counts); doc++ {
			if weight := s.sum.counts[doc]; weight > 0 {
				s.last = entry{doc: doc, text: weight}
				return true
			}
		}
	default:
		i, _ := slices.BinarySearchFunc(s.found, doc, func(e entry, doc uint32) int { return cmp.Compare(e.doc, doc) })
		if s.found = s.found[i:]; len(s.found) > 0 {
			s.last = s.found[0]
			return true
		}
	}
	s.last, s.ended = entry{doc: end}, true
	return false
}

func listed(p *part, dict, term, living int) source {
	d := &p.dicts[dict]
	return source{list: d.list(term), isList: true, dense: d.dense(term, p.n), living: living}
}

func entries(list []entry) source {
	return source{list: unread, found: list, living: len(list)}
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

// place is a term of a dictionary.
type place struct{ dict, term int }

// single finds documents with a token that fits a piece.
func (f *finding) single(p *part, piece words.Piece) (source, error) {
	var found []place
	for _, dict := range f.dictionaries() {
		for _, term := range p.dicts[dict].fitting(piece) {
			found = append(found, place{dict, term})
		}
	}
	if len(found) != 1 {
		return f.union(p, found, f.columns)
	}
	dict, term := found[0].dict, found[0].term
	s := listed(p, dict, term, p.docFreq(dict, term))
	if dict == ofAll && f.columns == inTexts {
		s.living, s.texts = p.textFreq(term), true
	}
	return s, nil
}

// dictionaries are those of the columns that are looked into.
func (f *finding) dictionaries() (list []int) {
	switch f.columns {
	case inNames:
		list = append(list, ofNames)
	case inBoth, inTexts:
		list = append(list, ofAll)
	}
	if f.q.Fields {
		list = append(list, ofFields)
	}
	return list
}

// testFrom is from how many documents of some marks on, for each that may be found, to test
// those takes less time than to gather all. It is above denseFrom, so that the rarest term is
// then none of the frequent ones, and is walked.
const testFrom = 16

// marked finds documents that have one of several marks.
func (f *finding) marked(p *asked, any []string) (source, error) {
	most := p.most()
	if most == 0 {
		return entries(nil), nil
	}
	d := &p.dicts[ofMarks]
	var found []place
	docs := 0
	for _, mark := range any {
		if i, ok := d.find(mark); ok && !slices.Contains(found, place{ofMarks, i}) {
			found = append(found, place{ofMarks, i})
			docs += d.docFreq(i)
		}
	}
	switch {
	case len(found) == 1:
		return listed(p.part, ofMarks, found[0].term, p.docFreq(ofMarks, found[0].term)), nil
	case len(found) > 1 && testFrom*most < min(docs, p.n):
		s := source{list: unread, living: docs, any: make([]list, len(found))}
		for i, at := range found {
			s.any[i] = d.list(at.term)
		}
		return s, nil
	}
	return f.union(p.part, found, inTexts)
}

// among finds the documents of the ids that are asked for.
func (f *finding) among(p *part) source {
	var found []entry
	for _, id := range f.q.Among {
		if doc, ok := p.find(id); ok {
			found = append(found, entry{doc: doc})
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return cmp.Compare(a.doc, b.doc) })
	return entries(found)
}

// union gathers the living documents of several terms, with what they weigh together.
func (f *finding) union(p *part, terms []place, what columns) (source, error) {
	if len(terms) == 0 {
		return entries(nil), nil
	}
	sum, err := f.tally(p.n)
	if err != nil {
		return source{}, err
	}
	for _, at := range terms {
		if err := f.ctx.Err(); err != nil {
			return source{}, err
		}
		l := p.dicts[at.dict].list(at.term)
		l.addTo(sum.counts, what)
	}
	return source{list: unread, sum: sum, living: sum.living(p)}, nil
}

// tally sums what terms weigh by document.
type tally struct{ counts []uint32 }

var smallTallies = sync.Pool{New: func() any { return &tally{} }}

// largeTally is above how many documents a tally is large: from 64 KiB on.
const largeTally = 1 << 14

// desk keeps large tallies for one search at a time. A pool would keep some for each
// processor, and after each collection as many again: at a million cards half of the heap.
type desk struct{ spare []*tally }

// deskHolds is of how many documents a desk keeps tallies between searches: 8 MiB.
const deskHolds = 1 << 21

// desks has as many as searches may use large tallies at once. More of them would get no
// more processors, and take memory while they wait.
var desks = makeDesks(max(2, runtime.GOMAXPROCS(0)))

func makeDesks(n int) chan *desk {
	c := make(chan *desk, n)
	for range n {
		c <- &desk{}
	}
	return c
}

// take gives a tally that is kept and is large enough, or a new one.
func (d *desk) take(n int) *tally {
	i := slices.IndexFunc(d.spare, func(t *tally) bool { return cap(t.counts) >= n })
	if i < 0 {
		return &tally{make([]uint32, n)}
	}
	t := d.spare[i]
	d.spare = slices.Delete(d.spare, i, i+1)
	t.counts = t.counts[:n]
	return t
}

// keep keeps tallies that were in use, and of the others as many as there is room for.
func (d *desk) keep(used []*tally) {
	d.spare = append(slices.Clip(used), d.spare...)
	room := deskHolds
	d.spare = slices.DeleteFunc(d.spare, func(t *tally) bool {
		room -= cap(t.counts)
		return room < 0
	})
}

// tally gives an empty tally for some documents, till release.
func (f *finding) tally(n int) (*tally, error) {
	if n <= largeTally {
		t, _ := smallTallies.Get().(*tally)
		t.counts = slices.Grow(t.counts[:0], n)[:n]
		f.small = append(f.small, t)
		return t, nil
	}
	if f.desk == nil {
		select {
		case f.desk = <-desks:
		case <-f.ctx.Done():
			return nil, f.ctx.Err()
		}
	}
	t := f.desk.take(n)
	f.large = append(f.large, t)
	return t, nil
}

// release gives back what a search worked with, empty: a search that was cut off leaves
// documents counted, and the next one that uses the tally may be of another world.
func (f *finding) release() {
	for _, t := range f.small {
		clear(t.counts)
		smallTallies.Put(t)
	}
	if f.small = nil; f.desk == nil {
		return
	}
	for _, t := range f.large {
		clear(t.counts)
	}
	f.desk.keep(f.large)
	desks <- f.desk
	f.desk, f.large = nil, nil
}

// living takes out the documents that are gone, and gives how many are left.
func (t *tally) living(p *part) (n int) {
	for at, word := range p.dead {
		for ; word != 0; word &= word - 1 {
			t.counts[64*at+bits.TrailingZeros64(word)] = 0
		}
	}
	for _, count := range t.counts {
		if count > 0 {
			n++
		}
	}
	return n
}
