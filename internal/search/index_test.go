package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/store/words"
)

// vocabulary has the words of random texts: frequent words, rare ones, and words within words.
var vocabulary = []string{"the", "the", "the", "of", "of", "harbour", "harbourmaster", "arbo", "lantern", "Lanterns",
	"ell", "well-cap", "Ré", "naïve", "黒い王", "x1", "a", "b", "ca", "cap", "lantern", "capping", "capped"}

func randomText(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
		b.WriteString([]string{" ", " ", "-", "\n", ", "}[r.IntN(5)])
	}
	return b.String()
}

func randomDoc(r *rand.Rand, n uint64) Doc {
	d := Doc{Level: 1 + r.IntN(3), Name: randomText(r, 4), Text: randomText(r, 30), Fields: randomText(r, 3),
		Row: fmt.Appendf(nil, "row %d", r.IntN(5))}
	binary.BigEndian.PutUint64(d.ID[8:], n)
	for _, mark := range []string{"type:npc", "type:place", "tag:old"} {
		if r.IntN(3) == 0 {
			d.Marks = append(d.Marks, mark)
		}
	}
	return d
}

// scan runs a query by reading every document.
func scan(docs []Doc, q Query) Result {
	var seen []Doc
	tokens, wordy := 0, 0
	for _, d := range docs {
		if d.Level <= q.Level {
			seen = append(seen, d)
			n := len(words.List(d.Name)) + len(words.List(d.Text))
			if tokens += n; n > 0 {
				wordy++
			}
		}
	}
	count := func(text string, t words.Term) (n int) {
		list := words.List(text)
		for i := range list {
			if i+len(t.Row) <= len(list) && t.In(strings.Join(list[i:i+len(t.Row)], " ")) {
				n++
			}
		}
		return n
	}
	none := !q.Name && !q.Text && !q.Fields
	inName, inText := q.Name || none, q.Text || none
	freq := func(d Doc, t words.Term) (float64, bool) {
		name, text, fields := 0, 0, 0
		if inName {
			name = count(d.Name, t)
		}
		if inText {
			text = count(d.Text, t)
		}
		if q.Fields {
			fields = count(d.Fields, t)
		}
		if !inText {
			return float64(name + fields), name+fields > 0
		}
		return float64(nameWeight*name + text + fields), name+text+fields > 0
	}
	docFreq := make([]int, len(q.Terms))
	for _, d := range seen {
		for i, t := range q.Terms {
			if _, ok := freq(d, t); ok {
				docFreq[i]++
			}
		}
	}
	var r Result
	for _, d := range seen {
		norm := bm25K1 * (1 - bm25B + bm25B*float64(len(words.List(d.Name))+len(words.List(d.Text)))/(float64(tokens)/float64(max(wordy, 1))))
		score, all := 0.0, true
		for i, t := range q.Terms {
			n, ok := freq(d, t)
			weight := math.Log(1 + (float64(wordy-docFreq[i])+0.5)/(float64(docFreq[i])+0.5))
			all = all && ok
			score += weight * n * (bm25K1 + 1) / (n + norm)
		}
		for _, any := range q.Marks {
			all = all && slices.ContainsFunc(any, func(m string) bool { return slices.Contains(d.Marks, m) })
		}
		all = all && (q.Among == nil || slices.Contains(q.Among, d.ID))
		if all && (q.Keep == nil || q.Keep(d.Row)) {
			r.Hits = append(r.Hits, Hit{d.ID, d.Level, score, d.Row})
		}
	}
	if q.Compare != nil {
		for i := range r.Hits {
			r.Hits[i].Score = 0
		}
	}
	r.Total = len(r.Hits)
	slices.SortFunc(r.Hits, func(a, b Hit) int {
		by := cmp.Compare(b.Score, a.Score)
		if q.Compare != nil {
			by = q.Compare(a.Row, b.Row)
		}
		return cmp.Or(by, bytes.Compare(a.Row, b.Row), bytes.Compare(a.ID[:], b.ID[:]))
	})
	r.Hits = r.Hits[min(q.Offset, len(r.Hits)):min(q.Offset+q.Limit, len(r.Hits))]
	return r
}

