package search

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
)

// A term is frequent if more than one in denseFrom documents of a segment have it. A frequent term
// is stored a second time, as codes of four bits per document. Its weight in a document can then be
// found without reading its posting list up to that document, and 64 documents can be compared at
// once. The codes are:
//
//	0      the document does not have the term
//	1-13   how often the text has the term; the name does not have it
//	14     the text has the term more often; the name does not have it
//	15     the name has the term; the posting list has the counts for name and text
//
// For each code there are two uint32: the greatest weight and the least length of the documents
// with that code. Then follow four words of 64 bits for each 64 documents: the lowest bits of their
// codes, then the next higher bits, and so on.
const (
	denseFrom  = 8
	codes      = 16
	inTextMore = 14
	inNameToo  = 15

	denseHead = codes * 8
	groupSize = 4 * 8
)

// dense is the encoded form of a frequent term; nil for any other term.
type dense []byte

// denseSize returns the size of a dense term in bytes, for a segment of docs documents.
func denseSize(docs int) int { return denseHead + (docs+63)/64*groupSize }

// findDense returns the dense form of a term, or nil if it has none. docs is the number of
// documents of the segment.
func (d *dictionary) findDense(term, docs int) dense {
	n := len(d.denseTerms) / 4
	i := sort.Search(n, func(i int) bool { return uint32At(d.denseTerms, i) >= term })
	if i == n || uint32At(d.denseTerms, i) != term {
		return nil
	}
	size := denseSize(docs)
	return d.planes[i*size:][:size]
}

// codeBound returns the greatest weight and the least length of the documents with a code.
func (d dense) codeBound(code uint32) (weight, length uint32) {
	return uint32(uint32At(d, 2*int(code))), uint32(uint32At(d, 2*int(code)+1))
}

// groupAt returns the bits of the codes of the nth 64 documents.
func (d dense) groupAt(n int) (b [4]uint64) {
	g := d[denseHead+n*groupSize:][:groupSize]
	for i := range b {
		b[i] = binary.LittleEndian.Uint64(g[8*i:])
	}
	return b
}

// codeOf returns the code of a document.
func (d dense) codeOf(doc uint32) uint32 {
	g, at := d.groupAt(int(doc/64)), doc%64
	return uint32(g[0]>>at&1 | g[1]>>at&1<<1 | g[2]>>at&1<<2 | g[3]>>at&1<<3)
}

// atLeast returns the bit set of those of 64 documents whose code is at least code.
func atLeast(g [4]uint64, code uint32) uint64 {
	found := ^uint64(0)
	for i, b := range g {
		if code>>i&1 == 1 {
			found &= b
		} else {
			found |= b
		}
	}
	return found
}

// addDense adds the current posting list to the dense terms. No part of the list may have been
// spilled yet.
func (d *dictionaryWriter) addDense() {
	b := d.docs.b[d.from[0]-d.docs.gone:]
	docs := len(*d.lengths) / 4
	from := len(d.planes.b)
	d.denseTerms = binary.LittleEndian.AppendUint32(d.denseTerms, uint32(d.size()))
	d.planes.b = append(d.planes.b, make([]byte, denseSize(docs))...)
	head, groups := d.planes.b[from:][:denseHead], d.planes.b[from+denseHead:]
	var most, shortest [codes]uint32
	for at, e := 0, (entry{doc: end}); at < len(b); {
		e, at = entryAt(b, at, e.doc)
		code := min(e.text, inTextMore)
		if e.inName > 0 {
			code = inNameToo
		}
		length := uint32(uint32At(*d.lengths, int(e.doc)))
		if most[code] == 0 || length < shortest[code] {
			shortest[code] = length
		}
		most[code] = max(most[code], e.weight())
		for i, group := 0, groups[e.doc/64*groupSize:][:groupSize]; code>>i != 0; i++ {
			group[8*i+int(e.doc%64)/8] |= byte(code >> i & 1 << (e.doc % 8))
		}
	}
	for code := range most {
		binary.LittleEndian.PutUint32(head[8*code:], most[code])
		binary.LittleEndian.PutUint32(head[8*code+4:], shortest[code])
	}
	d.planes.spill()
}

