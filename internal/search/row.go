package search

import (
	"slices"

	"loregate/internal/store/words"
)

// inRow finds documents with tokens in a row of one column that fit the pieces.
func (f *finding) inRow(p *part, row []words.Piece) (source, error) {
	var found []entry
	for _, dict := range f.columnsApart() {
		inOne, err := f.rowIn(p, dict, row)
		if err != nil {
			return source{}, err
		}
		if dict == ofNames && f.columns == inBoth {
			for i := range inOne {
				inOne[i].text *= nameWeight
			}
		}
		found = joined(found, inOne)
	}
	return entries(found), nil
}

// columnsApart are dictionaries with the positions in each column that is looked into; those
// of name and text have the text's.
func (f *finding) columnsApart() []int {
	if f.columns == inBoth {
		return append([]int{ofNames}, f.dictionaries()...)
	}
	return f.dictionaries()
}

// joined merges the entries of a row in two columns.
func joined(list, other []entry) []entry {
	if len(list) == 0 {
		return other
	}
	out := make([]entry, 0, len(list)+len(other))
	for len(list) > 0 && len(other) > 0 {
		switch a, b := list[0], other[0]; {
		case a.doc < b.doc:
			out, list = append(out, a), list[1:]
		case a.doc > b.doc:
			out, other = append(out, b), other[1:]
		default:
			out = append(out, entry{doc: a.doc, text: a.text + b.text})
			list, other = list[1:], other[1:]
		}
	}
	return append(append(out, list...), other...)
}

// rowIn gives the living documents of a row in a dictionary's positions, and how often it
// is there, as entry.text.
func (f *finding) rowIn(p *part, dict int, row []words.Piece) ([]entry, error) {
	d := &p.dicts[dict]
	fitting := make([][]int, len(row))
	for i, piece := range row {
		if fitting[i] = d.fitting(piece); len(fitting[i]) == 0 {
			return nil, nil
		}
	}
	docs, err := f.common(p, dict, fitting)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	starts, err := f.spotsOf(d, fitting[0], docs)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(row); i++ {
		next, err := f.spotsOf(d, fitting[i], docs)
		if err != nil {
			return nil, err
		}
		for k := range docs {
			starts[k] = followed(starts[k], next[k], uint32(i))
		}
	}
	var found []entry
	for k, doc := range docs {
		if n := len(starts[k]); n > 0 {
			found = append(found, entry{doc: doc, text: uint32(n)})
		}
	}
	return found, nil
}

func placesOf(dict int, terms []int) []place {
	list := make([]place, len(terms))
	for i, term := range terms {
		list[i] = place{dict, term}
	}
	return list
}

// common gives the living documents that have a term of each list, rising.
func (f *finding) common(p *part, dict int, lists [][]int) ([]uint32, error) {
	d := &p.dicts[dict]
	order := slices.Clone(lists)
	size := func(terms []int) (n int) {
		for _, t := range terms {
			n += d.docFreq(t)
		}
		return n
	}
	slices.SortStableFunc(order, func(a, b []int) int { return size(a) - size(b) })
	var docs []uint32
	for i, terms := range order {
		if err := f.ctx.Err(); err != nil {
			return nil, err
		}
		if i == 0 {
			first, err := f.union(p, placesOf(dict, terms), inTexts)
			if err != nil {
				return nil, err
			}
			for first.next() {
				docs = append(docs, first.last.doc)
			}
			continue
		}
		has := make([]bool, len(docs))
		for _, term := range terms {
			l := d.list(term)
			for k, doc := range docs {
				if !l.advance(doc) {
					break
				}
				has[k] = has[k] || l.last.doc == doc && l.last.text > 0
			}
		}
		kept := docs[:0]
		for k, doc := range docs {
			if has[k] {
				kept = append(kept, doc)
			}
		}
		docs = kept
	}
	return docs, nil
}

// spotsOf gives the positions of the terms in each of the documents, rising.
func (f *finding) spotsOf(d *dictionary, terms []int, docs []uint32) ([][]uint32, error) {
	out := make([][]uint32, len(docs))
	for _, term := range terms {
		if err := f.ctx.Err(); err != nil {
			return nil, err
		}
		l := d.list(term)
		for k, doc := range docs {
			if !l.advance(doc) {
				break
			}
			if l.last.doc == doc {
				out[k] = l.positions(out[k])
			}
		}
	}
	if len(terms) > 1 {
		for _, spots := range out {
			slices.Sort(spots)
		}
	}
	return out, nil
}

// followed keeps the starts that a spot follows at a distance.
func followed(starts, spots []uint32, distance uint32) []uint32 {
	kept := starts[:0]
	for _, at := range starts {
		for len(spots) > 0 && spots[0] < at+distance {
			spots = spots[1:]
		}
		if len(spots) > 0 && spots[0] == at+distance {
			kept = append(kept, at)
		}
	}
	return kept
}