func randomQuery(r *rand.Rand) (Query, string) {
	modes := []canon.MatchMode{canon.MatchWord, canon.MatchPhrase, canon.MatchSubstring, canon.MatchStem}
	var typed []string
	for range r.IntN(4) {
		w := vocabulary[r.IntN(len(vocabulary))]
		switch r.IntN(4) {
		case 0:
			letters := []rune(w)
			w = string(letters[r.IntN(len(letters)):])
		case 1:
			w += "*"
		}
		typed = append(typed, w)
	}
	asked := canon.SearchQuery{Q: strings.Join(typed, " "), Mode: modes[r.IntN(len(modes))], Language: "en"}
	q := Query{Terms: words.Terms(asked), Name: r.IntN(3) == 0, Text: r.IntN(3) == 0, Fields: r.IntN(3) == 0,
		Level: 1 + r.IntN(3), Offset: r.IntN(4), Limit: r.IntN(9)}
	if r.IntN(3) == 0 {
		q.Marks = [][]string{{"type:npc", "type:place"}}
	}
	if r.IntN(4) == 0 {
		q.Marks = append(q.Marks, []string{"tag:old"})
	}
	if r.IntN(4) == 0 {
		q.Among = []ID{}
		for n := range uint64(90) {
			if r.IntN(3) == 0 {
				q.Among = append(q.Among, randomDoc(r, n).ID)
			}
		}
	}
	if r.IntN(4) == 0 {
		q.Keep = func(row []byte) bool { return row[len(row)-1] != '2' }
	}
	if r.IntN(4) == 0 {
		q.Compare = func(a, b []byte) int { return bytes.Compare(b, a) }
	}
	return q, fmt.Sprintf("%q %s name %t text %t fields %t level %d", asked.Q, asked.Mode, q.Name, q.Text, q.Fields,
		q.Level)
}

