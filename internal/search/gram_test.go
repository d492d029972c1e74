package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"loregate/internal/raceenabled"
)

// TestGramsMatchScan looks up pieces of terms, with and without the end of the term, and random
// texts in a dictionary with grams. The result must equal that of a scan.
func TestGramsMatchScan(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	letters := []rune("abcdéß黒港")
	random := func() string {
		word := make([]rune, 1+r.IntN(8))
		for i := range word {
			word[i] = letters[r.IntN(len(letters))]
		}
		return string(word)
	}
	var text strings.Builder
	for range raceenabled.Share(40_000, 4) {
		text.WriteString(random() + " ")
	}
	b := newBuilder()
	b.add(&Doc{Level: 1, Text: text.String()})
	d := &b.buildSegment().dicts[ofAll]
	if len(d.grams) == 0 {
		t.Fatalf("%d bytes of terms, and no runs", len(d.wordData))
	}
	found := 0
	for range raceenabled.Share(3000, 20) {
		piece := string(d.termText(r.IntN(d.size()))) + "\n"
		if r.IntN(4) == 0 {
			piece = random()
		}
		from := r.IntN(len(piece))
		piece = piece[from : from+1+r.IntN(len(piece)-from)]
		got, want := d.termsContaining([]byte(piece)), d.scanTerms([]byte(piece))
		if !slices.Equal(got, want) {
			t.Fatalf("%q lies in %d terms, found in %d", piece, len(want), len(got))
		}
		found += len(got)
	}
	if found == 0 {
		t.Error("no piece was found")
	}
}

// TestLongListsMatchScan searches for words of so many documents that their posting lists have
// several blocks, some of which are skipped, while documents change.
func TestLongListsMatchScan(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	x, living := New(), map[ID]Doc{}
	for round := range raceenabled.Share(12, 6) {
		var docs []Doc
		for range 400 {
			d := randomDoc(r, r.Uint64N(1500))
			d.Text += strings.Repeat(" filler", r.IntN(30))
			docs = append(docs, d)
			living[d.ID] = d
		}
		if err := x.Apply(docs, nil); err != nil {
			t.Fatal(err)
		}
		if round%4 == 3 {
			if err := x.Tidy(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
		}
		for range 30 {
			q, shown := randomQuery(r)
			if r.IntN(2) == 0 {
				q.Terms = q.Terms[:min(1, len(q.Terms))]
				q.Marks, q.Keep, q.Compare = nil, nil, nil
			}
			wantScan(t, x, living, q, fmt.Sprintf("round %d: %s", round, shown))
		}
	}
}
