package search

import (
	"slices"

	"loregate/internal/store/words"
)

// phraseSource finds the documents in which consecutive tokens of one column fit the pieces of a
// phrase.
func (f *searcher) phraseSource(p *part, row []words.Piece) (source, error) {
	var found []entry
	for _, dict := range f.positionDicts() {
		inOne, err := f.phraseEntries(p, dict, row)
		if err != nil {
			return source{}, err
		}
		if dict == ofNames && f.columns == inBoth {
			for i := range inOne {
				inOne[i].text *= nameWeight
			}
		}
		found = mergeEntries(found, inOne)
	}
	return entriesSource(found), nil
}

// positionDicts returns the dictionaries that have the positions of each searched column. The
// dictionary of name and text has the positions in the text.
func (f *searcher) positionDicts() []int {
	if f.columns == inBoth {
		return append([]int{ofNames}, f.searchedDicts()...)
	}
	return f.searchedDicts()
}

// mergeEntries merges the entries of a phrase in two columns.
func mergeEntries(list, other []entry) []entry {
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

// phraseEntries returns the living documents that have a phrase according to a dictionary's
// positions. entry.text is the number of its occurrences.
func (f *searcher) phraseEntries(p *part, dict int, row []words.Piece) ([]entry, error) {
	d := &p.dicts[dict]
	fitting := make([][]int, len(row))
	for i, piece := range row {
		if fitting[i] = d.fittingTerms(piece, nil); len(fitting[i]) == 0 {
			return nil, nil
		}
	}
	docs, err := f.commonDocs(p, dict, fitting)
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
			starts[k] = keepFollowed(starts[k], next[k], uint32(i))
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

func dictTerms(dict int, terms []int) []dictTerm {
	list := make([]dictTerm, len(terms))
	for i, term := range terms {
		list[i] = dictTerm{dict, term}
	}
	return list
}

// commonDocs returns the living documents that have a term of each list, rising.
func (f *searcher) commonDocs(p *part, dict int, lists [][]int) ([]uint32, error) {
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
			first, err := f.sumTerms(p, dictTerms(dict, terms), inTexts)
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
			l := d.openList(term)
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

// spotsOf returns the positions of any of the terms in each of the documents, rising.
func (f *searcher) spotsOf(d *dictionary, terms []int, docs []uint32) ([][]uint32, error) {
	out := make([][]uint32, len(docs))
	for _, term := range terms {
		if err := f.ctx.Err(); err != nil {
			return nil, err
		}
		l := d.openList(term)
		for k, doc := range docs {
			if !l.advance(doc) {
				break
			}
			if l.last.doc == doc {
				out[k] = l.appendPositions(out[k])
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

// keepFollowed keeps the starts for which there is a spot at start+distance.
func keepFollowed(starts, spots []uint32, distance uint32) []uint32 {
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
