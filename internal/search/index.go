package search

import (
	"errors"
	"maps"
	"slices"
	"sync"
)

// ID names a document.
type ID [16]byte

// Doc is the searchable data of a card.
type Doc struct {
	ID         ID
	Level      int // the least level that may see the card; above 0
	Name, Text string
	// Fields is a column that is searched only if the query asks for it.
	Fields string
	// Attributes are words that only a RankQuery searches: the type of the card and the short values
	// of its fields.
	Attributes string
	// Marks are labels that queries can filter by. They are compared exactly.
	Marks []string
	// Row is returned with a hit. Hits of equal score are ordered by the bytes of their rows, then
	// by id.
	Row []byte
}

// Index is the index of one world. It is safe for concurrent use.
type Index struct {
	scratch scratch // where merges keep large data
	mu      sync.RWMutex
	levels  map[int]*level // guarded by mu
}

// level has the documents of one level. Later segments have later documents.
type level struct {
	parts  []*part
	docs   int // living documents with at least one token
	tokens int // of all living documents
}

// part is a segment together with the set of its dead documents.
type part struct {
	*segment
	dead     []uint64                  // one bit per document; nil if all are alive
	gone     int                       // the number of dead documents
	deadFreq [dictionaries]map[int]int // how many dead documents have a term
	deadName map[int]int               // how many dead documents have a term of ofAll in the name only
	file     string                    // the file the segment was saved to; "" for none
	sum      uint32                    // checksum of that file
	unmap    func() error              // unmaps the file
	merging  bool                      // it is read without the lock and must not be removed
	left     bool                      // it is in no index any more; it is closed when the merge ends
	shared   bool                      // dead, deadFreq and deadName also belong to another part
}

// New returns an empty index.
func New() *Index { return &Index{levels: map[int]*level{}} }

// errLevel is returned by Apply for a document without a level.
var errLevel = errors.New("search: a document has no level")

// Apply removes the documents whose ids are in gone, and adds docs, replacing documents of the same
// ids. Searches see all changes at once. If docs has several documents of one id, the last one
// counts.
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
		segments[n] = b.buildSegment()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var errs []error
	for _, id := range gone {
		errs = append(errs, x.removeDoc(id))
	}
	for id := range last {
		errs = append(errs, x.removeDoc(id))
	}
	for n, s := range segments {
		l := x.ensureLevel(n)
		l.addPart(&part{segment: s})
		errs = append(errs, l.mergeSmall())
	}
	return errors.Join(errs...)
}

func (x *Index) ensureLevel(n int) *level {
	l := x.levels[n]
	if l == nil {
		l = &level{}
		x.levels[n] = l
	}
	return l
}

// removeDoc removes a document from the level that has it.
func (x *Index) removeDoc(id ID) error {
	for _, l := range x.levels {
		for i, p := range l.parts {
			doc, ok := p.findDoc(id)
			if !ok || p.isDead(doc) {
				continue
			}
			if n := p.docLength(doc); n > 0 {
				l.docs, l.tokens = l.docs-1, l.tokens-n
			}
			if p.markDead(doc); p.gone == p.n && !p.merging {
				l.parts = slices.Delete(l.parts, i, i+1)
				return p.closeFile()
			}
			return nil
		}
	}
	return nil
}

func (p *part) isDead(doc uint32) bool { return isSet(p.dead, doc) }

func (p *part) markDead(doc uint32) {
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
			p.markNameDead(doc, term)
		}
	})
}

// markNameDead counts a term of a dead document's name if the document's text does not have it.
func (p *part) markNameDead(doc uint32, term int) {
	d := &p.dicts[ofAll]
	if term, ok := d.findTerm(string(p.dicts[ofNames].termText(term))); ok {
		if l := d.openList(term); l.advance(doc) && l.last.doc == doc && l.last.text == 0 {
			p.deadName[term]++
		}
	}
}

// docFreq returns the number of living documents that have a term.
func (p *part) docFreq(dict, term int) int {
	return p.dicts[dict].docFreq(term) - p.deadFreq[dict][term]
}

// textFreq returns the number of living documents that have a term of ofAll in the text.
func (p *part) textFreq(term int) int {
	return p.docFreq(ofAll, term) - (p.dicts[ofAll].nameFreq(term) - p.deadName[term])
}

// With calls f with a copy of this index that has additional changes, such as those of a running
// transaction. This index stays unchanged, and is read-locked until f returns.
func (x *Index) With(docs []Doc, gone []ID, f func(*Index) error) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	y := New()
	for n, l := range x.levels {
		own := &level{docs: l.docs, tokens: l.tokens}
		for _, p := range l.parts {
			// As during a merge, the part must not be removed.
			own.parts = append(own.parts, &part{segment: p.segment, dead: p.dead, gone: p.gone, deadFreq: p.deadFreq,
				deadName: p.deadName, shared: true, merging: true})
		}
		y.levels[n] = own
	}
	if err := y.Apply(docs, gone); err != nil {
		return err
	}
	return f(y)
}

// Clear removes all documents.
func (x *Index) Clear() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.levels {
		for _, p := range l.parts {
			if p.left = p.merging; !p.left {
				err = errors.Join(err, p.closeFile())
			}
		}
	}
	x.levels = map[int]*level{}
	return err
}

// addPart adds a part to a level.
func (l *level) addPart(p *part) {
	l.parts = append(l.parts, p)
	for doc := range uint32(p.n) {
		if n := p.docLength(doc); n > 0 && !p.isDead(doc) {
			l.docs, l.tokens = l.docs+1, l.tokens+n
		}
	}
}
