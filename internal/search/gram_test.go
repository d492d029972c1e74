package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPiecesAreFoundByTheirRuns asks a dictionary that knows runs for pieces of its terms,
// with their ends and without, and for others: it finds what going through them finds.
func TestPiecesAreFoundByTheirRuns(t *testing.T) {
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
	for range 40_000 {
		text.WriteString(random() + " ")
	}
	b := newBuilder()
	b.add(&Doc{Level: 1, Text: text.String()})
	d := &b.segment().dicts[ofAll]
	if len(d.grams) == 0 {
		t.Fatalf("%d bytes of terms, and no runs", len(d.wordData))
	}
	found := 0
	for range 3000 {
		piece := string(d.word(r.IntN(d.size()))) + "\n"
		if r.IntN(4) == 0 {
			piece = random()
		}
		from := r.IntN(len(piece))
		piece = piece[from : from+1+r.IntN(len(piece)-from)]
		got, want := d.containing([]byte(piece)), d.scanned([]byte(piece))
		if !slices.Equal(got, want) {
			t.Fatalf("%q lies in %d terms, found in %d", piece, len(want), len(got))
		}
		found += len(got)
	}
	if found == 0 {
		t.Error("no piece was found")
	}
}

// TestLongListsAnswerAsAScan asks for words that so many documents have that their lists
// come in blocks, of which some are passed over, while documents change.
func TestLongListsAnswerAsAScan(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	x, living := New(), map[ID]Doc{}
	for round := range 12 {
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
