package search

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/cputest"
	"loregate/internal/store/words"
)

// library returns an index of documents with random words, and a function that draws such a word.
// Word frequencies follow a Zipf distribution, as in natural text.
func library(b *testing.B, docs int) (*Index, func() string) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 60_000)
	syllables := strings.Fields("ba co du fe gi ha jo ku le mi no pu ra se ti vo wa xe yo zu an er in or us")
	word := func() string {
		n := zipf.Uint64()
		w := ""
		for n += 26; n > 0; n /= uint64(len(syllables)) {
			w += syllables[n%uint64(len(syllables))]
		}
		return w
	}
	x := New()
	var list []Doc
	for n := range docs {
		d := Doc{Level: 1 + n%20/19, Name: word() + " " + word() + " " + strconv.Itoa(n), Row: fmt.Appendf(nil, "card %d", n)}
		binary.BigEndian.PutUint64(d.ID[8:], uint64(n))
		var text strings.Builder
		for range 150 {
			text.WriteString(word() + " ")
		}
		d.Text = text.String()
		if list = append(list, d); len(list) == 5000 || n == docs-1 {
			if err := x.Apply(list, nil); err != nil {
				b.Fatal(err)
			}
			list = nil
		}
	}
	if err := x.Tidy(b.Context(), 1); err != nil {
		b.Fatal(err)
	}
	return x, word
}

func BenchmarkFind(b *testing.B) {
	docs := 100_000
	if n, err := strconv.Atoi(os.Getenv("BENCH_CARDS")); err == nil {
		docs = n
	}
	x, word := library(b, docs)
	for _, c := range []struct {
		name  string
		asked func() canon.SearchQuery
	}{
		{"one word", func() canon.SearchQuery { return canon.SearchQuery{Q: word(), Mode: canon.MatchWord} }},
		{"two words", func() canon.SearchQuery { return canon.SearchQuery{Q: word() + " " + word(), Mode: canon.MatchWord} }},
		{"a word in any form", func() canon.SearchQuery {
			return canon.SearchQuery{Q: word(), Mode: canon.MatchStem, Language: "en"}
		}},
		{"two words in any form", func() canon.SearchQuery {
			return canon.SearchQuery{Q: word() + " " + word(), Mode: canon.MatchStem, Language: "en"}
		}},
		{"substring", func() canon.SearchQuery { return canon.SearchQuery{Q: word()[1:], Mode: canon.MatchSubstring} }},
		{"two substrings", func() canon.SearchQuery {
			return canon.SearchQuery{Q: word()[1:] + " " + word()[1:], Mode: canon.MatchSubstring}
		}},
		{"phrase", func() canon.SearchQuery { return canon.SearchQuery{Q: word() + " " + word(), Mode: canon.MatchPhrase} }},
		{"part of a name", func() canon.SearchQuery {
			return canon.SearchQuery{Q: word()[1:], InName: true, Mode: canon.MatchSubstring}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			found, began := 0, cputest.Used()
			for b.Loop() {
				asked := c.asked()
				r, err := x.Find(b.Context(), Query{Terms: words.Terms(asked), Name: asked.InName, Text: false, Level: 3,
					Limit: 20})
				if err != nil {
					b.Fatal(err)
				}
				found += r.Total
			}
			b.ReportMetric(float64(found)/float64(b.N), "hits/op")
			b.ReportMetric(float64((cputest.Used()-began).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// BenchmarkApply replaces one document per iteration.
func BenchmarkApply(b *testing.B) {
	x, _ := library(b, 10_000)
	r := rand.New(rand.NewPCG(3, 4))
	b.ReportAllocs()
	for b.Loop() {
		d := randomDoc(r, r.Uint64N(10_000))
		if err := x.Apply([]Doc{d}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
