package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"loregate/internal/store/words"
)

// builder gathers documents into a segment.
type builder struct {
	docs  []builtDoc
	dicts [dictionaries]map[string]*gatheredTerm
}

type builtDoc struct {
	id     ID
	name   uint32 // tokens of the name
	length uint32
	row    []byte
}

// gatheredTerm is a term with its entries.
type gatheredTerm struct {
	entries []entry
	spots   []byte
	last    uint32 // last position in the last entry
}

func newBuilder() *builder {
	return &builder{dicts: [dictionaries]map[string]*gatheredTerm{{}, {}, {}, {}, {}}}
}

func (b *builder) add(d *Doc) {
	n := uint32(len(b.docs))
	at := uint32(0)
	for token := range words.Tokens(d.Name) {
		gatheredFor(b.dicts[ofNames], token, n).addPosition(at)
		gatheredFor(b.dicts[ofAll], token, n).lastEntry().inName++
		at++
	}
	name, length := at, at
	at = 0
	for token := range words.Tokens(d.Text) {
		gatheredFor(b.dicts[ofAll], token, n).addPosition(at)
		at++
	}
	length += at
	at = 0
	for token := range words.Tokens(d.Fields) {
		gatheredFor(b.dicts[ofFields], token, n).addPosition(at)
		at++
	}
	for token := range words.Tokens(d.Attributes) {
		gatheredFor(b.dicts[ofAttributes], token, n).lastEntry().text = 1
	}
	for _, mark := range d.Marks {
		gatheredFor(b.dicts[ofMarks], []byte(strings.ReplaceAll(mark, "\n", " ")), n).lastEntry().text = 1
	}
	b.docs = append(b.docs, builtDoc{d.ID, name, length, d.Row})
}

// gatheredFor returns the gathered term of a token, with an entry for the document doc.
func gatheredFor(terms map[string]*gatheredTerm, token []byte, doc uint32) *gatheredTerm {
	g := terms[string(token)]
	if g == nil {
		g = &gatheredTerm{}
		terms[string(token)] = g
	}
	if n := len(g.entries); n == 0 || g.entries[n-1].doc != doc {
		g.entries = append(g.entries, entry{doc: doc})
		g.last = end
	}
	return g
}

func (g *gatheredTerm) lastEntry() *entry { return &g.entries[len(g.entries)-1] }

// addPosition adds an occurrence at a position to the last entry.
func (g *gatheredTerm) addPosition(at uint32) {
	g.lastEntry().text++
	g.spots = binary.AppendUvarint(g.spots, uint64(at-g.last))
	g.last = at
}

// buildSegment returns the segment of the added documents.
func (b *builder) buildSegment() *segment {
	w := newWriter(scratch{})
	for _, d := range b.docs {
		w.addDoc(d.id, d.name, d.length, d.row)
	}
	for i, terms := range b.dicts {
		w.dicts[i].forward = make([][]uint32, len(b.docs))
		for _, word := range slices.Sorted(maps.Keys(terms)) {
			terms[word].writeTo(&w.dicts[i])
			w.dicts[i].finishList([]byte(word))
		}
	}
	for doc := range b.docs {
		w.beginTerms()
		for i := range w.dicts {
			for _, term := range w.dicts[i].forward[doc] {
				w.addTerm(i, term)
			}
		}
		w.endTerms()
	}
	p, err := w.buildPart()
	if err != nil {
		panic(err) // without a scratch folder there is no I/O that can fail
	}
	return p.segment
}

func (g *gatheredTerm) writeTo(d *dictionaryWriter) {
	d.beginList()
	spots := g.spots
	for _, e := range g.entries {
		size := spotsSize(spots, e.text)
		d.addEntry(e, spots[:size])
		spots = spots[size:]
	}
}

// spotsSize returns the number of bytes of n encoded positions.
func spotsSize(spots []byte, n uint32) (size int) {
	for range n {
		size += uvarintSize(spots[size:])
	}
	return size
}

// writer writes a segment: the documents, then each dictionary in the order of its terms, then the
// terms of each document.
type writer struct {
	in       scratch
	seg      segment
	rowData  spool
	terms    spool
	dicts    [dictionaries]dictionaryWriter
	dict     int    // dictionary of the term written last for the current document
	lastTerm uint32 // the last term in that dictionary
}

