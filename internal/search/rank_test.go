package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"loregate/internal/cputest"
	"loregate/internal/store/words"
)

func rankWords(list ...string) (out []RankWord) {
	for _, w := range list {
		out = append(out, RankWord{Text: w, Mendable: true, Language: "en",
			Variants: []Variant{{Piece: words.FormPiece("en", w), Weight: 1}}})
	}
	return out
}

// TestRankingDependsOnLivingVisibleDocumentsAlone ranks the same documents in one segment, in many,
// and among removed and hidden ones.
func TestRankingDependsOnLivingVisibleDocumentsAlone(t *testing.T) {
	doc := func(n, level int, name, text string) Doc {
		return Doc{ID: ID{byte(n)}, Level: level, Name: name, Text: text, Attributes: "kind " + name, Row: fmt.Append(nil, name)}
	}
	docs := []Doc{doc(1, 1, "Lamp", "It burns at night."), doc(2, 1, "Ferry", "The ferry has a lamp, lamps and lamps."),
		doc(3, 1, "Night watch", "They walk by night."), doc(4, 1, "Oil", "For lamps")}
	one, many := New(), New()
	if err := one.Apply(docs, nil); err != nil {
		t.Fatal(err)
	}
	for i := range docs {
		extra := doc(10+i, 1, "Lamp gone", "lamp lamps lampion")
		hidden := doc(20+i, 2, "Lamp secret", "lamp night nightly nigth")
		if err := errors.Join(many.Apply([]Doc{docs[i], extra, hidden}, nil), many.Apply(nil, []ID{extra.ID})); err != nil {
			t.Fatal(err)
		}
	}
	q := RankQuery{Words: rankWords("lamp", "nigth", "lampio"), Level: 1, Limit: 10, Also: []ID{{3}, {20}, {10}}}
	want, err := one.Rank(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := many.Rank(t.Context(), q)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("many segments give\n%v (%v), one\n%v", got, err, want)
	}
	if want.Total != 4 || len(want.Also) != 1 || !slices.Equal(want.Mended["nigth"], []string{"night"}) ||
		want.Mended["lampio"] != nil {
		t.Errorf("ranking %v", want)
	}
}

func TestOtherWordsAreRankedInsteadOfOneThatNoDocumentHas(t *testing.T) {
	x := New()
	if err := x.Apply([]Doc{{ID: ID{1}, Level: 1, Text: "a ship below the water"}, {ID: ID{2}, Level: 1, Text: "a ship"},
		{ID: ID{3}, Level: 2, Text: "a submarine"}}, nil); err != nil {
		t.Fatal(err)
	}
	for level, want := range map[int][]ID{1: {{1}, {2}}, 2: {{3}}} {
		list := rankWords("submarine")
		list[0].Instead = func() []RankWord { return rankWords("ship", "water", "missing") }
		got, err := x.Rank(t.Context(), RankQuery{Words: list, Level: level, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var ids []ID
		for _, h := range got.Hits {
			ids = append(ids, h.ID)
		}
		if !slices.Equal(ids, want) || got.Mended != nil {
			t.Errorf("level %d finds %v and mends %v, want %v", level, ids, got.Mended, want)
		}
	}
}

func TestOnlyTheFirstWordsOfAQueryAreRanked(t *testing.T) {
	x := New()
	if err := x.Apply([]Doc{{ID: ID{1}, Level: 1, Text: "first last"}}, nil); err != nil {
		t.Fatal(err)
	}
	list := rankWords("first")
	for range maxRankWords {
		list = append(list, rankWords("last")...)
	}
	all, err := x.Rank(t.Context(), RankQuery{Words: list, Level: 1, Limit: 1})
	cut, err2 := x.Rank(t.Context(), RankQuery{Words: list[:maxRankWords], Level: 1, Limit: 1})
	if err != nil || err2 != nil || all.Hits[0].Score != cut.Hits[0].Score {
		t.Errorf("%d words score %v, the first %d %v", len(list), all.Hits, maxRankWords, cut.Hits)
	}
}

func TestARankingEndsWithItsContext(t *testing.T) {
	x := New()
	if err := x.Apply([]Doc{{ID: ID{1}, Level: 1, Text: "word"}}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Rank(ctx, RankQuery{Words: rankWords("word"), Level: 1, Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled ranking returned %v", err)
	}
}

func BenchmarkRank(b *testing.B) {
	x, word := library(b, 100_000)
	for _, n := range []int{1, 2, 5, 12} {
		b.Run(fmt.Sprintf("%d words", n), func(b *testing.B) {
			began := cputest.Used()
			for b.Loop() {
				var list []string
				for range n {
					list = append(list, word())
				}
				if _, err := x.Rank(b.Context(), RankQuery{Words: rankWords(list...), Level: 3, Limit: 200}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cputest.Used()-began).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
	b.Run("a misspelt word", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Rank(b.Context(), RankQuery{Words: rankWords(word() + "qx"), Level: 3, Limit: 200}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
