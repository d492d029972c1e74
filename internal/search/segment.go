package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sort"

	"loregate/internal/stem"
	"loregate/internal/store/words"
)

// A segment is an immutable block of bytes, on the heap or mapped from a file, with the following
// sections, each at a multiple of 8. Numbers are little-endian.
//
//	header    magic, number of documents, the offset and size of each section, checksum of the header
//	ids       16 bytes per document
//	byID      uint32 per document: the documents in the order of their ids
//	lengths   uint32 per document: the number of tokens of name and text together
//	names     a byte per document: the number of tokens of the name, at most 255
//	rows      uint32 per document and one more: where its row begins in rowData
//	rowData   rows to show and sort documents by, as the caller encoded them
//	forward   uint32 per document and one more: where its terms begin in terms
//	terms     the numbers of a document's terms, rising, as uvarints of the differences:
//	          those of name and text, 0, those of the name, 0, the marks, 0, those of the fields, 0, those of the
//	          attributes
//	five dictionaries, of name and text, of names, of marks, of fields and of attributes:
//	 words    uint32 per term and one more: where it begins in wordData
//	 wordData the terms, sorted by bytes, each followed by '\n'
//	 grams    the grams of the terms, see gram.go
//	 gramTerms the terms that have each gram
//	 lists    24 bytes per term: number of documents, number of those that have it only in the
//	          name, then the offsets of its posting list, its positions, its skips, its tops
//	 docs     posting lists, see list.go
//	 spots    positions
//	 skips    12 bytes per block of a posting list except the last: its last document, where the
//	          next block begins in docs and in spots
//	 tops     for each block of a posting list of several blocks: the weights and lengths that
//	          can give the best scores, see frontier
//	 denseTerms uint32 per frequent term: its number, rising
//	 planes   frequent terms as codes of four bits per document, see dense.go
type segment struct {
	data    []byte
	n       int
	ids     []byte
	byID    []byte
	lengths []byte
	names   []byte
	rows    []byte
	rowData []byte
	forward []byte
	terms   []byte
	dicts   [dictionaries]dictionary
}

// The dictionaries of a segment.
const (
	ofAll = iota
	ofNames
	ofMarks
	ofFields
	ofAttributes
	dictionaries
)

const (
	magic         = "LGSEG\x00\x00\x06"
	sectionsTotal = 8 + dictionaries*11
	headerSize    = len(magic) + 8 + sectionsTotal*16 + 8
)

// ErrDamaged is returned when the bytes of a segment or manifest are not those that were written.
var ErrDamaged = errors.New("search: a segment is damaged")

// openSegment reads the header of a segment. The segment keeps using data.
func openSegment(data []byte) (*segment, error) {
	if len(data) < headerSize || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it has no header", ErrDamaged)
	}
	sum := binary.LittleEndian.Uint32(data[headerSize-8:])
	if crc32.Checksum(data[:headerSize-8], castagnoli) != sum {
		return nil, fmt.Errorf("%w: its header has another checksum", ErrDamaged)
	}
	s := &segment{data: data, n: int(binary.LittleEndian.Uint64(data[len(magic):]))}
	at := len(magic) + 8
	for _, part := range s.sections() {
		from, size := binary.LittleEndian.Uint64(data[at:]), binary.LittleEndian.Uint64(data[at+8:])
		if from > uint64(len(data)) || size > uint64(len(data))-from {
			return nil, fmt.Errorf("%w: it ends too early", ErrDamaged)
		}
		*part = data[from : from+size : from+size]
		at += 16
	}
	fits := len(s.ids) == 16*s.n && len(s.byID) == 4*s.n && len(s.lengths) == 4*s.n && len(s.names) == s.n && len(s.rows) == 4*s.n+4 &&
		len(s.forward) == 4*s.n+4
	for i := range s.dicts {
		fits = fits && len(s.dicts[i].words) == 4*s.dicts[i].size()+4
	}
	if !fits {
		return nil, fmt.Errorf("%w: its parts do not match", ErrDamaged)
	}
	return s, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sections returns the sections of a segment in the order in which they are stored.
func (s *segment) sections() []*[]byte {
	list := []*[]byte{&s.ids, &s.byID, &s.lengths, &s.names, &s.rows, &s.rowData, &s.forward, &s.terms}
	for i := range s.dicts {
		d := &s.dicts[i]
		list = append(list, &d.words, &d.wordData, &d.grams, &d.gramTerms, &d.lists, &d.docs, &d.spots, &d.skips, &d.tops,
			&d.denseTerms, &d.planes)
	}
	return list
}

