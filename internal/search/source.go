package search

import (
	"cmp"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"loregate/internal/store/words"
)

// source iterates over the documents of a part that have a term. It is either a stored posting
// list, which includes dead documents, or the living documents of several posting lists: as a tally
// of their weights, or as entries with the weight in text.
type source struct {
	list
	sum    *tally
	found  []entry
	isList bool
	dense  dense  // set if the term is frequent; then its list is not walked together with others
	named  *list  // second iterator over the list of a dense term, used by hasDoc in texts
	any    []list // lists of several marks, for which each document is tested; not walked
	ended  bool
	living int // number of living documents; for any, the sum over its lists
}

func (s *source) docCount() int {
	if s.isList {
		return s.list.n
	}
	return s.living
}

func (s *source) next() bool {
	if s.isList {
		return s.list.next()
	}
	return s.seekLiving(s.last.doc + 1) // at the start doc is end, and end + 1 is 0
}

func (s *source) advance(doc uint32) bool {
	if s.isList {
		return s.list.advance(doc)
	}
	return s.last.doc != end && s.last.doc >= doc || s.seekLiving(doc)
}

// seekLiving moves to the first living document that is at least doc.
func (s *source) seekLiving(doc uint32) bool {
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

func listSource(p *part, dict, term, living int) source {
	d := &p.dicts[dict]
	return source{list: d.openList(term), isList: true, dense: d.findDense(term, p.n), living: living}
}

func entriesSource(list []entry) source {
	return source{list: unread, found: list, living: len(list)}
}

// unread is a list from which nothing has been read.
var unread = list{last: entry{doc: end}}

// termSource returns a source of the documents that have a term.
func (f *searcher) termSource(p *part, t words.Term) (source, error) {
	if len(t.Row) > 1 {
		return f.phraseSource(p, t.Row)
	}
	return f.pieceSource(p, t.Row[0])
}

// dictTerm is a term of a dictionary.
type dictTerm struct{ dict, term int }

// pieceSource returns a source of the documents with a token that fits a piece.
func (f *searcher) pieceSource(p *part, piece words.Piece) (source, error) {
	var found []dictTerm
	for _, dict := range f.searchedDicts() {
		for _, term := range p.dicts[dict].fittingTerms(piece, nil) {
			found = append(found, dictTerm{dict, term})
		}
	}
	if len(found) != 1 {
		return f.sumTerms(p, found, f.columns)
	}
	dict, term := found[0].dict, found[0].term
	s := listSource(p, dict, term, p.docFreq(dict, term))
	if dict == ofAll && f.columns == inTexts {
		s.living, s.texts = p.textFreq(term), true
	}
	return s, nil
}

// searchedDicts returns the dictionaries of the searched columns.
func (f *searcher) searchedDicts() (list []int) {
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

// testFrom is the ratio of the documents of some marks to the candidate documents above which
// testing each candidate is faster than gathering all documents of the marks. It is above
// denseFrom, so that in this case the rarest term is not a frequent one and is walked.
const testFrom = 16

// markSource returns a source of the documents that have at least one of several marks.
func (f *searcher) markSource(p *searchedPart, any []string) (source, error) {
	most := p.maxDocs()
	if most == 0 {
		return entriesSource(nil), nil
	}
	d := &p.dicts[ofMarks]
	var found []dictTerm
	docs := 0
	for _, mark := range any {
		if i, ok := d.findTerm(mark); ok && !slices.Contains(found, dictTerm{ofMarks, i}) {
			found = append(found, dictTerm{ofMarks, i})
			docs += d.docFreq(i)
		}
	}
	switch {
	case len(found) == 1:
		return listSource(p.part, ofMarks, found[0].term, p.docFreq(ofMarks, found[0].term)), nil
	case len(found) > 1 && testFrom*most < min(docs, p.n):
		s := source{list: unread, living: docs, any: make([]list, len(found))}
		for i, at := range found {
			s.any[i] = d.openList(at.term)
		}
		return s, nil
	}
	return f.sumTerms(p.part, found, inTexts)
}

// amongSource returns a source of the documents with the ids in Query.Among.
func (f *searcher) amongSource(p *part) source {
	var found []entry
	for _, id := range f.q.Among {
		if doc, ok := p.findDoc(id); ok {
			found = append(found, entry{doc: doc})
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return cmp.Compare(a.doc, b.doc) })
	return entriesSource(found)
}

// sumTerms returns a source of the living documents that have any of the terms, with the sum of the
// terms' weights.
func (f *searcher) sumTerms(p *part, terms []dictTerm, what columns) (source, error) {
	if len(terms) == 0 {
		return entriesSource(nil), nil
	}
	sum, err := f.borrowTally(p.n)
	if err != nil {
		return source{}, err
	}
	for _, at := range terms {
		if err := f.ctx.Err(); err != nil {
			return source{}, err
		}
		l := p.dicts[at.dict].openList(at.term)
		l.addWeights(sum.counts, what)
	}
	return source{list: unread, sum: sum, living: sum.clearDead(p)}, nil
}

// tally sums the weights of terms by document.
type tally struct{ counts []uint32 }

var smallTallies = sync.Pool{New: func() any { return &tally{} }}

// largeTally is the number of documents above which a tally is large: 64 KiB.
const largeTally = 1 << 14

// tallySet has large tallies for one search at a time. A sync.Pool would keep some for each
// processor, and as many again after each garbage collection: half of the heap with a million
// cards.
type tallySet struct{ spare []*tally }

// maxKeptCounts is the number of counts that a tallySet keeps between searches: 8 MiB.
const maxKeptCounts = 1 << 21

// tallySets has one set for each search that may use large tallies at the same time. More searches
// would not get more processors, and would use memory while they wait.
var tallySets = newTallySets(max(2, runtime.GOMAXPROCS(0)))

func newTallySets(n int) chan *tallySet {
	c := make(chan *tallySet, n)
	for range n {
		c <- &tallySet{}
	}
	return c
}

// takeTally returns a spare tally that is large enough, or a new one.
func (d *tallySet) takeTally(n int) *tally {
	i := slices.IndexFunc(d.spare, func(t *tally) bool { return cap(t.counts) >= n })
	if i < 0 {
		return &tally{make([]uint32, n)}
	}
	t := d.spare[i]
	d.spare = slices.Delete(d.spare, i, i+1)
	t.counts = t.counts[:n]
	return t
}

// keepTallies puts used tallies back. It keeps these and older spare ones up to maxKeptCounts.
func (d *tallySet) keepTallies(used []*tally) {
	d.spare = append(slices.Clip(used), d.spare...)
	room := maxKeptCounts
	d.spare = slices.DeleteFunc(d.spare, func(t *tally) bool {
		room -= cap(t.counts)
		return room < 0
	})
}

// borrowTally returns an empty tally for n documents. It is valid until releaseTallies.
func (f *searcher) borrowTally(n int) (*tally, error) {
	if n <= largeTally {
		t, _ := smallTallies.Get().(*tally)
		t.counts = slices.Grow(t.counts[:0], n)[:n]
		f.small = append(f.small, t)
		return t, nil
	}
	if f.tallySet == nil {
		select {
		case f.tallySet = <-tallySets:
		case <-f.ctx.Done():
			return nil, f.ctx.Err()
		}
	}
	t := f.tallySet.takeTally(n)
	f.large = append(f.large, t)
	return t, nil
}

// releaseTallies clears and returns the tallies of a search. A canceled search leaves counts in
// them, and the next search that uses a tally may be of another world.
func (f *searcher) releaseTallies() {
	for _, t := range f.small {
		clear(t.counts)
		smallTallies.Put(t)
	}
	if f.small = nil; f.tallySet == nil {
		return
	}
	for _, t := range f.large {
		clear(t.counts)
	}
	f.tallySet.keepTallies(f.large)
	tallySets <- f.tallySet
	f.tallySet, f.large = nil, nil
}

// clearDead clears the counts of dead documents, and returns the number of documents left.
func (t *tally) clearDead(p *part) (n int) {
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
