package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sort"

	"loregate/internal/store/words"
)

// A segment is immutable bytes, on the heap or mapped from a file, with these parts, each
// at a multiple of 8. Numbers are little-endian.
//
//	header    magic, number of documents, the offset of each part, checksum of the header
//	ids       16 bytes a document
//	byID      uint32 a document: the documents in the order of their ids
//	lengths   uint32 a document: its tokens, of name and text together
//	rows      uint32 a document and one more: where its row begins in rowData
//	rowData   what documents are shown and sorted by, as the caller encoded it
//	forward   uint32 a document and one more: where its terms begin in terms
//	terms     the numbers of a document's terms, rising, as uvarints of the differences:
//	          those of name and text, 0, those of the name, 0, the marks, 0, those of the fields
//	four dictionaries, of name and text, of names, of marks and of fields:
//	 words    uint32 a term and one more: where it begins in wordData
//	 wordData the terms, sorted by bytes, each followed by '\n'
//	 grams    the runs of bytes in the terms, see gram.go
//	 gramTerms the terms that have each run
//	 lists    24 bytes a term: documents, those of them that have it in the name alone,
//	          where its list begins, its positions, its skips, its tops
//	 docs     lists, see list.go
//	 spots    positions
//	 skips    12 bytes a block of a list but the last: its last document, where the next
//	          block begins in docs and in spots
//	 tops     for each block of a list of several, what its documents score at most
//	 denseTerms uint32 a frequent term: its number, rising
//	 planes   frequent terms as codes of four bits a document, see dense.go
type segment struct {
	data    []byte
	n       int
	ids     []byte
	byID    []byte
	lengths []byte
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
	dictionaries
)

const (
	magic      = "LGSEG\x00\x00\x05"
	partsTotal = 7 + dictionaries*11
	headerSize = len(magic) + 8 + partsTotal*16 + 8
)

// ErrDamaged is what opening a segment answers where its bytes are not those that were
// written.
var ErrDamaged = errors.New("search: a segment is damaged")

// openSegment reads a segment's header. The parts stay where they are.
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
	for _, part := range s.parts() {
		from, size := binary.LittleEndian.Uint64(data[at:]), binary.LittleEndian.Uint64(data[at+8:])
		if from > uint64(len(data)) || size > uint64(len(data))-from {
			return nil, fmt.Errorf("%w: it ends too early", ErrDamaged)
		}
		*part = data[from : from+size : from+size]
		at += 16
	}
	fits := len(s.ids) == 16*s.n && len(s.byID) == 4*s.n && len(s.lengths) == 4*s.n && len(s.rows) == 4*s.n+4 && len(s.forward) == 4*s.n+4
	for i := range s.dicts {
		fits = fits && len(s.dicts[i].words) == 4*s.dicts[i].size()+4
	}
	if !fits {
		return nil, fmt.Errorf("%w: its parts do not fit", ErrDamaged)
	}
	return s, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// parts are the parts of a segment in the order in which they are written.
func (s *segment) parts() []*[]byte {
	list := []*[]byte{&s.ids, &s.byID, &s.lengths, &s.rows, &s.rowData, &s.forward, &s.terms}
	for i := range s.dicts {
		d := &s.dicts[i]
		list = append(list, &d.words, &d.wordData, &d.grams, &d.gramTerms, &d.lists, &d.docs, &d.spots, &d.skips, &d.tops, &d.denseTerms, &d.planes)
	}
	return list
}

func number(b []byte, i int) int { return int(binary.LittleEndian.Uint32(b[4*i:])) }

func (s *segment) id(doc uint32) (id ID) { return ID(s.ids[16*doc : 16*doc+16]) }

func (s *segment) length(doc uint32) int { return number(s.lengths, int(doc)) }

func (s *segment) row(doc uint32) []byte {
	return s.rowData[number(s.rows, int(doc)):number(s.rows, int(doc)+1)]
}

// find gives the document of an id, or false.
func (s *segment) find(id ID) (uint32, bool) {
	i := sort.Search(s.n, func(i int) bool { return bytes.Compare(s.ids[16*number(s.byID, i):][:16], id[:]) >= 0 })
	if i == s.n || s.id(uint32(number(s.byID, i))) != id {
		return 0, false
	}
	return uint32(number(s.byID, i)), true
}

// eachTerm gives the terms of a document with the dictionary that each is of.
func (s *segment) eachTerm(doc uint32, f func(dict, term int)) {
	b := s.terms[number(s.forward, int(doc)):number(s.forward, int(doc)+1)]
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

// dictionary is a sorted vocabulary with a list of documents for each term.
type dictionary struct {
	words, wordData          []byte
	grams, gramTerms         []byte // of one of some size
	lists                    []byte
	docs, spots, skips, tops []byte
	denseTerms, planes       []byte
}

const listSize = 24

func (d *dictionary) size() int { return len(d.lists) / listSize }

// word gives a term by its number. It is valid as long as the segment.
func (d *dictionary) word(term int) []byte {
	return d.wordData[number(d.words, term) : number(d.words, term+1)-1]
}

func (d *dictionary) docFreq(term int) int { return number(d.lists[listSize*term:], 0) }

// nameFreq is how many documents have a term in the name alone.
func (d *dictionary) nameFreq(term int) int { return number(d.lists[listSize*term:], 1) }

// seek gives the first term that is not below a word.
func (d *dictionary) seek(word string) int {
	return sort.Search(d.size(), func(i int) bool { return string(d.word(i)) >= word })
}

// find gives a word's term, or false.
func (d *dictionary) find(word string) (int, bool) {
	i := d.seek(word)
	return i, i < d.size() && string(d.word(i)) == word
}

// fitting gives the terms that fit a piece, rising.
func (d *dictionary) fitting(p words.Piece) (terms []int) {
	switch p.How {
	case words.Equal:
		if i, ok := d.find(p.Text); ok {
			terms = append(terms, i)
		}
	case words.Begins:
		for i := d.seek(p.Text); i < d.size() && bytes.HasPrefix(d.word(i), []byte(p.Text)); i++ {
			terms = append(terms, i)
		}
	case words.Ends:
		return d.containing([]byte(p.Text + "\n"))
	case words.Inside:
		return d.containing([]byte(p.Text))
	case words.Stem:
		shared := p.Shared()
		for i := d.seek(shared); i < d.size() && bytes.HasPrefix(d.word(i), []byte(shared)); i++ {
			if p.Fits(string(d.word(i))) {
				terms = append(terms, i)
			}
		}
	}
	return terms
}
