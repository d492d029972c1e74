package search

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"loregate/internal/raceenabled"
)

// TestFrequentTermsMatchScan searches terms that most documents have: in names and in texts, with
// few and with many occurrences, mixed with rare terms and with removed documents.
func TestFrequentTermsMatchScan(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 7))
	x, living := New(), map[ID]Doc{}
	x.scratch = scratch{dir: t.TempDir(), from: r.IntN(2000)}
	var docs []Doc
	for n := range uint64(2 * fanout * blockSize) {
		d := randomDoc(r, n)
		if r.IntN(4) == 0 {
			d.Text += strings.Repeat(" the of", r.IntN(40))
		}
		if r.IntN(2) == 0 {
			d.Marks = []string{"tag:old"}
		}
		if r.IntN(2) == 0 {
			d.Name, d.Text = d.Name+" lantern", "harbour"
		}
		docs, living[d.ID] = append(docs, d), d
	}
	for part := range slices.Chunk(docs, blockSize) { // merged
		if err := x.Apply(part, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Tidy(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	var gone []ID
	for _, id := range slices.SortedFunc(maps.Keys(living), func(a, b ID) int { return bytes.Compare(a[:], b[:]) })[:100] {
		gone = append(gone, id)
		delete(living, id)
	}
	if err := x.Apply(nil, gone); err != nil {
		t.Fatal(err)
	}
	dense := 0
	for _, l := range x.levels {
		for _, p := range l.parts {
			dense += len(p.dicts[ofAll].denseTerms) * len(p.dicts[ofNames].denseTerms) * len(p.dicts[ofMarks].denseTerms)
		}
	}
	if dense == 0 {
		t.Fatal("no term is dense")
	}
	for n := range raceenabled.Share(150, 5) {
		q, shown := randomQuery(r)
		wantScan(t, x, living, q, fmt.Sprintf("question %d: %s", n, shown))
	}
}
