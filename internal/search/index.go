// Package search finds the cards of a world by their words: an inverted index, kept apart
// by level, that follows the world's stream.
//
// Its invariant: an answer depends on the living documents of the levels that are asked
// for and on nothing else. How segments lie, documents that are gone, and documents of
// other levels have no part in which documents are found, in their order, scores or number.
//
// What a document is made of, and who may ask for which levels, is the caller's matter.
package search

import (
	"errors"
	"maps"
	"slices"
	"sync"
)

// ID names a document.
type ID [16]byte

// Doc is what is searched of a card.
type Doc struct {
	ID         ID
	Level      int // of who may see it; above 0
	Name, Text string
	// Fields is a column that is looked into only where that is asked for.
	Fields string
	// Marks are words to narrow by, compared as they are.
	Marks []string
	// Row is given back with a hit. Among equal scores hits are in the order of their
	// rows' bytes, then of their ids.
	Row []byte
}

// Index is the index of one world. It is safe for concurrent use.
type Index struct {
	scratch scratch // of merges
	mu      sync.RWMutex
	levels  map[int]*level // guarded by mu
}

// level is the documents of one level. Later segments hold later documents.
type level struct {
	parts  []*part
	docs   int // living, with a token at least
	tokens int // of all living documents
}

// part is a segment with the documents of it that are gone.
type part struct {
	*segment
	dead     []uint64                  // a bit a document; nil where all live
	gone     int                       // documents that are dead
	deadFreq [dictionaries]map[int]int // how many dead documents have a term
	deadName map[int]int               // how many of them have a term of all columns in the name alone
	file     string                    // that the segment was saved to; "" for none
	sum      uint32                    // of that file
	unmap    func() error              // ends the use of the file
	merging  bool                      // it is read without the lock, and must stay
	left     bool                      // it is in no index any more, and dropped when it was merged
	shared   bool                      // dead and deadFreq are another part's too
}

// New makes an empty index.
func New() *Index { return &Index{levels: map[int]*level{}} }

// errLevel is what Apply answers for a document of no level.
var errLevel = errors.New("search: a document has no level")

// Apply replaces the documents of some ids: those in gone are taken out, those in docs put
// in the place of any of the same id. It is done at once for whoever searches. Of several
// documents of one id the last counts.
func (x *Index) Apply(docs []Doc, gone []ID) error {
	builders := map[int]*builder{}
	last := make(map[ID]int, len(docs))
	for i := range docs {
		if docs[i].Level <= 0 {
			return errLevel
		}
		last[docs[i].ID] = i
	}
	for i := range docs {
		if last[docs[i].ID] != i {
			continue
		}
		b := builders[docs[i].Level]
		if b == nil {
			b = newBuilder()
			builders[docs[i].Level] = b
		}
		b.add(&docs[i])
	}
	segments := map[int]*segment{}
	for n, b := range builders {
		segments[n] = b.segment()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var errs []error
	for _, id := range gone {
		errs = append(errs, x.remove(id))
	}
	for id := range last {
		errs = append(errs, x.remove(id))
	}
	for n, s := range segments {
		l := x.level(n)
		l.take(&part{segment: s})
		errs = append(errs, l.mergeSmall())
	}
	return errors.Join(errs...)
}

func (x *Index) level(n int) *level {
	l := x.levels[n]
	if l == nil {
		l = &level{}
		x.levels[n] = l
	}
	return l
}

// remove takes a document out of the level that has it.
func (x *Index) remove(id ID) error {
	for _, l := range x.levels {
		for i, p := range l.parts {
			doc, ok := p.find(id)
			if !ok || p.isDead(doc) {
				continue
			}
			if n := p.length(doc); n > 0 {
				l.docs, l.tokens = l.docs-1, l.tokens-n
			}
			if p.kill(doc); p.gone == p.n && !p.merging {
				l.parts = slices.Delete(l.parts, i, i+1)
				return p.drop()
			}
			return nil
		}
	}
	return nil
}

func (p *part) isDead(doc uint32) bool { return isSet(p.dead, doc) }

func (p *part) kill(doc uint32) {
	if p.shared {
		p.dead, p.shared = slices.Clone(p.dead), false
		for i, freq := range p.deadFreq {
			p.deadFreq[i] = maps.Clone(freq)
		}
		p.deadName = maps.Clone(p.deadName)
	}
	if p.dead == nil {
		p.dead = make([]uint64, (p.n+63)/64)
		for i := range p.deadFreq {
			p.deadFreq[i] = map[int]int{}
		}
		p.deadName = map[int]int{}
	}
	p.dead[doc/64] |= 1 << (doc % 64)
	p.gone++
	p.eachTerm(doc, func(dict, term int) {
		p.deadFreq[dict][term]++
		if dict == ofNames {
			p.killName(doc, term)
		}
	})
}

// killName counts a term of a dead document's name where it is not in the text too.
func (p *part) killName(doc uint32, term int) {
	d := &p.dicts[ofAll]
	if term, ok := d.find(string(p.dicts[ofNames].word(term))); ok {
		if l := d.list(term); l.advance(doc) && l.last.doc == doc && l.last.text == 0 {
			p.deadName[term]++
		}
	}
}

// docFreq is how many living documents have a term.
func (p *part) docFreq(dict, term int) int {
	return p.dicts[dict].docFreq(term) - p.deadFreq[dict][term]
}

// textFreq is how many living documents have a term of all columns in the text.
func (p *part) textFreq(term int) int {
	return p.docFreq(ofAll, term) - (p.dicts[ofAll].nameFreq(term) - p.deadName[term])
}

// With gives f an index with changes that this one has not, and does not get: those of a
// transaction under way. Nothing may change this index meanwhile.
func (x *Index) With(docs []Doc, gone []ID, f func(*Index) error) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	y := New()
	for n, l := range x.levels {
		own := &level{docs: l.docs, tokens: l.tokens}
		for _, p := range l.parts {
			// As if it were being merged, the part stays.
			own.parts = append(own.parts, &part{segment: p.segment, dead: p.dead, gone: p.gone, deadFreq: p.deadFreq, deadName: p.deadName, shared: true, merging: true})
		}
		y.levels[n] = own
	}
	if err := y.Apply(docs, gone); err != nil {
		return err
	}
	return f(y)
}

// Clear takes all documents out.
func (x *Index) Clear() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.levels {
		for _, p := range l.parts {
			if p.left = p.merging; !p.left {
				err = errors.Join(err, p.drop())
			}
		}
	}
	x.levels = map[int]*level{}
	return err
}

// take adds a part to a level.
func (l *level) take(p *part) {
	l.parts = append(l.parts, p)
	for doc := range uint32(p.n) {
		if n := p.length(doc); n > 0 && !p.isDead(doc) {
			l.docs, l.tokens = l.docs+1, l.tokens+n
		}
	}
}
