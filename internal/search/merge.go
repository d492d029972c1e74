package search

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

const (
	// fanout is the number of segments of similar size that are merged into one. Each document is
	// written about log8 of the number of documents times, and a search reads at most 7 segments
	// per size.
	fanout = 8
	// mergeNow is the maximum number of documents of a merge that Apply does itself.
	mergeNow = 512
)

// nextMerge returns the parts to merge next: one part most of whose documents are dead, or all
// parts of one size if there are at least fanout of them, smallest size first. It returns nil if
// nothing is to be merged.
func (l *level) nextMerge() []*part {
	bySize := map[int][]*part{}
	for _, p := range l.parts {
		if p.n > fanout && 2*p.gone > p.n {
			return []*part{p}
		}
		tier := tierOf(p.n - p.gone)
		bySize[tier] = append(bySize[tier], p)
	}
	for _, tier := range slices.Sorted(maps.Keys(bySize)) {
		if len(bySize[tier]) >= fanout {
			return bySize[tier]
		}
	}
	return nil
}

// mergeSmall merges small segments until few remain.
func (l *level) mergeSmall() error {
	for {
		parts := l.nextMerge()
		docs := 0
		for _, p := range parts {
			if docs += p.n; p.merging || docs > mergeNow {
				return nil
			}
		}
		if parts == nil {
			return nil
		}
		one, err := mergeParts(scratch{}, parts...)
		if err == nil {
			err = l.replaceParts(parts, one)
		}
		if err != nil {
			return err
		}
	}
}

// Tidy merges segments that Apply left, until few remain or the context ends. Searches and changes
// may continue meanwhile. It uses 1/share of a processor: after each merge it sleeps accordingly.
func (x *Index) Tidy(ctx context.Context, share int) error {
	for {
		began := time.Now()
		l, parts, segments, dead := x.beginMerge()
		if parts == nil {
			return nil
		}
		one, merr := mergeSegments(ctx, x.scratch, segments, dead)
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(share-1) * time.Since(began)):
		}
		if err := errors.Join(merr, x.endMerge(l, parts, dead, one), ctx.Err()); err != nil {
			return err
		}
	}
}

// beginMerge selects parts to merge. It returns their segments and copies of their sets of dead
// documents.
func (x *Index) beginMerge() (*level, []*part, []*segment, [][]uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.levels {
		parts := l.nextMerge()
		if parts == nil || slices.ContainsFunc(parts, func(p *part) bool { return p.merging }) {
			continue
		}
		segments, dead := segmentsOf(parts)
		for i, p := range parts {
			p.merging, dead[i] = true, slices.Clone(p.dead)
		}
		return l, parts, segments, dead
	}
	return nil, nil, nil, nil
}

// endMerge replaces the merged parts with the part made of them, and marks the documents dead in it
// that died during the merge. If one is nil, it only releases the parts.
func (x *Index) endMerge(l *level, parts []*part, dead [][]uint64, one *part) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var died []ID
	for i, p := range parts {
		p.merging = false
		for doc := range uint32(p.n) {
			if p.isDead(doc) && !isSet(dead[i], doc) {
				died = append(died, p.docID(doc))
			}
		}
	}
	if parts[0].left { // the index was cleared meanwhile
		var errs []error
		for _, p := range parts {
			errs = append(errs, p.closeFile())
		}
		if one != nil {
			errs = append(errs, one.closeFile())
		}
		return errors.Join(errs...)
	}
	if one == nil {
		return nil
	}
	for _, id := range died {
		if doc, ok := one.findDoc(id); ok {
			one.markDead(doc)
		}
	}
	return l.replaceParts(parts, one)
}

// Scrub rewrites all segments that have dead documents, so that nothing of these remains. Searches
// wait meanwhile.
func (x *Index) Scrub() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.levels {
		for _, p := range slices.Clone(l.parts) {
			if p.gone > 0 && !p.merging {
				one, merr := mergeParts(x.scratch, p)
				if merr == nil {
					merr = l.replaceParts([]*part{p}, one)
				}
				err = errors.Join(err, merr)
			}
		}
	}
	return err
}

// tierOf returns the size class of a segment: the logarithm of its documents to the base fanout.
func tierOf(docs int) (tier int) {
	for ; docs >= fanout; docs /= fanout {
		tier++
	}
	return tier
}