func uint32At(b []byte, i int) int { return int(binary.LittleEndian.Uint32(b[4*i:])) }

func (s *segment) docID(doc uint32) (id ID) { return ID(s.ids[16*doc : 16*doc+16]) }

func (s *segment) docLength(doc uint32) int { return uint32At(s.lengths, int(doc)) }

// nameLength returns the number of tokens of a document's name, at most 255.
func (s *segment) nameLength(doc uint32) int { return int(s.names[doc]) }

func (s *segment) docRow(doc uint32) []byte {
	return s.rowData[uint32At(s.rows, int(doc)):uint32At(s.rows, int(doc)+1)]
}

// findDoc returns the document with an id, or false.
func (s *segment) findDoc(id ID) (uint32, bool) {
	i := sort.Search(s.n, func(i int) bool { return bytes.Compare(s.ids[16*uint32At(s.byID, i):][:16], id[:]) >= 0 })
	if i == s.n || s.docID(uint32(uint32At(s.byID, i))) != id {
		return 0, false
	}
	return uint32(uint32At(s.byID, i)), true
}

// eachTerm calls f for each term of a document, with the dictionary of the term.
func (s *segment) eachTerm(doc uint32, f func(dict, term int)) {
	b := s.terms[uint32At(s.forward, int(doc)):uint32At(s.forward, int(doc)+1)]
	dict, term := 0, -1
	for len(b) > 0 {
		d, size := binary.Uvarint(b)
		b = b[size:]
		if d == 0 {
			dict, term = dict+1, -1
			continue
		}
		term += int(d)
		f(dict, term)
	}
}

// dictionary is a sorted vocabulary with a posting list for each term.
type dictionary struct {
	words, wordData          []byte
	grams, gramTerms         []byte // empty in a small dictionary
	lists                    []byte
	docs, spots, skips, tops []byte
	denseTerms, planes       []byte
}

const listSize = 24

func (d *dictionary) size() int { return len(d.lists) / listSize }

// termText returns the text of a term. It is valid as long as the segment.
func (d *dictionary) termText(term int) []byte {
	return d.wordData[uint32At(d.words, term) : uint32At(d.words, term+1)-1]
}

func (d *dictionary) docFreq(term int) int { return uint32At(d.lists[listSize*term:], 0) }

// nameFreq returns the number of documents that have a term only in the name.
func (d *dictionary) nameFreq(term int) int { return uint32At(d.lists[listSize*term:], 1) }

// seek returns the first term that is not below a word.
func (d *dictionary) seek(word string) int {
	return sort.Search(d.size(), func(i int) bool { return string(d.termText(i)) >= word })
}

// findTerm returns the term of a word, or false.
func (d *dictionary) findTerm(word string) (int, bool) {
	i := d.seek(word)
	return i, i < d.size() && string(d.termText(i)) == word
}

// fittingTerms returns the terms that fit a piece, rising.
func (d *dictionary) fittingTerms(p words.Piece, known *stems) (terms []int) {
	switch p.How {
	case words.Equal:
		if i, ok := d.findTerm(p.Text); ok {
			terms = append(terms, i)
		}
	case words.Begins:
		for i := d.seek(p.Text); i < d.size() && bytes.HasPrefix(d.termText(i), []byte(p.Text)); i++ {
			terms = append(terms, i)
		}
	case words.Ends:
		return d.termsContaining([]byte(p.Text + "\n"))
	case words.Inside:
		return d.termsContaining([]byte(p.Text))
	case words.Stem, words.Form:
		shared := p.Shared()
		for i := d.seek(shared); i < d.size() && bytes.HasPrefix(d.termText(i), []byte(shared)); i++ {
			if t := d.termText(i); p.MayBeLong(len(t)) && known.stemOf(p.Language, t) == p.Text {
				terms = append(terms, i)
			}
		}
	}
	return terms
}

// stems remembers the stems of tokens in one language. The same tokens are in several dictionaries of each part.
type stems struct {
	language string
	of       map[string]string
}

// stemOf returns the stem of a token. A nil stems remembers nothing.
func (s *stems) stemOf(language string, token []byte) string {
	if s == nil {
		return stem.Of(language, string(token))
	}
	if s.language != language || s.of == nil {
		s.language, s.of = language, map[string]string{}
	}
	if known, ok := s.of[string(token)]; ok {
		return known
	}
	text := string(token)
	s.of[text] = stem.Of(language, text)
	return s.of[text]
}
