package words

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"loregate/internal/canon"
)

func TestAsk(t *testing.T) {
	for text, want := range map[string][]string{
		"Who is the warden of the lamps?": {"warden", "lamps"},
		"what is it":                      {"what", "is", "it"},
		"it's O’Neil’s burglar's kit":     {"o", "neil", "burglar", "kit"},
		"Océane de BRÉLAUNE, lamp lamp":   {"oceane", "de", "brelaune", "lamp"},
		"東京塔 7":                           {"東京", "京塔", "7"},
		"塔":                               {"塔"},
		" … ":                             nil,
	} {
		if got := Ask(text).Words; !slices.Equal(got, want) {
			t.Errorf("%q asks for %q, want %q", text, got, want)
		}
	}
	a := Ask(`spells of the 9th level "rent quay" "lamp" "open`)
	if want := []string{canon.AttributePair("spells", "9"), canon.AttributePair("level", "9")}; !slices.Equal(a.Pairs, want) {
		t.Errorf("the pairs are %q, want %q", a.Pairs, want)
	}
	if len(a.Phrases) != 1 || !a.Phrases[0].In("The Rent Quay") || a.Phrases[0].In("quay rent") {
		t.Errorf("the phrases are %+v", a.Phrases)
	}
	var long strings.Builder
	for i := range 2 * maxAsked {
		long.WriteString(fmt.Sprint(" word", i))
	}
	if a := Ask(long.String()); len(a.Words) != maxAsked || !a.Cut {
		t.Errorf("of a long query %d words count, cut %v", len(a.Words), a.Cut)
	}
}

func FuzzAsk(f *testing.F) {
	for _, s := range []string{"The Wardens' lamps", "東京塔", "it’s", "\xff\xfe", "ﬁre\u200b", `"a b" "`, "9th 3 level"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := Ask(s)
		for _, w := range slices.Concat(a.Words, a.Pairs) {
			if w == "" || !utf8.ValidString(w) {
				t.Errorf("%q asks for %q", s, w)
			}
			if begin := Beginning("en", w); !strings.HasPrefix(w, begin) {
				t.Errorf("%q does not begin with %q", w, begin)
			}
		}
		if len(a.Words) > maxAsked || len(a.Phrases) > maxPhrases || len(a.Pairs) > 2*maxAsked {
			t.Errorf("%q asks for %+v", s, a)
		}
	})
}
