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
// names, in the name), each the difference to the one before, the first to -1.
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
	skips  []byte // of this list
	at     int    // entries that were read
	docs   []byte // what is left
	spots  []byte // from the positions of a later entry on: before them are unread ones
	unread uint32 // positions to be passed over before those of the entry
	last   entry
}

func (d *dictionary) list(term int) list {
	b := d.lists[listSize*term:]
	n := int(binary.LittleEndian.Uint32(b))
	docs, spots, skips := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	return list{d: d, n: n, docs: d.docs[docs:], spots: d.spots[spots:], skips: d.skips[skips : int(skips)+(n-1)/blockSize*skipSize], last: entry{doc: end}}
}

// next goes to the next document; the last entry's doc is end.
func (l *list) next() bool {
	if l.at == l.n {
		l.last = entry{doc: end}
		return false
	}
	l.at++
	l.unread += l.last.text
	v, size := uint64(l.docs[0]), 1
	if v >= 0x80 {
		v, size = binary.Uvarint(l.docs)
	}
	l.docs = l.docs[size:]
	doc := l.last.doc + uint32(v>>1) // the first is counted from end, which is -1
	if v&1 == 1 {
		l.last = entry{doc: doc, text: 1}
		return true
	}
	inName, a := binary.Uvarint(l.docs)
	text, b := binary.Uvarint(l.docs[a:])
	l.docs = l.docs[a+b:]
	l.last = entry{doc, uint32(inName), uint32(text)}
	return true
}

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
	for l.next() {
		if l.last.doc >= doc {
			return true
		}
	}
	return false
}

// jump goes to the beginning of a block after the first.
func (l *list) jump(block int) {
	s := l.skips[(block-1)*skipSize:]
	l.at = block * blockSize
	l.last = entry{doc: binary.LittleEndian.Uint32(s)}
	l.docs = l.d.docs[binary.LittleEndian.Uint32(s[4:]):]
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
