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

// Query asks for the documents that have all terms; without any, for all.
type Query struct {
	Terms []words.Term
	// Name, Text and Fields are the columns that are looked into; name and text, with none.
	Name, Text, Fields bool
	Level              int // the highest that is in sight
	// Marks narrow to documents that have one mark of each list, and Among, where it is set,
	// to the documents of those ids, each of which stands in it once.
	Marks [][]string
	Among []ID
	// Keep, where it is set, tells by its row whether a document counts as found.
	Keep func(row []byte) bool
	// Compare orders hits by their rows in place of their scores, where it is set.
	Compare       func(a, b []byte) int
	Offset, Limit int
}

// Hit is a document that was found.
type Hit struct {
	ID    ID
	Level int
	Score float64
	Row   []byte
}

// Result is a page of hits, best first, and how many there are.
type Result struct {
	Hits  []Hit
	Total int
}

// The constants of BM25, and how many times a word counts that stands in the name:
// Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009, with their usual
// k1 and b. A document's length is that of its name and text together.
const (
	bm25K1     = 1.2
	bm25B      = 0.75
	nameWeight = 10
)

// Find answers a query.
func (x *Index) Find(ctx context.Context, q Query) (Result, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := finding{ctx: ctx, q: q, columns: columnsOf(q)}
	for n, l := range x.levels {
		if n > q.Level {
			continue
		}
		f.docs += l.docs
		f.tokens += l.tokens
		for _, p := range l.parts {
			f.parts = append(f.parts, asked{part: p, level: n})
		}
	}
	defer f.release()
	if err := f.open(); err != nil {
		return Result{}, err
	}
	if err := f.collect(); err != nil {
		return Result{}, err
	}
	return f.page(), nil
}

// columns are what is looked into, beside the fields.
type columns uint8

const (
	inBoth columns = iota
	inNames
	inTexts
	inFields // alone
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

// finding is a search under way.
type finding struct {
	ctx     context.Context
	q       Query
	columns columns
	parts   []asked
	docs    int
	tokens  int
	freq    []int     // documents by term
	weight  []float64 // by term
	top     top
	total   int
	desk    *desk    // of the large tallies, if it has one
	small   []*tally // in use, as the large ones are
	large   []*tally
}

// asked is a part with where each term is found in it.
type asked struct {
	*part
	level int
	terms []source
	marks []source
}

// most is how many documents can have all terms at most; all of them where there are none.
func (p *asked) most() int {
	n := p.n
	for i := range p.terms {
		n = min(n, p.terms[i].n())
	}
	return n
}

// open finds each term in each part, and weighs the terms by how many documents have them.
func (f *finding) open() error {
	f.freq = make([]int, len(f.q.Terms))
	f.weight = make([]float64, len(f.q.Terms))
	for i := range f.parts {
		p := &f.parts[i]
		p.terms = make([]source, len(f.q.Terms))
		for t, term := range f.q.Terms {
			s, err := f.source(p.part, term)
			if err != nil {
				return err
			}
			p.terms[t] = s
			f.freq[t] += s.living
		}
		for _, any := range f.q.Marks {
			s, err := f.marked(p, any)
			if err != nil {
				return err
			}
			p.marks = append(p.marks, s)
		}
		if f.q.Among != nil {
			p.marks = append(p.marks, f.among(p.part))
		}
	}
	for t, n := range f.freq {
		f.weight[t] = math.Log(1 + (float64(f.docs-n)+0.5)/(float64(n)+0.5))
	}
	return nil
}

// collect goes through the parts and keeps the best hits.
func (f *finding) collect() error {
	f.top = top{most: f.q.Offset + f.q.Limit, compare: f.q.Compare}
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

// checkEvery is how many documents are gone through between looks at the context.
const checkEvery = 1 << 14

func (f *finding) collectFrom(p *asked) error {
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
	slices.SortStableFunc(all, func(a, b *source) int { return cmp.Compare(a.n(), b.n()) })
	if all[0].n() == 0 {
		return nil
	}
	lists, tested := splitWalked(all)
	if len(lists) == 0 {
		return f.collectDense(p, tested, mean)
	}
	return f.collectCommon(p, lists, tested, mean)
}

// collectCommon takes the documents that are in all of some lists, the shortest first, and
// that some sources have for which each document is tested.
func (f *finding) collectCommon(p *asked, all, tested []*source, mean float64) error {
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
			// The documents between have not this term.
			if !all[0].advance(s.last.doc) {
				return nil
			}
			doc, i = all[0].last.doc, 1
		}
		if !p.isDead(doc) && allHave(tested, doc) {
			f.hit(p, doc, mean)
		}
	}
	return nil
}

// collectOne takes the documents of the one term that is asked for. How many there are is
// known; those that cannot be among the best are passed over.
func (f *finding) collectOne(p *asked, mean float64) error {
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
			most, shortest = s.list.top(score)
			if least, full := f.top.least(); full && most < least {
				continue
			}
		}
		if block > 0 {
			s.list.jump(block)
		}
		least := f.needed(0, mean)
		lightest := least.at(shortest)
		for range min(blockSize, s.list.n-s.list.at) {
			s.list.step()
			e := s.list.last
			weight := float64(e.weight())
			if weight < lightest || weight == 0 || weight < least.at(uint32(p.length(e.doc))) || p.isDead(e.doc) {
				continue
			}
			if f.top.offer(candidate{score: score(e.weight(), uint32(p.length(e.doc))), part: p, doc: e.doc}) {
				least = f.needed(0, mean)
				lightest = least.at(shortest)
			}
		}
	}
	return nil
}

