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
	// fanout is how many segments of like size are merged into one: a document is written
	// some log8 of all documents times, and an answer looks into at most 7 segments a size.
	fanout = 8
	// mergeNow is how many documents a merge may have that a change waits for.
	mergeNow = 512
)

// due gives the parts that shall be merged next: one most of whose documents are gone, or
// those of one size where there are fanout of them, the smallest size first. It gives none
// where nothing is to be done.
func (l *level) due() []*part {
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

// mergeSmall merges small segments until there are few of them.
func (l *level) mergeSmall() error {
	for {
		parts := l.due()
		docs := 0
		for _, p := range parts {
			if docs += p.n; p.merging || docs > mergeNow {
				return nil
			}
		}
		if parts == nil {
			return nil
		}
		one, err := mergedWhole(scratch{}, parts...)
		if err == nil {
			err = l.replace(parts, one)
		}
		if err != nil {
			return err
		}
	}
}

// Tidy merges segments that Apply left, until there are few, or the context ends. Searches
// and changes go on meanwhile. It takes one part of a processor in share: after each merge it
// rests as long as the others need.
func (x *Index) Tidy(ctx context.Context, share int) error {
	for {
		began := time.Now()
		l, parts, segments, dead := x.beginMerge()
		if parts == nil {
			return nil
		}
		one, merr := merged(ctx, x.scratch, segments, dead)
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(share-1) * time.Since(began)):
		}
		if err := errors.Join(merr, x.endMerge(l, parts, dead, one), ctx.Err()); err != nil {
			return err
		}
	}
}

// beginMerge finds parts to merge, with their segments and what is dead of them now.
func (x *Index) beginMerge() (*level, []*part, []*segment, [][]uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.levels {
		parts := l.due()
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

// endMerge puts a part in the place of those that it was made of, without what died
// meanwhile, or, with none, lets go of the parts.
func (x *Index) endMerge(l *level, parts []*part, dead [][]uint64, one *part) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var died []ID
	for i, p := range parts {
		p.merging = false
		for doc := range uint32(p.n) {
			if p.isDead(doc) && !isSet(dead[i], doc) {
				died = append(died, p.id(doc))
			}
		}
	}
	if parts[0].left { // the index was emptied meanwhile
		var errs []error
		for _, p := range parts {
			errs = append(errs, p.drop())
		}
		if one != nil {
			errs = append(errs, one.drop())
		}
		return errors.Join(errs...)
	}
	if one == nil {
		return nil
	}
	for _, id := range died {
		if doc, ok := one.find(id); ok {
			one.kill(doc)
		}
	}
	return l.replace(parts, one)
}

// Scrub writes all segments anew in which documents are gone, so that nothing of those is
// left. Searches wait for it.
func (x *Index) Scrub() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.levels {
		for _, p := range slices.Clone(l.parts) {
			if p.gone > 0 && !p.merging {
				one, merr := mergedWhole(x.scratch, p)
				if merr == nil {
					merr = l.replace([]*part{p}, one)
				}
				err = errors.Join(err, merr)
			}
		}
	}
	return err
}

// tierOf is the size of a segment in powers of fanout.
func tierOf(docs int) (tier int) {
	for ; docs >= fanout; docs /= fanout {
		tier++
	}
	return tier
}

// replace puts one part in the place of several. An empty one is left out.
func (l *level) replace(parts []*part, one *part) (err error) {
	l.parts = slices.DeleteFunc(l.parts, func(p *part) bool { return slices.Contains(parts, p) })
	for _, p := range parts {
		err = errors.Join(err, p.drop())
	}
	if one.n > one.gone {
		l.parts = append(l.parts, one)
		return err
	}
	return errors.Join(err, one.drop())
}

func isSet(bits []uint64, doc uint32) bool { return bits != nil && bits[doc/64]&(1<<(doc%64)) != 0 }

// segmentsOf gives the segments of parts, and what is dead of each.
func segmentsOf(parts []*part) (segments []*segment, dead [][]uint64) {
	for _, p := range parts {
		segments, dead = append(segments, p.segment), append(dead, p.dead)
	}
	return segments, dead
}

// mergedWhole makes one part of the living documents of several.
func mergedWhole(in scratch, parts ...*part) (*part, error) {
	segments, dead := segmentsOf(parts)
	return merged(context.Background(), in, segments, dead)
}

// merged makes one part of the documents of several segments that are not dead; nil where
// the context ends before.
func merged(ctx context.Context, in scratch, segments []*segment, dead [][]uint64) (_ *part, err error) {
	w := newWriter(in)
	done := false
	defer func() {
		if !done {
			for _, s := range w.spools() {
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
			w.document(p.id(doc), uint32(p.length(doc)), p.row(doc))
		}
	}
	var terms [len(w.dicts)][][]uint32 // by segment: the new number of each term
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
			p.eachTerm(uint32(doc), func(dict, term int) { w.term(dict, terms[dict][i][term]) })
			w.endTerms()
		}
	}
	done = true
	return w.part()
}

// termsAtOnce is how many terms are merged between looks at the context.
const termsAtOnce = 1000

// mergeDictionary merges a dictionary of several segments, and gives the new numbers of each
// one's terms; false where the context ends before.
func mergeDictionary(ctx context.Context, to *dictionaryWriter, segments []*segment, dict int, renumbered [][]uint32) (terms [][]uint32, done bool) {
	at := make([]int, len(segments)) // the next term of each
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
			if at[i] < d.size() && (least == nil || bytes.Compare(d.word(at[i]), least) < 0) {
				least = d.word(at[i])
			}
		}
		if least == nil {
			return terms, true
		}
		to.begin()
		for i, p := range segments {
			d := &p.dicts[dict]
			if at[i] == d.size() || !bytes.Equal(d.word(at[i]), least) {
				continue
			}
			terms[i][at[i]] = uint32(to.size())
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
