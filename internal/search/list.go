package search

import (
	"encoding/binary"
	"sort"
)

// A term's list names the documents that have it, rising. An entry is a uvarint of twice
// the difference to the document before (to -1 at first), plus 1 where the term stands in
// the text once and in no name; otherwise two uvarints follow: how often it is in the name,
// and in the text. Entries come in blocks of blockSize; skips lead to the later ones. The
// positions of an entry are as many uvarints as it is in the text (in a dictionary of
// names, in the name), each the difference to the one before, the first to -1. A mark is
// kept as if it were in the text once, and has no positions.
const blockSize = 128

const skipSize = 12

// entry is a document in a list.
type entry struct {
	doc          uint32
	inName, text uint32 // how often the term is in the name and in the text
}

// end is the document after the last.
const end = ^uint32(0)

// list walks the documents of a term.
type list struct {
	d      *dictionary
	n      int    // documents
	texts  bool   // only documents that have the term in the text, and what it weighs there
	skips  []byte // of this list
	tops   []byte // of this list, from a block on
	at     int    // entries that were read
	docs   []byte // of a block, and those after it
	pos    int    // of the next entry in docs
	spots  []byte // from the positions of a later entry on: before them are unread ones
	unread uint32 // positions to be passed over before those of the entry
	last   entry
}

func (d *dictionary) list(term int) list {
	b := d.lists[listSize*term:]
	n, docs, spots, skips, tops := number(b, 0), number(b, 2), number(b, 3), number(b, 4), number(b, 5)
	return list{d: d, n: n, docs: d.docs[docs:], spots: d.spots[spots:], skips: d.skips[skips : skips+(n-1)/blockSize*skipSize], tops: d.tops[tops:], last: entry{doc: end}}
}

// next goes to the next document; the last entry's doc is end.
func (l *list) next() bool { return l.walk(0) }

// walk goes on, by one entry at least, to a document that is not before one. It does what
// step does again and again: calls for each entry would cost more than the rest.
func (l *list) walk(doc uint32) bool {
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

// step goes to the next entry, which there is, even one that is not to be gone to.
func (l *list) step() {
	l.at++
	l.unread += l.last.text
	if l.last, l.pos = entryAt(l.docs, l.pos, l.last.doc); l.texts {
		l.last.inName = 0
	}
}

// entryAt reads the entry at a place, which comes after that of a document, and gives the
// place of the next one.
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

// uvarintAt reads a number, and gives the place after it.
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

// addTo adds the weight of the term in each document to its count. In names it weighs
// nothing where texts alone are meant.
func (l *list) addTo(counts []uint32, what columns) {
	b, at, e := l.docs, 0, entry{doc: end}
	for range l.n {
		// Most entries are of one byte: a call for each would cost as much as the rest.
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

// top tells of the documents of the next block whose top was not asked for: the most that a
// function of weight and length gives for one, and the least length of one that is not
// beaten. The function rises with the weight, and falls with the length.
func (l *list) top(f func(weight, length uint32) float64) (most float64, shortest uint32) {
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

// weight is how much the last entry counts for a score.
func (e entry) weight() uint32 { return nameWeight*e.inName + e.text }

// advance goes to the first document that is not before one, from where the list is.
func (l *list) advance(doc uint32) bool {
	if l.at > 0 && l.last.doc >= doc {
		return l.last.doc != end
	}
	block := l.at / blockSize // of the next entry
	if blocks := len(l.skips) / skipSize; block < blocks && binary.LittleEndian.Uint32(l.skips[block*skipSize:]) < doc {
		block += sort.Search(blocks-block, func(i int) bool {
			return binary.LittleEndian.Uint32(l.skips[(block+i)*skipSize:]) >= doc
		})
		l.jump(block)
	}
	return l.walk(doc)
}

// jump goes to the beginning of a block after the first.
func (l *list) jump(block int) {
	s := l.skips[(block-1)*skipSize:]
	l.at = block * blockSize
	l.last = entry{doc: binary.LittleEndian.Uint32(s)}
	l.docs, l.pos = l.d.docs[binary.LittleEndian.Uint32(s[4:]):], 0
	l.spots = l.d.spots[binary.LittleEndian.Uint32(s[8:]):]
	l.unread = 0
}

// pass goes to the positions of the last entry.
func (l *list) pass() {
	for ; l.unread > 0; l.unread-- {
		l.spots = l.spots[uvarintSize(l.spots):]
	}
}

// rawPositions gives the last entry's positions as they are kept.
func (l *list) rawPositions() []byte {
	l.pass()
	return l.spots[:spotsSize(l.spots, l.last.text)]
}

// positions appends where the term stands in the last entry's document.
func (l *list) positions(to []uint32) []uint32 {
	l.pass()
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
