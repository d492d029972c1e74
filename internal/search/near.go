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

// NearWord is a word of the vocabulary that resembles another.
type NearWord struct {
	Word     string
	Distance int // characters put in, taken out or changed, or two neighbours that changed places
	Docs     int // documents that have it
}

// NearWords gives the words of a level and those below that are at most a number of slips
// from a word: nearest first, then those of more documents, then by bytes. Words of names
// alone where inNames is set.
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
			near(&p.dicts[dict], asked, slips, func(term, distance int) {
				docs := p.docFreq(dict, term)
				if docs == 0 {
					return
				}
				text := string(p.dicts[dict].word(term))
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

// Marked gives f the rows of all documents up to a level that have a mark. They are valid
// till f returns.
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
			term, ok := p.dicts[ofMarks].find(mark)
			if !ok {
				continue
			}
			for list := p.dicts[ofMarks].list(term); list.next(); {
				if doc := list.last.doc; !p.isDead(doc) {
					f(p.row(doc))
				}
			}
		}
	}
	return nil
}

// alikeReads bounds how many entries of lists Alike reads, from the rarest mark on.
const alikeReads = 1 << 18

// Likes asks for documents that share marks.
type Likes struct {
	Marks     []string
	MinShared int // of the marks, that a document shares
	Level     int // the highest that is in sight
	Limit     int
	Keep      func(row []byte) bool // as in a Query
}

// Alike gives documents that share most of some marks, those that share the most first,
// then by id; their Score is how many they share. Of documents that share frequent marks
// alone some may be left out, and some may be among them that share too few.
func (x *Index) Alike(ctx context.Context, q Likes) ([]Hit, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var parts []asked
	for at, l := range x.levels {
		if at <= q.Level {
			for _, p := range l.parts {
				parts = append(parts, asked{part: p, level: at})
			}
		}
	}
	freq := make(map[string]int, len(q.Marks))
	for _, mark := range q.Marks {
		freq[mark] = 0
		for _, p := range parts {
			if term, ok := p.dicts[ofMarks].find(mark); ok {
				freq[mark] += p.docFreq(ofMarks, term)
			}
		}
	}
	rising := slices.SortedFunc(maps.Keys(freq), func(a, b string) int { return cmp.Or(freq[a]-freq[b], cmp.Compare(a, b)) })
	f := finding{ctx: ctx}
	defer f.release()
	most := top{most: q.Limit, byID: true}
	for i := range parts {
		if err := f.countShared(&parts[i], q, rising, freq, &most); err != nil {
			return nil, err
		}
	}
	sort.Sort(sort.Reverse(&most))
	hits := make([]Hit, 0, len(most.list))
	for _, c := range most.list {
		hits = append(hits, Hit{ID: c.part.id(c.doc), Level: c.part.level, Score: c.score, Row: bytes.Clone(c.part.row(c.doc))})
	}
	return hits, nil
}

// countShared counts for each document of a part how many of the marks it has.
func (f *finding) countShared(p *asked, q Likes, rising []string, freq map[string]int, most *top) error {
	shared, err := f.tally(p.n)
	if err != nil {
		return err
	}
	read, floor := 0, q.MinShared
	for i, mark := range rising {
		if read += freq[mark]; i > 0 && read > alikeReads {
			floor -= len(rising) - i // it may share the marks that are not read
			break
		}
		if err := f.ctx.Err(); err != nil {
			return err
		}
		term, ok := p.dicts[ofMarks].find(mark)
		if !ok {
			continue
		}
		l := p.dicts[ofMarks].list(term)
		l.addTo(shared.counts, inTexts)
	}
	shared.living(p.part)
	least := most.leastShared(floor)
	for doc, n := range shared.counts {
		if n < least {
			continue
		}
		c := candidate{score: float64(n), part: p, doc: uint32(doc)}
		if most.takes(c) && (q.Keep == nil || q.Keep(p.row(c.doc))) {
			most.offer(c)
			least = most.leastShared(floor)
		}
	}
	return nil
}

// leastShared is how many marks a document shares at least that may be kept, above a floor.
func (t *top) leastShared(floor int) uint32 {
	score, _ := t.least()
	return uint32(max(1, float64(floor), min(score, math.MaxUint32)))
}

// near gives the terms of a vocabulary within a distance of a word. It walks the sorted
// terms as a tree: the table of distances of what two neighbours share is kept, and where
// a beginning is too far already, all terms that share it are passed over.
func near(d *dictionary, word []rune, most int, f func(term, distance int)) {
	table := [][]int{make([]int, len(word)+1)}
	for j := range table[0] {
		table[0][j] = j
	}
	var letters []rune // of the term that the table is of
	var ends []int     // where each of them ends in its bytes
	var last []byte
	for term := 0; term < d.size(); {
		text := d.word(term)
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
			table = append(table, row(table, letters, word))
			if slices.Min(table[len(table)-1]) > most && slices.Min(table[len(table)-2]) > most {
				far = true
				break
			}
		}
		if far {
			term = after(d, term, text[:lastEnd(ends)])
			continue
		}
		if n := table[len(letters)][len(word)]; n <= most {
			f(term, n)
		}
		term++
	}
}

// row is the table's next row: the distances of letters to the beginnings of a word.
func row(table [][]int, letters, word []rune) []int {
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

// after gives the first term from one on that does not begin with a text.
func after(d *dictionary, term int, text []byte) int {
	step := 1
	for term+step < d.size() && bytes.HasPrefix(d.word(term+step), text) {
		step *= 2
	}
	low, high := term+step/2, min(term+step, d.size())
	for low < high {
		if mid := (low + high) / 2; bytes.HasPrefix(d.word(mid), text) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
