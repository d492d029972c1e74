package search

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sort"
)

// Marked calls f with the rows of all documents up to a level that have a mark. A row is only valid
// until f returns.
func (x *Index) Marked(ctx context.Context, mark string, level int, f func(row []byte)) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for at, l := range x.levels {
		if at > level {
			continue
		}
		for _, p := range l.parts {
			if err := ctx.Err(); err != nil {
				return err
			}
			term, ok := p.dicts[ofMarks].findTerm(mark)
			if !ok {
				continue
			}
			for list := p.dicts[ofMarks].openList(term); list.next(); {
				if doc := list.last.doc; !p.isDead(doc) {
					f(p.docRow(doc))
				}
			}
		}
	}
	return nil
}

// alikeReads is the maximum number of entries that Alike reads, beginning with the rarest mark.
const alikeReads = 1 << 18

// Likes is a query for documents that share marks.
type Likes struct {
	Marks     []string
	MinShared int // the least number of marks that a hit shares
	Level     int // the highest level visible to the caller
	Limit     int
	Keep      func(row []byte) bool // as in a Query
}

// Alike returns the documents that share most of some marks, those that share the most first, then
// by id. Their Score is the number of shared marks. Because of alikeReads, some documents that
// share only frequent marks may be missing, and some with fewer shared marks than asked for may be
// included.
func (x *Index) Alike(ctx context.Context, q Likes) ([]Hit, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var parts []searchedPart
	for at, l := range x.levels {
		if at <= q.Level {
			for _, p := range l.parts {
				parts = append(parts, searchedPart{part: p, level: at})
			}
		}
	}
	freq := make(map[string]int, len(q.Marks))
	for _, mark := range q.Marks {
		freq[mark] = 0
		for _, p := range parts {
			if term, ok := p.dicts[ofMarks].findTerm(mark); ok {
				freq[mark] += p.docFreq(ofMarks, term)
			}
		}
	}
	rising := slices.SortedFunc(maps.Keys(freq),
		func(a, b string) int { return cmp.Or(freq[a]-freq[b], cmp.Compare(a, b)) })
	f := searcher{ctx: ctx}
	defer f.releaseTallies()
	most := topHeap{most: q.Limit, byID: true}
	for i := range parts {
		if err := f.countShared(&parts[i], q, rising, freq, &most); err != nil {
			return nil, err
		}
	}
	sort.Sort(sort.Reverse(&most))
	hits := make([]Hit, 0, len(most.list))
	for _, c := range most.list {
		hits = append(hits, Hit{ID: c.part.docID(c.doc), Level: c.part.level, Score: c.score,
			Row: bytes.Clone(c.part.docRow(c.doc))})
	}
	return hits, nil
}

// countShared counts the marks that each document of a part has, and offers the documents to most.
func (f *searcher) countShared(p *searchedPart, q Likes, rising []string, freq map[string]int, most *topHeap) error {
	shared, err := f.borrowTally(p.n)
	if err != nil {
		return err
	}
	read, floor := 0, q.MinShared
	for i, mark := range rising {
		if read += freq[mark]; i > 0 && read > alikeReads {
			floor -= len(rising) - i // a document may have the marks that are not read
			break
		}
		if err := f.ctx.Err(); err != nil {
			return err
		}
		term, ok := p.dicts[ofMarks].findTerm(mark)
		if !ok {
			continue
		}
		l := p.dicts[ofMarks].openList(term)
		l.addWeights(shared.counts, inTexts)
	}
	shared.clearDead(p.part)
	least := most.leastShared(floor)
	for doc, n := range shared.counts {
		if n < least {
			continue
		}
		c := candidate{score: float64(n), part: p, doc: uint32(doc)}
		if most.wouldKeep(c) && (q.Keep == nil || q.Keep(p.docRow(c.doc))) {
			most.offer(c)
			least = most.leastShared(floor)
		}
	}
	return nil
}

// leastShared returns the least number of shared marks that a document needs to be kept; at least
// floor and 1.
func (t *topHeap) leastShared(floor int) uint32 {
	score, _ := t.minScore()
	return uint32(max(1, float64(floor), min(score, math.MaxUint32)))
}