// hasDoc reports whether a document has the term of a dense source, or one of several marks.
// Callers must ask in rising order of documents. Calls of weightIn do not affect this order.
func (s *source) hasDoc(doc uint32) bool {
	if s.any != nil {
		for i := range s.any {
			if l := &s.any[i]; l.advance(doc) && l.last.doc == doc {
				return true
			}
		}
		return false
	}
	switch code := s.dense.codeOf(doc); {
	case code == 0:
		return false
	case code == inNameToo && s.texts:
		if s.named == nil {
			again := s.list
			s.named = &again
		}
		return s.named.advance(doc) && s.named.last.doc == doc
	}
	return true
}

// weightIn returns the weight of the term in doc. The source must be positioned at doc, or be dense
// and contain doc.
func (s *source) weightIn(doc uint32) uint32 {
	if s.dense != nil {
		if code := s.dense.codeOf(doc); code < inTextMore {
			return code
		}
		s.list.advance(doc)
	}
	return s.last.weight()
}

// filterGroup returns those documents of among, a bit set of the nth 64 documents, that have the
// term of a dense source.
func (s *source) filterGroup(n int, among uint64) uint64 {
	g := s.dense.groupAt(n)
	among &= atLeast(g, 1)
	if s.texts {
		for named := among & atLeast(g, inNameToo); named != 0; named &= named - 1 {
			if at := bits.TrailingZeros64(named); !s.hasDoc(uint32(64*n + at)) {
				among &^= 1 << at
			}
		}
	}
	return among
}

// splitWalked separates the sources that are walked from the sources for which each document is
// tested. Tested are frequent terms, and groups of marks that have many more documents than the
// terms can have. If one source is a tally, frequent terms are walked too, because the tally may
// have more documents than they have.
func splitWalked(all []*source) (walked, tested []*source) {
	tallied := slices.ContainsFunc(all, func(s *source) bool { return s.sum != nil })
	for _, s := range all {
		if s.any != nil || s.dense != nil && !tallied {
			tested = append(tested, s)
		} else {
			walked = append(walked, s)
		}
	}
	return walked, tested
}

// allHave reports whether all the tested sources have a document.
func allHave(tested []*source, doc uint32) bool {
	for _, s := range tested {
		if !s.hasDoc(doc) {
			return false
		}
	}
	return true
}

// collectDense collects hits for a query whose terms are all dense. It counts all hits, but ranks
// only documents whose weights are large enough for a place among the best.
func (f *searcher) collectDense(p *searchedPart, all []*source, mean float64) error {
	ranked := f.q.Keep == nil && f.q.Compare == nil
	var least []uint32
	if ranked {
		least = f.leastCodes(p, nil, mean)
	}
	for n := range (p.n + 63) / 64 {
		if n*64%checkEvery == 0 && f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		found := ^uint64(0)
		if p.dead != nil {
			found = ^p.dead[n]
		}
		for _, s := range all {
			found = s.filterGroup(n, found)
		}
		if ranked {
			f.total += bits.OnesCount64(found)
			for t, code := range least {
				found &= atLeast(p.terms[t].dense.groupAt(n), code)
			}
		}
		for ; found != 0; found &= found - 1 {
			doc := uint32(64*n + bits.TrailingZeros64(found))
			if !ranked {
				f.countHit(p, doc, mean)
			} else if f.rankDoc(p, doc, mean) {
				least = f.leastCodes(p, least, mean)
			}
		}
	}
	return nil
}

// leastCodes returns for each term the least code with which a document can still be among the
// best, assuming the maximum score for all other terms. It appends to to[:0]. The result is empty
// while there are fewer candidates than the query asks for.
func (f *searcher) leastCodes(p *searchedPart, to []uint32, mean float64) []uint32 {
	to = to[:0]
	score, full := f.top.minScore()
	if !full {
		return to
	}
	score *= 1 - 1e-9 // compensates for rounding: scores are compared after rounding
	var sum float64
	most := make([]float64, len(p.terms))
	gives := make([][codes]float64, len(p.terms))
	for t := range p.terms {
		for code := range uint32(codes) {
			if weight, length := p.terms[t].dense.codeBound(code); weight > 0 {
				gives[t][code] = f.scoreOf(t, weight, length, mean)
				most[t] = max(most[t], gives[t][code])
			}
		}
		sum += most[t]
	}
	for t := range p.terms {
		code := uint32(1)
		for code < codes-1 && sum-most[t]+gives[t][code] < score {
			code++
		}
		to = append(to, code)
	}
	return to
}
