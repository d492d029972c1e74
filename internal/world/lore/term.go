package lore

import (
	"strings"
	"unicode"

	"loregate/internal/markup"
	"loregate/internal/stem"
)

// termsOf returns the search terms of a text: its words with case and accents folded and endings
// removed, so that "lamps" finds "lamp". In scripts without spaces, each pair of neighbouring
// characters is a term.
func termsOf(language, text string) []string {
	words := foldedWords(text)
	for i, w := range words {
		words[i] = stem.Of(language, w)
	}
	return words
}

// foldedWords returns the runs of letters and digits of a text, folded. It drops the s of a
// possessive.
func foldedWords(text string) []string {
	var words []string
	var run []rune
	dense := false // the run is of a script without spaces
	possessive := false
	flush := func() {
		switch {
		case len(run) == 0 || possessive && len(run) == 1 && run[0] == 's':
		case dense:
			words = append(words, runePairs(run)...)
		default:
			words = append(words, string(run))
		}
		run, possessive = run[:0], false
	}
	for _, r := range markup.Fold(text) {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r):
			flush()
			possessive = r == '\'' || r == '’'
		default:
			if d := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
				unicode.Myanmar); d != dense {
				flush()
				dense = d
			}
			run = append(run, r)
		}
	}
	flush()
	return words
}

func runePairs(run []rune) []string {
	if len(run) == 1 {
		return []string{string(run)}
	}
	out := make([]string, 0, len(run)-1)
	for i := 0; i+2 <= len(run); i++ {
		out = append(out, string(run[i:i+2]))
	}
	return out
}

// stopWords are English words that carry no meaning in a query.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("a an and are as at be been but by did do does for from had has have he her him his how i if in into is it its " +
		"me my no not of on or our she so some such that the their them then there they this those to too was we were what " +
		"when where which " +
		"who whom whose why will with you your about all any being doing having") {
		m[w] = true
	}
	return m
}()

// queryTerms returns the terms of a query, each once. Stop words count only if the query has no
// other words.
func queryTerms(language, query string) []string {
	var full, empty []string
	seen := map[string]bool{}
	for _, w := range foldedWords(query) {
		t := stem.Of(language, w)
		if seen[t] || len(seen) >= maxTerms {
			continue
		}
		seen[t] = true
		if stopWords[w] {
			empty = append(empty, t)
		} else {
			full = append(full, t)
		}
	}
	if len(full) == 0 {
		return empty
	}
	return full
}

// maxTerms bounds the terms of a query.
const maxTerms = 32

// trigrams returns the runs of three characters of a folded text, each once. A space is added at
// both ends, so that beginnings weigh more.
func trigrams(folded string) []string {
	r := []rune(" " + folded + " ")
	out := make([]string, 0, len(r))
	seen := make(map[string]bool, len(r))
	for i := 0; i+3 <= len(r); i++ {
		if g := string(r[i : i+3]); !seen[g] {
			seen[g] = true
			out = append(out, g)
		}
	}
	return out
}