// dictionaryWriter writes a dictionary term by term.
type dictionaryWriter struct {
	dictionary
	docs    spool
	spots   spool
	planes  spool
	lengths *[]byte    // of the documents; shared with the segment
	forward [][]uint32 // terms by document; nil if the caller knows them
	from    [4]int     // where the current list begins in docs, spots, skips and tops
	n       int
	inName  int // number of documents that have the term only in the name
	last    uint32
	best    frontier // frontier of the current block
}

// frontier has the documents of a block that no other document dominates: the least length for each
// weight. Weights beyond the array share its last element, with the greatest of them in great.
type frontier struct {
	least [64]uint32 // one more than the length; 0 for none
	great uint32
}

func (f *frontier) add(weight, length uint32) {
	at := min(weight, uint32(len(f.least)-1))
	if f.great = max(f.great, weight); f.least[at] == 0 || length < f.least[at]-1 {
		f.least[at] = length + 1
	}
}

// appendTo appends the encoded frontier to b, and clears the frontier. The encoding is the number
// of pairs, then the pairs of weight and length, by falling weight and length.
func (f *frontier) appendTo(b []byte) []byte {
	var pairs []byte
	n, least := 0, end
	for at := len(f.least) - 1; at >= 0; at-- {
		length := f.least[at] - 1
		if f.least[at] == 0 || length >= least {
			continue
		}
		weight := uint64(at)
		if at == len(f.least)-1 {
			weight = uint64(f.great)
		}
		pairs = binary.AppendUvarint(binary.AppendUvarint(pairs, weight), uint64(length))
		n, least = n+1, length
	}
	*f = frontier{}
	return append(binary.AppendUvarint(b, uint64(n)), pairs...)
}

func newWriter(in scratch) *writer {
	w := &writer{in: in}
	for i := range w.dicts {
		w.dicts[i].lengths = &w.seg.lengths
	}
	for _, s := range w.allSpools() {
		s.in = in
	}
	return w
}

// allSpools returns the spools of a writer.
func (w *writer) allSpools() []*spool {
	list := []*spool{&w.rowData, &w.terms}
	for i := range w.dicts {
		list = append(list, &w.dicts[i].docs, &w.dicts[i].spots, &w.dicts[i].planes)
	}
	return list
}

func (w *writer) addDoc(id ID, name, length uint32, row []byte) {
	s := &w.seg
	s.n++
	s.ids = append(s.ids, id[:]...)
	s.lengths = binary.LittleEndian.AppendUint32(s.lengths, length)
	s.names = append(s.names, byte(min(name, math.MaxUint8)))
	s.rows = binary.LittleEndian.AppendUint32(s.rows, uint32(w.rowData.len()))
	w.rowData.b = append(w.rowData.b, row...)
	w.rowData.spill()
}

func (d *dictionaryWriter) beginList() {
	d.from = [4]int{d.docs.len(), d.spots.len(), len(d.skips), len(d.tops)}
	d.n, d.inName, d.last = 0, 0, end
}

// addEntry adds a document to the current posting list, with its encoded positions.
func (d *dictionaryWriter) addEntry(e entry, spots []byte) {
	if d.n > 0 && d.n%blockSize == 0 {
		d.skips = binary.LittleEndian.AppendUint32(d.skips, d.last)
		d.skips = binary.LittleEndian.AppendUint32(d.skips, uint32(d.docs.len()))
		d.skips = binary.LittleEndian.AppendUint32(d.skips, uint32(d.spots.len()))
		d.tops = d.best.appendTo(d.tops)
	}
	d.best.add(e.weight(), binary.LittleEndian.Uint32((*d.lengths)[4*e.doc:]))
	v := uint64(e.doc-d.last) << 1
	if e.inName == 0 && e.text == 1 {
		d.docs.b = binary.AppendUvarint(d.docs.b, v|1)
	} else {
		d.docs.b = binary.AppendUvarint(d.docs.b, v)
		d.docs.b = binary.AppendUvarint(d.docs.b, uint64(e.inName))
		d.docs.b = binary.AppendUvarint(d.docs.b, uint64(e.text))
	}
	if e.text == 0 && e.inName > 0 {
		d.inName++
	}
	d.spots.b = append(d.spots.b, spots...)
	d.n, d.last = d.n+1, e.doc
	if d.forward != nil {
		d.forward[e.doc] = append(d.forward[e.doc], uint32(d.size()))
	}
}