// collectSeveral is collectOne for a term of several lists.
func (f *finding) collectSeveral(p *asked, s *source, score func(weight, length uint32) float64, mean float64) error {
	least := f.needed(0, mean)
	for s.next() {
		weight := s.last.text
		if float64(weight) < least.base {
			continue
		}
		length := uint32(p.length(s.last.doc))
		if float64(weight) >= least.at(length) && f.top.offer(candidate{score: score(weight, length), part: p, doc: s.last.doc}) {
			least = f.needed(0, mean)
		}
	}
	return f.ctx.Err()
}

// need is the least weight that keeps a document of a length, where a term is the only one:
// BM25 solved for the weight, which needs no division by document.
type need struct{ base, byLength float64 }

func (n need) at(length uint32) float64 { return n.base + n.byLength*float64(length) }

// needed gives what a document needs now. It is a little less than that, for scores are
// compared as they were rounded.
func (f *finding) needed(term int, mean float64) need {
	least, full := f.top.least()
	most := f.weight[term] * (bm25K1 + 1)
	if !full || least >= most {
		return need{}
	}
	by := (1 - 1e-9) * least * bm25K1 / (most - least)
	return need{by * (1 - bm25B), by * bm25B / mean}
}

// norm is what the length of a document adds to a weight that its share is taken of.
func (f *finding) norm(length uint32, mean float64) float64 {
	return bm25K1 * (1 - bm25B + bm25B*float64(length)/mean)
}

// scoreOf is what a term adds to the score of a document.
func (f *finding) scoreOf(term int, weight, length uint32, mean float64) float64 {
	n := float64(weight)
	return f.weight[term] * n * (bm25K1 + 1) / (n + f.norm(length, mean))
}

// collectAll takes every living document of a part for a hit.
func (f *finding) collectAll(p *asked, mean float64) error {
	for doc := range uint32(p.n) {
		if doc%checkEvery == 0 && f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		if !p.isDead(doc) {
			f.hit(p, doc, mean)
		}
	}
	return nil
}

// hit counts a document and keeps it where it is among the best.
func (f *finding) hit(p *asked, doc uint32, mean float64) {
	if f.q.Keep != nil && !f.q.Keep(p.row(doc)) {
		return
	}
	f.total++
	f.rank(p, doc, mean)
}

// rank keeps a document where it is among the best, and tells whether it did.
func (f *finding) rank(p *asked, doc uint32, mean float64) bool {
	score := 0.0
	if f.q.Compare == nil {
		length := uint32(p.length(doc))
		for t := range p.terms {
			score += f.scoreOf(t, p.terms[t].weigh(doc), length, mean)
		}
	}
	return f.top.offer(candidate{score: score, part: p, doc: doc})
}

func (f *finding) page() Result {
	r := Result{Total: f.total}
	sort.Sort(sort.Reverse(&f.top))
	for i, c := range f.top.list {
		if i >= f.q.Offset {
			r.Hits = append(r.Hits, Hit{ID: c.part.id(c.doc), Level: c.part.level, Score: c.score, Row: bytes.Clone(c.part.row(c.doc))})
		}
	}
	return r
}

// candidate is a hit that may come on the page.
type candidate struct {
	score float64
	part  *asked
	doc   uint32
}

// top is a heap of the best candidates, the worst first.
type top struct {
	most    int
	compare func(a, b []byte) int
	byID    bool // of one score, the rows have no part in the order
	list    []candidate
}

func (t *top) Len() int           { return len(t.list) }
func (t *top) Swap(i, j int)      { t.list[i], t.list[j] = t.list[j], t.list[i] }
func (t *top) Less(i, j int) bool { return t.worse(t.list[i], t.list[j]) }
func (t *top) Push(c any)         { t.list = append(t.list, c.(candidate)) }
func (t *top) Pop() any {
	c := t.list[len(t.list)-1]
	t.list = t.list[:len(t.list)-1]
	return c
}

func (t *top) worse(a, b candidate) bool {
	if t.compare == nil && a.score != b.score {
		return a.score < b.score
	}
	var x, y []byte
	if !t.byID {
		x, y = a.part.row(a.doc), b.part.row(b.doc)
	}
	if t.compare != nil {
		if c := t.compare(x, y); c != 0 {
			return c > 0
		}
	}
	i, j := a.part.id(a.doc), b.part.id(b.doc)
	return cmp.Or(bytes.Compare(x, y), bytes.Compare(i[:], j[:])) > 0
}

// least is the score below which none is kept, where there is one.
func (t *top) least() (score float64, full bool) {
	if len(t.list) < t.most {
		return 0, false
	}
	if t.most == 0 {
		return math.Inf(1), true
	}
	return t.list[0].score, true
}

// takes reports whether a candidate would be kept.
func (t *top) takes(c candidate) bool {
	return len(t.list) < t.most || t.most > 0 && t.worse(t.list[0], c)
}

// offer keeps a candidate that is among the best so far, and tells whether it did.
func (t *top) offer(c candidate) bool {
	if !t.takes(c) {
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
