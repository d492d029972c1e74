package search

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
)

// A frequent term, one that more than one of denseFrom documents of a segment have, is kept
// a second time, so that its weight in a document is found without reading its list up to
// there, and 64 documents are compared at once. A document's weight is a code of four bits:
//
//	0      the document has not got the term
//	1-13   how often the term is in the text; in the name it is not
//	14     in the text more often; in the name it is not
//	15     the term is in the name; the list tells how often, and how often in the text
//
// For each code there are two uint32: the greatest weight of a document with that code, and
// the least length of one. Four words of 64 bits for each 64 documents follow: the lowest
// bits of their codes, then the next higher ones.
const (
	denseFrom  = 8
	codes      = 16
	inTextMore = 14
	inNameToo  = 15

	denseHead = codes * 8
	groupSize = 4 * 8
)

// dense is a frequent term as it is kept here; nil for one that is not.
type dense []byte

// denseSize is the size of a dense term in bytes.
func denseSize(docs int) int { return denseHead + (docs+63)/64*groupSize }

// dense gives a term as it is kept here, or nil. docs are those of the segment.
func (d *dictionary) dense(term, docs int) dense {
	n := len(d.denseTerms) / 4
	i := sort.Search(n, func(i int) bool { return number(d.denseTerms, i) >= term })
	if i == n || number(d.denseTerms, i) != term {
		return nil
	}
	size := denseSize(docs)
	return d.planes[i*size:][:size]
}

// bound gives the greatest weight and the least length of the documents with a code.
func (d dense) bound(code uint32) (weight, length uint32) {
	return uint32(number(d, 2*int(code))), uint32(number(d, 2*int(code)+1))
}

// group gives the bits of the codes of 64 documents.
func (d dense) group(n int) (b [4]uint64) {
	g := d[denseHead+n*groupSize:][:groupSize]
	for i := range b {
		b[i] = binary.LittleEndian.Uint64(g[8*i:])
	}
	return b
}

// code gives the code of a document.
func (d dense) code(doc uint32) uint32 {
	g, at := d.group(int(doc/64)), doc%64
	return uint32(g[0]>>at&1 | g[1]>>at&1<<1 | g[2]>>at&1<<2 | g[3]>>at&1<<3)
}

// atLeast gives those of 64 documents whose code is not below a code.
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

// addDense adds the list under way, of which nothing was spilled, to the dense terms.
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
		length := uint32(number(*d.lengths, int(e.doc)))
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

// has reports whether a document has the term of a dense source, or one of several marks.
// Documents are asked for in their order, those of weigh apart from them.
func (s *source) has(doc uint32) bool {
	if s.any != nil {
		for i := range s.any {
			if l := &s.any[i]; l.advance(doc) && l.last.doc == doc {
				return true
			}
		}
		return false
	}
	switch code := s.dense.code(doc); {
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

// weigh gives what the term weighs in a document that has it, where the source is now.
func (s *source) weigh(doc uint32) uint32 {
	if s.dense != nil {
		if code := s.dense.code(doc); code < inTextMore {
			return code
		}
		s.list.advance(doc)
	}
	return s.last.weight()
}

// having gives those of 64 documents that have the term of a dense source.
func (s *source) having(n int, among uint64) uint64 {
	g := s.dense.group(n)
	among &= atLeast(g, 1)
	if s.texts {
		for named := among & atLeast(g, inNameToo); named != 0; named &= named - 1 {
			if at := bits.TrailingZeros64(named); !s.has(uint32(64*n + at)) {
				among &^= 1 << at
			}
		}
	}
	return among
}

// splitWalked parts the sources that are walked from those that documents are tested for:
// frequent terms, and marks of more documents than have the terms. Beside a tally, which may have more documents
// than frequent terms have, those are walked too.
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

// allHave reports whether each of some sources has a document.
func allHave(tested []*source, doc uint32) bool {
	for _, s := range tested {
		if !s.has(doc) {
			return false
		}
	}
	return true
}

// collectDense takes the documents that have terms all of which are dense. All are counted;
// those that cannot be among the best, as their weights are too small, are not looked at.
func (f *finding) collectDense(p *asked, all []*source, mean float64) error {
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
			found = s.having(n, found)
		}
		if ranked {
			f.total += bits.OnesCount64(found)
			for t, code := range least {
				found &= atLeast(p.terms[t].dense.group(n), code)
			}
		}
		for ; found != 0; found &= found - 1 {
			doc := uint32(64*n + bits.TrailingZeros64(found))
			if !ranked {
				f.hit(p, doc, mean)
			} else if f.rank(p, doc, mean) {
				least = f.leastCodes(p, least, mean)
			}
		}
	}
	return nil
}

// leastCodes gives the least code of each term that a document needs to be among the best,
// were it to have the most of the other terms.
func (f *finding) leastCodes(p *asked, to []uint32, mean float64) []uint32 {
	to = to[:0]
	score, full := f.top.least()
	if !full {
		return to
	}
	score *= 1 - 1e-9 // scores are compared as they were rounded
	var sum float64
	most := make([]float64, len(p.terms))
	gives := make([][codes]float64, len(p.terms))
	for t := range p.terms {
		for code := range uint32(codes) {
			if weight, length := p.terms[t].dense.bound(code); weight > 0 {
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
