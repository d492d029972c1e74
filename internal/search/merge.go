package search

import "bytes"

// merged makes one segment of the living documents of several.
func merged(parts []*part) *segment {
	w := &writer{}
	renumbered := make([][]uint32, len(parts))
	for i, p := range parts {
		renumbered[i] = make([]uint32, p.n)
		for doc := range uint32(p.n) {
			if p.isDead(doc) {
				renumbered[i][doc] = end
				continue
			}
			renumbered[i][doc] = uint32(w.seg.n)
			w.document(p.id(doc), uint32(p.length(doc)), p.row(doc))
		}
	}
	for dict := range w.dicts {
		mergeDictionary(&w.dicts[dict], parts, dict, renumbered)
	}
	return w.segment()
}

func mergeDictionary(to *dictionaryWriter, parts []*part, dict int, renumbered [][]uint32) {
	at := make([]int, len(parts)) // the next term of each
	for {
		var least []byte
		for i, p := range parts {
			d := &p.dicts[dict]
			if at[i] < d.size() && (least == nil || bytes.Compare(d.word(at[i]), least) < 0) {
				least = d.word(at[i])
			}
		}
		if least == nil {
			return
		}
		to.begin()
		for i, p := range parts {
			d := &p.dicts[dict]
			if at[i] == d.size() || !bytes.Equal(d.word(at[i]), least) {
				continue
			}
			l := d.list(at[i])
			at[i]++
			for l.next() {
				if doc := renumbered[i][l.last.doc]; doc != end {
					to.entry(entry{doc, l.last.inName, l.last.text}, l.rawPositions())
				}
			}
		}
		to.finish(least)
	}
}
