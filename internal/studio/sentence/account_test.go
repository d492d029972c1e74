package sentence

import (
	"bufio"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"loregate/internal/meaning"
)

// contentWords returns the words of a text that mean something: not those that only join others.
func contentWords(v *vocabulary, text string) []string {
	joins := map[string]bool{}
	for words, list := range v.senses {
		if hasSense(list, grammar...) {
			for _, w := range strings.FieldsFunc(words, isBreak) {
				joins[w] = true
			}
		}
	}
	for region := range regions {
		joins[region], joins[region+"s"] = true, true
	}
	for _, word := range slices.Concat(qualifiers, quantifiers, empty) {
		joins[word] = true
	}
	return slices.DeleteFunc(strings.FieldsFunc(strings.ToLower(text), isBreak), func(w string) bool {
		_, length := units[w]
		return len(w) < 3 || joins[w] || length || slices.Contains(paces, w) || meaning.IsFunctionWord(w)
	})
}

// isBreak reports whether a sign stands between words.
func isBreak(c rune) bool { return !unicode.IsLetter(c) }

// silentWords returns the words that a reading of the text does not name.
func silentWords(v *vocabulary, text string) (silent []string, err error) {
	r, err := Read(Brief{Words: text})
	if err != nil && !errors.Is(err, ErrNothing) {
		return nil, err
	}
	said := strings.Join(r.Unknown, " ")
	for _, p := range r.Phrases {
		said += " " + p.Words + " " + p.Assumed
	}
	named := strings.FieldsFunc(said, isBreak)
	for _, w := range contentWords(v, text) {
		if !slices.ContainsFunc(named, func(n string) bool { return strings.Contains(n, w) }) {
			silent = append(silent, w)
		}
	}
	return silent, nil
}

// Each content word of any sentence is in the report: built, assumed or not understood. The sentences are those of the
// development half with their words in another order and with nouns of WordNet in place of some.
func TestNoWordIsSilent(t *testing.T) {
	v, err := loadVocabulary()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/nouns.txt")
	if err != nil {
		t.Fatal(err)
	}
	nouns, rnd := strings.Fields(string(text)), rand.New(rand.NewPCG(1, 2))
	tried := 0
	for _, sentence := range developmentTexts(t) {
		words := strings.Fields(sentence)
		for try := range 4 {
			if try > 0 {
				words[rnd.IntN(len(words))] = nouns[rnd.IntN(len(nouns))]
			}
			if try > 1 {
				rnd.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			}
			tried++
			if silent, err := silentWords(v, strings.Join(words, " ")); err != nil || len(silent) > 0 {
				t.Errorf("%q: %v is silent (%v)", strings.Join(words, " "), silent, err)
			}
		}
	}
	t.Logf("%d sentences", tried)
}

// developmentTexts returns the sentences of the development half.
func developmentTexts(t testing.TB) (list []string) {
	for _, file := range []string{"scenes", "scenes-more", "scenes-third", "scenes-fourth"} {
		f, err := os.Open(cases + "development/" + file + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var c labelled
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			list = append(list, c.Text)
		}
	}
	return list
}

// A text that is longer than what is read, and one with more unknown words than are listed, say so.
func TestBoundsAreTold(t *testing.T) {
	for _, row := range []struct{ words, want string }{
		{"a barrel" + strings.Repeat(" and", maxTokens) + " a throne", "the words after the first 4000"},
		{"a barrel" + manyWords(2*maxUnknown), moreUnknown},
	} {
		r, err := Read(Brief{Words: row.words})
		if err != nil || !slices.Contains(r.Unknown, row.want) {
			t.Errorf("%v: %v", err, r.Unknown)
		}
	}
}

// manyWords returns invented words.
func manyWords(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" a zq" + strings.Repeat("x", 1+i/26) + string(rune('a'+i%26)))
	}
	return b.String()
}
