package search

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"sort"

	"loregate/internal/store/words"
)

// Query selects the documents that have all terms. Without terms it selects all documents.
type Query struct {
	Terms []words.Term
	// Name, Text and Fields are the columns to search. If none is set, name and text are searched.
	Name, Text, Fields bool
	Level              int // the highest level visible to the caller
	// Marks selects documents that have at least one mark of each list. Among, if not nil, selects
	// documents with these ids; it must not contain duplicates.
	Marks [][]string
	Among []ID
	// Keep, if not nil, reports by a document's row whether the document counts as a hit.
	Keep func(row []byte) bool
	// Compare, if not nil, orders hits by their rows instead of by score.
	Compare       func(a, b []byte) int
	Offset, Limit int
}

// Hit is a document that matches a query.
type Hit struct {
	ID    ID
	Level int
	Score float64
	Row   []byte
}

// Result is a page of hits, best first, and the total number of hits.
type Result struct {
	Hits  []Hit
	Total int
}

// The constants of BM25, and the number of occurrences that one occurrence in the name counts for:
// Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009, with their usual k1 and b.
// The length of a document is the number of tokens in its name and text together.
const (
	bm25K1     = 1.2
	bm25B      = 0.75
	nameWeight = 10
)

// Find runs a query.
func (x *Index) Find(ctx context.Context, q Query) (Result, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := searcher{ctx: ctx, q: q, columns: columnsOf(q)}
	for n, l := range x.levels {
		if n > q.Level {
			continue
		}
		f.docs += l.docs
		f.tokens += l.tokens
		for _, p := range l.parts {
			f.parts = append(f.parts, searchedPart{part: p, level: n})
		}
	}
	defer f.releaseTallies()
	if err := f.openTerms(); err != nil {
		return Result{}, err
	}
	if err := f.collectHits(); err != nil {
		return Result{}, err
	}
	return f.resultPage(), nil
}

// columns selects which of name and text are searched. Fields can be searched in addition.
type columns uint8

const (
	inBoth columns = iota
	inNames
	inTexts
	inFields // neither name nor text, only the fields
)

func columnsOf(q Query) columns {
	switch {
	case q.Fields && !q.Name && !q.Text:
		return inFields
	case q.Name == q.Text:
		return inBoth
	case q.Name:
		return inNames
	}
	return inTexts
}

// searcher is the state of one running search.
type searcher struct {
	ctx      context.Context
	q        Query
	columns  columns
	parts    []searchedPart
	docs     int
	tokens   int
	freq     []int     // number of living documents by term
	weight   []float64 // inverse document frequency by term
	top      topHeap
	total    int
	tallySet *tallySet // the large tallies that it uses, if any
	small    []*tally  // the small tallies in use
	large    []*tally
}

// searchedPart is a part with the sources of each term and each list of marks.
type searchedPart struct {
	*part
	level int
	terms []source
	marks []source
}

// maxDocs returns an upper bound for the number of documents that have all terms. Without terms it
// is the number of documents in the part.
func (p *searchedPart) maxDocs() int {
	n := p.n
	for i := range p.terms {
		n = min(n, p.terms[i].docCount())
	}
	return n
}

// openTerms opens the sources of all terms and marks in each part, and computes the weight of each
// term from the number of documents that have it.
func (f *searcher) openTerms() error {
	f.freq = make([]int, len(f.q.Terms))
	f.weight = make([]float64, len(f.q.Terms))
	for i := range f.parts {
		p := &f.parts[i]
		p.terms = make([]source, len(f.q.Terms))
		for t, term := range f.q.Terms {
			s, err := f.termSource(p.part, term)
			if err != nil {
				return err
			}
			p.terms[t] = s
			f.freq[t] += s.living
		}
		for _, any := range f.q.Marks {
			s, err := f.markSource(p, any)
			if err != nil {
				return err
			}
			p.marks = append(p.marks, s)
		}
		if f.q.Among != nil {
			p.marks = append(p.marks, f.amongSource(p.part))
		}
	}
	for t, n := range f.freq {
		f.weight[t] = math.Log(1 + (float64(f.docs-n)+0.5)/(float64(n)+0.5))
	}
	return nil
}