// TestFindMatchesScan changes documents at random and searches. Hits, order, scores and total must
// be those of a scan of all living documents, however the index came about.
func TestFindMatchesScan(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		x, living, dir := New(), map[ID]Doc{}, t.TempDir()
		for round := range 40 {
			var docs []Doc
			var gone []ID
			for range r.IntN(12) {
				docs = append(docs, randomDoc(r, r.Uint64N(90)))
			}
			for range r.IntN(4) {
				d := randomDoc(r, r.Uint64N(90))
				gone = append(gone, d.ID)
				delete(living, d.ID)
			}
			for _, d := range docs {
				living[d.ID] = d
			}
			asked, shown := randomQuery(r)
			if err := x.With(docs, gone, func(y *Index) error {
				got, err := y.Find(t.Context(), asked)
				if want := scan(slices.Collect(maps.Values(living)), asked); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("seed %d, round %d, ahead of it: %s\ngot  %d %v\nwant %d %v", seed, round, shown, got.Total, got.Hits,
						want.Total, want.Hits)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if err := x.Apply(docs, gone); err != nil {
				t.Fatal(err)
			}
			if r.IntN(5) == 0 {
				x = reopen(t, x, dir, uint64(round))
			}
			x.scratch = scratch{dir: t.TempDir(), from: r.IntN(2000)}
			if r.IntN(6) == 0 {
				if err := x.Scrub(); err != nil {
					t.Fatal(err)
				}
			}
			for range 6 {
				q, shown := randomQuery(r)
				wantScan(t, x, living, q, fmt.Sprintf("seed %d, round %d: %s", seed, round, shown))
				wantMarked(t, x, living, "tag:old", q.Level)
			}
		}
	}
}

// wantMarked compares the rows that Marked returns with a scan of the living documents.
func wantMarked(t *testing.T, x *Index, living map[ID]Doc, mark string, level int) {
	t.Helper()
	var got, want []string
	if err := x.Marked(t.Context(), mark, level, func(row []byte) { got = append(got, string(row)) }); err != nil {
		t.Fatal(err)
	}
	for _, d := range living {
		if d.Level <= level && slices.Contains(d.Marks, mark) {
			want = append(want, string(d.Row))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s to level %d marks %q, want %q", mark, level, got, want)
	}
}

// wantScan compares a result with a scan of the living documents.
func wantScan(t *testing.T, x *Index, living map[ID]Doc, q Query, shown string) {
	t.Helper()
	got, err := x.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if want := scan(slices.Collect(maps.Values(living)), q); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s\ngot  %d %v\nwant %d %v", shown, got.Total, got.Hits, want.Total, want.Hits)
	}
}

// reopen saves an index and loads it again.
func reopen(t *testing.T, x *Index, dir string, seq uint64) *Index {
	t.Helper()
	at := Position{State: State{Tag: "world", Gen: 7}, Seq: seq, Hash: "hash"}
	if err := errors.Join(x.Tidy(t.Context(), 2), x.Freeze().Save(dir, at, ""), x.Clear()); err != nil {
		t.Fatal(err)
	}
	x, got, err := Load(dir)
	if err != nil || got != at {
		t.Fatal(got, err)
	}
	t.Cleanup(func() { _ = x.Clear() })
	return x
}

// TestCanceledSearchClearsItsTallies: the counts of a canceled search do not remain in its tallies.
func TestCanceledSearchClearsItsTallies(t *testing.T) {
	x := New()
	docs := make([]Doc, 100)
	for i := range docs {
		docs[i] = Doc{ID: ID{byte(i)}, Level: 1, Text: "lantern lanterns"}
	}
	if err := x.Apply(docs, nil); err != nil {
		t.Fatal(err)
	}
	p := x.levels[1].parts[0]
	f := searcher{ctx: &endsAfter{Context: t.Context(), asks: 1}, parts: []searchedPart{{part: p}}}
	if _, err := f.sumTerms(p, dictTerms(ofAll, []int{0, 1}), inBoth); err == nil {
		t.Fatal("it was not cut off")
	}
	cut := f.small[0]
	f.releaseTallies()
	if i := slices.IndexFunc(cut.counts[:cap(cut.counts)], func(n uint32) bool { return n > 0 }); i >= 0 {
		t.Fatalf("document %d is still counted", i)
	}
}

// endsAfter is a context that is canceled after a number of calls of Err.
type endsAfter struct {
	context.Context
	asks int
}

func (c *endsAfter) Err() error {
	if c.asks--; c.asks < 0 {
		return context.Canceled
	}
	return nil
}

// TestAlikeMatchesScan compares Alike with counting the marks that each document shares.
func TestAlikeMatchesScan(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x, living := New(), map[ID]Doc{}
	for range 30 {
		d := randomDoc(r, r.Uint64N(25))
		living[d.ID] = d
		if err := x.Apply([]Doc{d}, nil); err != nil {
			t.Fatal(err)
		}
	}
	asked := []string{"type:npc", "type:place", "none", "tag:old"}
	for n := range 9 {
		level, least := 1+n/3, n%3
		var want []Hit
		for _, d := range living {
			n := 0
			for _, m := range d.Marks {
				if slices.Contains(asked, m) {
					n++
				}
			}
			if n >= max(1, least) && d.Level <= level && d.Row[4] != '1' {
				want = append(want, Hit{d.ID, d.Level, float64(n), d.Row})
			}
		}
		slices.SortFunc(want, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), bytes.Compare(a.ID[:], b.ID[:]))
		})
		keep := func(row []byte) bool { return row[4] != '1' }
		got, err := x.Alike(t.Context(), Likes{Marks: asked, MinShared: least, Level: level, Limit: 6, Keep: keep})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want[:min(6, len(want))]) {
			t.Errorf("level %d, at least %d: got %v, %v\nwant %v", level, least, got, err, want)
		}
	}
}

// TestLargeTalliesAreBounded: only a limited number of searches use large tallies at once. The next
// one waits until its context ends. A search that has a set gets all the tallies it needs.
func TestLargeTalliesAreBounded(t *testing.T) {
	var busy []*searcher
	for range cap(tallySets) {
		f := &searcher{ctx: t.Context()}
		for range 2 {
			if _, err := f.borrowTally(largeTally + 1); err != nil {
				t.Fatal(err)
			}
		}
		busy = append(busy, f)
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	late := &searcher{ctx: short}
	if _, err := late.borrowTally(largeTally); err != nil {
		t.Fatal("a small one waits", err)
	}
	if _, err := late.borrowTally(largeTally + 1); !errors.Is(err, context.Canceled) {
		t.Fatal("one too many has a large tally", err)
	}
	late.releaseTallies()
	busy[0].releaseTallies()
	next := &searcher{ctx: t.Context()}
	if _, err := next.borrowTally(largeTally + 1); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(busy[1:], next) {
		f.releaseTallies()
	}
	if n := len(tallySets); n != cap(tallySets) {
		t.Fatal(cap(tallySets)-n, "desks are taken by nobody")
	}
}
