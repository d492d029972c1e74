package lore

import (
	"slices"
	"testing"
	"unicode/utf8"
)

func TestLoreTerms(t *testing.T) {
	for text, want := range map[string][]string{
		"The Wardens' lamps":          {"the", "warden", "lamp"},
		"Thrupp's bakeries":           {"thrupp", "bakeri"},
		"baked, baking; bakes bake":   {"bake", "bake", "bake", "bake"},
		"stopped glass bus this":      {"stop", "glass", "bus", "this"},
		"Océane de BRÉLAUNE":          {"ocean", "de", "brelaun"},
		"sing ring red bed":           {"sing", "ring", "red", "bed"},
		"東京塔 7":                       {"東京", "京塔", "7"},
		"塔":                           {"塔"},
		"ninepenny-house":             {"ninepenni", "hous"},
		"  … ":                        nil,
		"‘s":                          {"s"},
		"it's O’Neil’s":               {"it", "o", "neil"},
		"Приливы":                     {"приливы"},
		"tongues foxes wishes losses": {"tongu", "fox", "wish", "loss"},
	} {
		if got := termsOf("en", text); !slices.Equal(got, want) {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

func TestStopWordsCountOnlyAlone(t *testing.T) {
	if got := queryTerms("en", "who is the warden of the lamps"); !slices.Equal(got, []string{"warden", "lamp"}) {
		t.Errorf("asked %q", got)
	}
	if got := queryTerms("en", "what is it"); len(got) != 3 {
		t.Errorf("asked %q", got)
	}
}

func TestFusion(t *testing.T) {
	a := []ranked{{1, 9}, {2, 8}, {3, 7}}
	b := []ranked{{2, 0.5}, {1, 0.4}}
	got := fuseRankings(a, b, nil)
	if len(got) != 3 || got[0].doc != 1 || got[1].doc != 2 || got[0].score != got[1].score ||
		got[2].score >= got[1].score {
		t.Errorf("fused: %v", got)
	}
	if one := fuseRankings(a); one[0].score != 1 {
		t.Errorf("the first of one list scores %v", one[0].score)
	}
	if got := fuseRankings(); len(got) != 0 {
		t.Errorf("nothing fused: %v", got)
	}
}

func FuzzLoreTerms(f *testing.F) {
	for _, s := range []string{"The Wardens' lamps", "東京塔", "it’s", "\xff\xfe", "ﬁre\u200b", "ing ed s es ies"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, term := range termsOf("en", s) {
			if term == "" || !utf8.ValidString(term) {
				t.Errorf("%q has the term %q", s, term)
			}
		}
		if n := len(queryTerms("en", s)); n > maxTerms {
			t.Errorf("%d terms", n)
		}
	})
}