// collectHits searches all parts, counts the hits and keeps the best ones.
func (f *searcher) collectHits() error {
	f.top = topHeap{most: f.q.Offset + f.q.Limit, compare: f.q.Compare}
	if slices.Contains(f.freq, 0) {
		return nil
	}
	for i := range f.parts {
		if err := f.collectFrom(&f.parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkEvery is the number of documents processed between two checks of the context.
const checkEvery = 1 << 14

func (f *searcher) collectFrom(p *searchedPart) error {
	all := make([]*source, 0, len(p.terms)+len(p.marks))
	for i := range p.terms {
		all = append(all, &p.terms[i])
	}
	for i := range p.marks {
		all = append(all, &p.marks[i])
	}
	mean := float64(f.tokens) / float64(max(f.docs, 1))
	if len(all) == 1 && len(p.terms) == 1 && f.q.Keep == nil && f.q.Compare == nil {
		return f.collectOne(p, mean)
	}
	if len(all) == 0 {
		return f.collectAll(p, mean)
	}
	slices.SortStableFunc(all, func(a, b *source) int { return cmp.Compare(a.docCount(), b.docCount()) })
	if all[0].docCount() == 0 {
		return nil
	}
	lists, tested := splitWalked(all)
	if len(lists) == 0 {
		return f.collectDense(p, tested, mean)
	}
	return f.collectCommon(p, lists, tested, mean)
}

// collectCommon collects the documents that are in all sources of all, shortest first, and that all
// sources of tested have.
func (f *searcher) collectCommon(p *searchedPart, all, tested []*source, mean float64) error {
	for steps := 1; all[0].next(); steps++ {
		if steps%checkEvery == 0 && f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		doc := all[0].last.doc
		for i := 1; i < len(all); {
			s := all[i]
			if !s.advance(doc) {
				return nil
			}
			if s.last.doc == doc {
				i++
				continue
			}
			// The documents in between do not have this term.
			if !all[0].advance(s.last.doc) {
				return nil
			}
			doc, i = all[0].last.doc, 1
		}
		if !p.isDead(doc) && allHave(tested, doc) {
			f.countHit(p, doc, mean)
		}
	}
	return nil
}

// collectOne collects hits for a query of a single term. The number of hits is known in advance;
// documents that cannot be among the best are skipped.
func (f *searcher) collectOne(p *searchedPart, mean float64) error {
	s := &p.terms[0]
	f.total += s.living
	score := func(weight, length uint32) float64 { return f.scoreOf(0, weight, length, mean) }
	if !s.isList {
		return f.collectSeveral(p, s, score, mean)
	}
	for block := 0; block <= (s.list.n-1)/blockSize; block++ {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		shortest := uint32(0)
		if s.list.n > blockSize {
			var most float64
			most, shortest = s.list.readBlockTop(score)
			if least, full := f.top.minScore(); full && most < least {
				continue
			}
		}
		if block > 0 {
			s.list.jumpToBlock(block)
		}
		least := f.minWeight(0, mean)
		lightest := least.forLength(shortest)
		for range min(blockSize, s.list.n-s.list.at) {
			s.list.nextEntry()
			e := s.list.last
			weight := float64(e.weight())
			if weight < lightest || weight == 0 || weight < least.forLength(uint32(p.docLength(e.doc))) || p.isDead(e.doc) {
				continue
			}
			if f.top.offer(candidate{score: score(e.weight(), uint32(p.docLength(e.doc))), part: p, doc: e.doc}) {
				least = f.minWeight(0, mean)
				lightest = least.forLength(shortest)
			}
		}
	}
	return nil
}

// collectSeveral is collectOne for a term whose source is made of several posting lists.
func (f *searcher) collectSeveral(p *searchedPart, s *source,
	score func(weight, length uint32) float64, mean float64) error {
	least := f.minWeight(0, mean)
	for s.next() {
		weight := s.last.text
		if float64(weight) < least.base {
			continue
		}
		length := uint32(p.docLength(s.last.doc))
		if float64(weight) >= least.forLength(length) &&
			f.top.offer(candidate{score: score(weight, length), part: p, doc: s.last.doc}) {
			least = f.minWeight(0, mean)
		}
	}
	return f.ctx.Err()
}

// weightBound computes the least weight that a document of a given length needs to be kept, if the
// query has a single term. It is the BM25 formula solved for the weight, which avoids a division
// per document.
type weightBound struct{ base, byLength float64 }

func (n weightBound) forLength(length uint32) float64 { return n.base + n.byLength*float64(length) }

// minWeight returns the weight that a document currently needs. It is slightly lower than the exact
// bound, because scores are compared after rounding.
func (f *searcher) minWeight(term int, mean float64) weightBound {
	least, full := f.top.minScore()
	most := f.weight[term] * (bm25K1 + 1)
	if !full || least >= most {
		return weightBound{}
	}
	by := (1 - 1e-9) * least * bm25K1 / (most - least)
	return weightBound{by * (1 - bm25B), by * bm25B / mean}
}

// lengthNorm returns the BM25 length normalization of a document: the term that is added to the
// weight in the denominator.
func (f *searcher) lengthNorm(length uint32, mean float64) float64 {
	return bm25K1 * (1 - bm25B + bm25B*float64(length)/mean)
}

// scoreOf returns the contribution of a term to the score of a document.
func (f *searcher) scoreOf(term int, weight, length uint32, mean float64) float64 {
	n := float64(weight)
	return f.weight[term] * n * (bm25K1 + 1) / (n + f.lengthNorm(length, mean))
}

// collectAll collects every living document of a part.
func (f *searcher) collectAll(p *searchedPart, mean float64) error {
	for doc := range uint32(p.n) {
		if doc%checkEvery == 0 && f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		if !p.isDead(doc) {
			f.countHit(p, doc, mean)
		}
	}
	return nil
}

// countHit counts a document, unless Keep rejects it, and keeps it if it is among the best so far.
func (f *searcher) countHit(p *searchedPart, doc uint32, mean float64) {
	if f.q.Keep != nil && !f.q.Keep(p.docRow(doc)) {
		return
	}
	f.total++
	f.rankDoc(p, doc, mean)
}

// rankDoc scores a document and keeps it if it is among the best so far. It reports whether it did.
func (f *searcher) rankDoc(p *searchedPart, doc uint32, mean float64) bool {
	score := 0.0
	if f.q.Compare == nil {
		length := uint32(p.docLength(doc))
		for t := range p.terms {
			score += f.scoreOf(t, p.terms[t].weightIn(doc), length, mean)
		}
	}
	return f.top.offer(candidate{score: score, part: p, doc: doc})
}

func (f *searcher) resultPage() Result {
	r := Result{Total: f.total}
	sort.Sort(sort.Reverse(&f.top))
	for i, c := range f.top.list {
		if i >= f.q.Offset {
			r.Hits = append(r.Hits, Hit{ID: c.part.docID(c.doc), Level: c.part.level, Score: c.score,
				Row: bytes.Clone(c.part.docRow(c.doc))})
		}
	}
	return r
}

// candidate is a hit that may end up on the result page.
type candidate struct {
	score float64
	part  *searchedPart
	doc   uint32
}

// topHeap is a heap of the best candidates, with the worst one on top.
type topHeap struct {
	most    int
	compare func(a, b []byte) int
	byID    bool // candidates of equal score are ordered by id alone, not by row
	list    []candidate
}

func (t *topHeap) Len() int           { return len(t.list) }
func (t *topHeap) Swap(i, j int)      { t.list[i], t.list[j] = t.list[j], t.list[i] }
func (t *topHeap) Less(i, j int) bool { return t.isWorse(t.list[i], t.list[j]) }
func (t *topHeap) Push(c any)         { t.list = append(t.list, c.(candidate)) }
func (t *topHeap) Pop() any {
	c := t.list[len(t.list)-1]
	t.list = t.list[:len(t.list)-1]
	return c
}

func (t *topHeap) isWorse(a, b candidate) bool {
	if t.compare == nil && a.score != b.score {
		return a.score < b.score
	}
	var x, y []byte
	if !t.byID {
		x, y = a.part.docRow(a.doc), b.part.docRow(b.doc)
	}
	if t.compare != nil {
		if c := t.compare(x, y); c != 0 {
			return c > 0
		}
	}
	i, j := a.part.docID(a.doc), b.part.docID(b.doc)
	return cmp.Or(bytes.Compare(x, y), bytes.Compare(i[:], j[:])) > 0
}

// minScore returns the score below which no candidate is kept. full is false while there is no such
// score.
func (t *topHeap) minScore() (score float64, full bool) {
	if len(t.list) < t.most {
		return 0, false
	}
	if t.most == 0 {
		return math.Inf(1), true
	}
	return t.list[0].score, true
}

// wouldKeep reports whether a candidate would be kept.
func (t *topHeap) wouldKeep(c candidate) bool {
	return len(t.list) < t.most || t.most > 0 && t.isWorse(t.list[0], c)
}

// offer keeps a candidate if it is among the best so far, and reports whether it did.
func (t *topHeap) offer(c candidate) bool {
	if !t.wouldKeep(c) {
		return false
	}
	if len(t.list) < t.most {
		heap.Push(t, c)
	} else {
		t.list[0] = c
		heap.Fix(t, 0)
	}
	return true
}
