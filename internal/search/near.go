package search

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sort"
	"unicode/utf8"
)

// NearWord is a word of the vocabulary that resembles another word.
type NearWord struct {
	Word     string
	Distance int // number of inserted, removed, replaced or transposed characters
	Docs     int // number of documents that have it
}

// NearWords returns the words up to a level within an edit distance of slips from word: nearest
// first, then those of more documents, then by bytes. If inNames is set, it considers only words of
// names.
func (x *Index) NearWords(ctx context.Context, word string, slips, level int, inNames bool) ([]NearWord, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	dict := ofAll
	if inNames {
		dict = ofNames
	}
	found := map[string]*NearWord{}
	asked := []rune(word)
	for n, l := range x.levels {
		if n > level {
			continue
		}
		for _, p := range l.parts {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			eachNearTerm(&p.dicts[dict], asked, slips, func(term, distance int) {
				docs := p.docFreq(dict, term)
				if docs == 0 {
					return
				}
				text := string(p.dicts[dict].termText(term))
				if found[text] == nil {
					found[text] = &NearWord{Word: text, Distance: distance}
				}
				found[text].Docs += docs
			})
		}
	}
	out := make([]NearWord, 0, len(found))
	for _, w := range found {
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b NearWord) int {
		return cmp.Or(a.Distance-b.Distance, b.Docs-a.Docs, cmp.Compare(a.Word, b.Word))
	})
	return out, nil
}

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

// eachNearTerm calls f for the terms of a vocabulary within a distance of a word. It treats the
// sorted terms as a trie: it keeps the rows of the distance table for the prefix that two
// neighbours share. If a prefix is already too far, it skips all terms with that prefix.
func eachNearTerm(d *dictionary, word []rune, most int, f func(term, distance int)) {
	table := [][]int{make([]int, len(word)+1)}
	for j := range table[0] {
		table[0][j] = j
	}
	var letters []rune // the letters of the term that the table belongs to
	var ends []int     // the byte offset at which each letter ends
	var last []byte
	for term := 0; term < d.size(); {
		text := d.termText(term)
		shared := sharedBytes(last, text)
		keep := 0
		for keep < len(ends) && ends[keep] <= shared {
			keep++
		}
		letters, ends, table = letters[:keep], ends[:keep], table[:keep+1]
		last = text
		far := false
		for at := lastEnd(ends); at < len(text); {
			r, size := utf8.DecodeRune(text[at:])
			at += size
			letters, ends = append(letters, r), append(ends, at)
			table = append(table, nextRow(table, letters, word))
			if slices.Min(table[len(table)-1]) > most && slices.Min(table[len(table)-2]) > most {
				far = true
				break
			}
		}
		if far {
			term = skipPrefix(d, term, text[:lastEnd(ends)])
			continue
		}
		if n := table[len(letters)][len(word)]; n <= most {
			f(term, n)
		}
		term++
	}
}

// nextRow returns the next row of the table: the distances of letters to the prefixes of word.
func nextRow(table [][]int, letters, word []rune) []int {
	i := len(letters)
	r := letters[i-1]
	before := table[i-1]
	out := make([]int, len(word)+1)
	out[0] = i
	for j := 1; j <= len(word); j++ {
		change := before[j-1]
		if word[j-1] != r {
			change++
		}
		out[j] = min(change, before[j]+1, out[j-1]+1)
		if i > 1 && j > 1 && word[j-1] == letters[i-2] && word[j-2] == r {
			out[j] = min(out[j], table[i-2][j-2]+1)
		}
	}
	return out
}

func lastEnd(ends []int) int {
	if len(ends) == 0 {
		return 0
	}
	return ends[len(ends)-1]
}

func sharedBytes(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// skipPrefix returns the first term after term that does not begin with text.
func skipPrefix(d *dictionary, term int, text []byte) int {
	step := 1
	for term+step < d.size() && bytes.HasPrefix(d.termText(term+step), text) {
		step *= 2
	}
	low, high := term+step/2, min(term+step, d.size())
	for low < high {
		if mid := (low + high) / 2; bytes.HasPrefix(d.termText(mid), text) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
