package search

import (
	"encoding/binary"
	"sort"
)

// A term's posting list has the documents that have the term, rising. An entry is a uvarint of
// twice the difference to the previous document (to -1 for the first entry), plus 1 if the text has
// the term once and no name has it. Otherwise two uvarints follow: the number of occurrences in the
// name and in the text. Entries come in blocks of blockSize; skips point to the second and later
// blocks. The positions of an entry are uvarints, one per occurrence in the text (in a dictionary
// of names: in the name), each the difference to the previous position, the first to -1. A mark is
// stored as if it occurred once in the text; it has no positions.
const blockSize = 128

const skipSize = 12

// entry is a document in a posting list.
type entry struct {
	doc          uint32
	inName, text uint32 // number of occurrences in the name and in the text
}

// end is the document number after the last one. It also serves as -1.
const end = ^uint32(0)

// list iterates over the posting list of a term.
type list struct {
	d      *dictionary
	n      int    // number of documents
	texts  bool   // visit only documents with the term in the text, and ignore its occurrences in names
	skips  []byte // skips of this list
	tops   []byte // tops of this list, from the next unread one on
	at     int    // number of entries read
	docs   []byte // entries from the start of a block on
	pos    int    // offset of the next entry in docs
	spots  []byte // positions; begins with the unread ones
	unread uint32 // number of positions to skip before those of the last entry
	last   entry
}

func (d *dictionary) openList(term int) list {
	b := d.lists[listSize*term:]
	n, docs, spots, skips, tops := uint32At(b, 0), uint32At(b, 2), uint32At(b, 3), uint32At(b, 4), uint32At(b, 5)
	return list{d: d, n: n, docs: d.docs[docs:], spots: d.spots[spots:],
		skips: d.skips[skips : skips+(n-1)/blockSize*skipSize], tops: d.tops[tops:], last: entry{doc: end}}
}

// next moves to the next document. At the end it returns false and the last entry's doc is end.
func (l *list) next() bool { return l.walkTo(0) }

// walkTo moves by at least one entry, to the first document that is at least doc. It inlines
// nextEntry, because a call per entry would cost more than everything else.
func (l *list) walkTo(doc uint32) bool {
	b, pos, e, unread := l.docs, l.pos, l.last, l.unread
	for l.at < l.n {
		l.at++
		unread += e.text
		v := uint32(b[pos])
		if pos++; v >= 0x80 {
			v, pos = longUvarintAt(b, pos-1)
		}
		e = entry{doc: e.doc + v>>1, text: 1} // the first is counted from end, which is -1
		if v&1 == 0 {
			e.inName, pos = uvarintAt(b, pos)
			e.text, pos = uvarintAt(b, pos)
		}
		if e.doc < doc || l.texts && e.text == 0 {
			continue
		}
		if l.texts {
			e.inName = 0
		}
		l.pos, l.last, l.unread = pos, e, unread
		return true
	}
	l.last = entry{doc: end}
	return false
}

// nextEntry moves to the next entry, even one that next would skip. There must be one.
func (l *list) nextEntry() {
	l.at++
	l.unread += l.last.text
	if l.last, l.pos = entryAt(l.docs, l.pos, l.last.doc); l.texts {
		l.last.inName = 0
	}
}

// entryAt reads the entry at an offset, which follows the entry of doc, and returns the next
// offset.
func entryAt(b []byte, at int, doc uint32) (entry, int) {
	v, at := uvarintAt(b, at)
	doc += v >> 1 // the first is counted from end, which is -1
	if v&1 == 1 {
		return entry{doc: doc, text: 1}, at
	}
	inName, at := uvarintAt(b, at)
	text, at := uvarintAt(b, at)
	return entry{doc, inName, text}, at
}

// uvarintAt reads a number and returns the offset after it.
func uvarintAt(b []byte, at int) (uint32, int) {
	if v := uint32(b[at]); v < 0x80 {
		return v, at + 1
	}
	return longUvarintAt(b, at)
}

func longUvarintAt(b []byte, at int) (uint32, int) {
	v, size := binary.Uvarint(b[at:])
	return uint32(v), at + size
}

// addWeights adds the weight of the term in each document to that document's count. If only texts
// are searched, occurrences in names have no weight.
func (l *list) addWeights(counts []uint32, what columns) {
	b, at, e := l.docs, 0, entry{doc: end}
	for range l.n {
		// Most entries have one byte: a call for each would cost as much as the rest.
		v, next := uint32(b[at]), at+1
		if v >= 0x80 {
			v, next = longUvarintAt(b, at)
		}
		if v&1 == 1 {
			e.doc, at = e.doc+v>>1, next
			counts[e.doc]++
			continue
		}
		e, at = entryAt(b, at, e.doc)
		if what == inTexts {
			counts[e.doc] += e.text
		} else {
			counts[e.doc] += e.weight()
		}
	}
}

// readBlockTop reads the tops of the next block. It returns the maximum of f for the block's
// documents, and the least length on its frontier. f must rise with the weight and fall with the
// length.
func (l *list) readBlockTop(f func(weight, length uint32) float64) (most float64, shortest uint32) {
	pairs, at := uvarintAt(l.tops, 0)
	for range pairs {
		var weight uint32
		weight, at = uvarintAt(l.tops, at)
		shortest, at = uvarintAt(l.tops, at)
		most = max(most, f(weight, shortest))
	}
	l.tops = l.tops[at:]
	return most, shortest
}

// weight returns the weight of an entry in a score.
func (e entry) weight() uint32 { return nameWeight*e.inName + e.text }

// advance moves forward to the first document that is at least doc. It reports whether there is
// one.
func (l *list) advance(doc uint32) bool {
	if l.at > 0 && l.last.doc >= doc {
		return l.last.doc != end
	}
	block := l.at / blockSize // of the next entry
	if blocks := len(l.skips) / skipSize; block < blocks && binary.LittleEndian.Uint32(l.skips[block*skipSize:]) < doc {
		block += sort.Search(blocks-block, func(i int) bool {
			return binary.LittleEndian.Uint32(l.skips[(block+i)*skipSize:]) >= doc
		})
		l.jumpToBlock(block)
	}
	return l.walkTo(doc)
}

// jumpToBlock moves to the beginning of a block other than the first.
func (l *list) jumpToBlock(block int) {
	s := l.skips[(block-1)*skipSize:]
	l.at = block * blockSize
	l.last = entry{doc: binary.LittleEndian.Uint32(s)}
	l.docs, l.pos = l.d.docs[binary.LittleEndian.Uint32(s[4:]):], 0
	l.spots = l.d.spots[binary.LittleEndian.Uint32(s[8:]):]
	l.unread = 0
}

// skipPositions moves to the positions of the last entry.
func (l *list) skipPositions() {
	for ; l.unread > 0; l.unread-- {
		l.spots = l.spots[uvarintSize(l.spots):]
	}
}

// rawPositions returns the encoded positions of the last entry.
func (l *list) rawPositions() []byte {
	l.skipPositions()
	return l.spots[:spotsSize(l.spots, l.last.text)]
}

// appendPositions appends the positions of the term in the last entry's document.
func (l *list) appendPositions(to []uint32) []uint32 {
	l.skipPositions()
	at := end
	b := l.spots
	for range l.last.text {
		v, size := binary.Uvarint(b)
		b = b[size:]
		at += uint32(v)
		to = append(to, at)
	}
	return to
}

func uvarintSize(b []byte) int {
	for i, c := range b {
		if c < 0x80 {
			return i + 1
		}
	}
	return len(b)
}