// replaceParts replaces several parts with one. An empty part is not added.
func (l *level) replaceParts(parts []*part, one *part) (err error) {
	l.parts = slices.DeleteFunc(l.parts, func(p *part) bool { return slices.Contains(parts, p) })
	for _, p := range parts {
		err = errors.Join(err, p.closeFile())
	}
	if one.n > one.gone {
		l.parts = append(l.parts, one)
		return err
	}
	return errors.Join(err, one.closeFile())
}

func isSet(bits []uint64, doc uint32) bool { return bits != nil && bits[doc/64]&(1<<(doc%64)) != 0 }

// segmentsOf returns the segments of parts and their sets of dead documents.
func segmentsOf(parts []*part) (segments []*segment, dead [][]uint64) {
	for _, p := range parts {
		segments, dead = append(segments, p.segment), append(dead, p.dead)
	}
	return segments, dead
}

// mergeParts merges the living documents of several parts into one part.
func mergeParts(in scratch, parts ...*part) (*part, error) {
	segments, dead := segmentsOf(parts)
	return mergeSegments(context.Background(), in, segments, dead)
}

// mergeSegments merges the documents of several segments that are not dead into one part. It
// returns nil if the context ends before.
func mergeSegments(ctx context.Context, in scratch, segments []*segment, dead [][]uint64) (_ *part, err error) {
	w := newWriter(in)
	done := false
	defer func() {
		if !done {
			for _, s := range w.allSpools() {
				err = errors.Join(err, s.close())
			}
		}
	}()
	renumbered := make([][]uint32, len(segments))
	for i, p := range segments {
		renumbered[i] = make([]uint32, p.n)
		for doc := range uint32(p.n) {
			if isSet(dead[i], doc) {
				renumbered[i][doc] = end
				continue
			}
			renumbered[i][doc] = uint32(w.seg.n)
			w.addDoc(p.docID(doc), uint32(p.nameLength(doc)), uint32(p.docLength(doc)), p.docRow(doc))
		}
	}
	var terms [len(w.dicts)][][]uint32 // by dictionary and segment: the new number of each term
	for dict := range w.dicts {
		var whole bool
		if terms[dict], whole = mergeDictionary(ctx, &w.dicts[dict], segments, dict, renumbered); !whole {
			return nil, nil
		}
	}
	for i, p := range segments {
		for doc, now := range renumbered[i] {
			if now == end {
				continue
			}
			if doc%termsAtOnce == 0 && ctx.Err() != nil {
				return nil, nil
			}
			w.beginTerms()
			p.eachTerm(uint32(doc), func(dict, term int) { w.addTerm(dict, terms[dict][i][term]) })
			w.endTerms()
		}
	}
	done = true
	return w.buildPart()
}

// termsAtOnce is the number of terms merged between two checks of the context.
const termsAtOnce = 1000

// mergeDictionary merges one dictionary of several segments. It returns the new numbers of the
// terms of each segment; done is false if the context ends before.
func mergeDictionary(ctx context.Context, to *dictionaryWriter, segments []*segment, dict int,
	renumbered [][]uint32) (terms [][]uint32, done bool) {
	at := make([]int, len(segments)) // the next term of each segment
	terms = make([][]uint32, len(segments))
	for i, p := range segments {
		terms[i] = make([]uint32, p.dicts[dict].size())
	}
	for n := 0; ; n++ {
		if n%termsAtOnce == 0 && ctx.Err() != nil {
			return nil, false
		}
		var least []byte
		for i, p := range segments {
			d := &p.dicts[dict]
			if at[i] < d.size() && (least == nil || bytes.Compare(d.termText(at[i]), least) < 0) {
				least = d.termText(at[i])
			}
		}
		if least == nil {
			return terms, true
		}
		to.beginList()
		for i, p := range segments {
			d := &p.dicts[dict]
			if at[i] == d.size() || !bytes.Equal(d.termText(at[i]), least) {
				continue
			}
			terms[i][at[i]] = uint32(to.size())
			l := d.openList(at[i])
			at[i]++
			for l.next() {
				if doc := renumbered[i][l.last.doc]; doc != end {
					to.addEntry(entry{doc, l.last.inName, l.last.text}, l.rawPositions())
				}
			}
		}
		to.finishList(least)
	}
}