// finishList ends the current posting list, whose term is word. A list without entries is dropped.
func (d *dictionaryWriter) finishList(word []byte) {
	if d.n == 0 {
		return
	}
	if d.n > blockSize {
		d.tops = d.best.appendTo(d.tops)
	} else {
		d.best = frontier{}
	}
	d.words = binary.LittleEndian.AppendUint32(d.words, uint32(len(d.wordData)))
	d.wordData = append(append(d.wordData, word...), '\n')
	if d.n > blockSize && d.n > len(*d.lengths)/4/denseFrom {
		d.addDense()
	}
	d.docs.spill()
	d.spots.spill()
	for _, v := range []int{d.n, d.inName, d.from[0], d.from[1], d.from[2], d.from[3]} {
		d.lists = binary.LittleEndian.AppendUint32(d.lists, uint32(v))
	}
}

// beginTerms begins the terms of the next document. addTerm must be called in the order of
// dictionaries, then of terms.
func (w *writer) beginTerms() {
	w.terms.spill()
	w.seg.forward = binary.LittleEndian.AppendUint32(w.seg.forward, uint32(w.terms.len()))
	w.dict, w.lastTerm = 0, end
}

func (w *writer) addTerm(dict int, term uint32) {
	w.nextDict(dict)
	w.terms.b = binary.AppendUvarint(w.terms.b, uint64(term-w.lastTerm))
	w.lastTerm = term
}

func (w *writer) endTerms() { w.nextDict(len(w.dicts) - 1) }

func (w *writer) nextDict(dict int) {
	for ; w.dict < dict; w.dict++ {
		w.terms.b = append(w.terms.b, 0)
		w.lastTerm = end
	}
}

// buildPart assembles the written segment.
func (w *writer) buildPart() (_ *part, err error) {
	defer func() {
		for _, s := range w.allSpools() {
			err = errors.Join(err, s.close())
		}
	}()
	s := w.seg
	order := make([]uint32, s.n)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return bytes.Compare(s.ids[16*a:][:16], s.ids[16*b:][:16]) })
	for _, doc := range order {
		s.byID = binary.LittleEndian.AppendUint32(s.byID, doc)
	}
	s.rows = binary.LittleEndian.AppendUint32(s.rows, uint32(w.rowData.len()))
	s.forward = binary.LittleEndian.AppendUint32(s.forward, uint32(w.terms.len()))
	for i := range w.dicts {
		d := w.dicts[i].dictionary
		d.words = binary.LittleEndian.AppendUint32(d.words, uint32(len(d.wordData)))
		if i != ofMarks {
			d.addGrams()
		}
		s.dicts[i] = d
	}
	return w.assemblePart(&s)
}

// sectionSpools returns a spool for each section of a segment. Some sections are in the writer's
// spools.
func (w *writer) sectionSpools(s *segment) (list []*spool) {
	in := map[*[]byte]*spool{&s.rowData: &w.rowData, &s.terms: &w.terms}
	for i := range s.dicts {
		in[&s.dicts[i].docs], in[&s.dicts[i].spots] = &w.dicts[i].docs, &w.dicts[i].spots
		in[&s.dicts[i].planes] = &w.dicts[i].planes
	}
	for _, part := range s.sections() {
		if in[part] == nil {
			in[part] = &spool{b: *part}
		}
		list = append(list, in[part])
	}
	return list
}

// assemblePart concatenates the sections of a segment and opens it. A large segment is stored in a
// file in the writer's scratch folder.
func (w *writer) assemblePart(s *segment) (*part, error) {
	parts := w.sectionSpools(s)
	head := binary.LittleEndian.AppendUint64([]byte(magic), uint64(s.n))
	size := headerSize
	for _, p := range parts {
		head = binary.LittleEndian.AppendUint64(head, uint64(size))
		head = binary.LittleEndian.AppendUint64(head, uint64(p.len()))
		size += (p.len() + 7) &^ 7
	}
	head = binary.LittleEndian.AppendUint64(head, uint64(crc32.Checksum(head, castagnoli)))
	write := func(to io.Writer) error {
		_, err := to.Write(head)
		for _, p := range parts {
			err = errors.Join(err, p.writeTo(to))
			_, perr := io.WriteString(to, strings.Repeat("\x00", (8-p.len()%8)%8))
			err = errors.Join(err, perr)
		}
		return err
	}
	if w.in.dir == "" || size < w.in.from {
		var b bytes.Buffer
		b.Grow(size)
		if err := write(&b); err != nil {
			return nil, err
		}
		done, err := openSegment(b.Bytes())
		return &part{segment: done}, err
	}
	data, unmap, err := mapScratch(w.in.dir, write)
	if err != nil {
		return nil, err
	}
	done, err := openSegment(data)
	if err != nil {
		return nil, errors.Join(err, unmap())
	}
	return &part{segment: done, unmap: unmap}, nil
}
