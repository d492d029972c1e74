package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/stem"
)

// Asked is a query for relevance, split into its parts.
type Asked struct {
	Words   []string // the tokens that carry meaning, each once
	Phrases []Term   // texts in quotes; a hit must have all
	Pairs   []string // tokens for a number and the word next to it, see canon.AttributePair
	Cut     bool     // there were more words than maxAsked
}

// maxAsked is the maximum number of words of a query for relevance. Each word costs time.
const maxAsked = 32

// Ask splits a query for relevance. Words that carry no meaning, such as "the", count only if the
// query has no others.
func Ask(text string) (a Asked) {
	text = strings.ReplaceAll(text, "’", "'")
	parts := strings.Split(text, `"`)
	for i := 1; i < len(parts)-1; i += 2 { // without a closing quote the rest is no phrase
		if row := exactPieces(List(parts[i])); len(row) > 1 && len(a.Phrases) < maxPhrases {
			a.Phrases = append(a.Phrases, Term{Row: row})
		}
	}
	var full, empty []string
	for field := range strings.FieldsFuncSeq(text, isBetweenWords) {
		word := strings.TrimSuffix(strings.ToLower(strings.Trim(field, "'")), "'s")
		for _, token := range splitDense(List(word)) {
			if stopWords[token] {
				empty = append(empty, token)
			} else {
				full = append(full, token)
			}
		}
	}
	a.Pairs = pairsOf(full)
	if len(full) == 0 {
		full = empty
	}
	for _, token := range full {
		if slices.Contains(a.Words, token) {
			continue
		}
		if a.Cut = len(a.Words) == maxAsked; a.Cut {
			break
		}
		a.Words = append(a.Words, token)
	}
	return a
}

const maxPhrases = 4

func isBetweenWords(r rune) bool { return r != '\'' && !isTokenRune(r) && !isAccent(r) }

// pairsOf returns the tokens that an attribute with a number has, for each number and the words
// next to it.
func pairsOf(tokens []string) (pairs []string) {
	for i, t := range tokens {
		number := strings.TrimRightFunc(t, unicode.IsLetter)
		if suffix := t[len(number):]; number == "" || !isDigits(number) || suffix != "" && !slices.Contains(ordinals, suffix) {
			continue
		}
		if len(pairs) >= maxAsked {
			break
		}
		if i > 0 {
			pairs = append(pairs, canon.AttributePair(tokens[i-1], number))
		}
		if i+1 < len(tokens) {
			pairs = append(pairs, canon.AttributePair(tokens[i+1], number))
		}
	}
	return pairs
}

var ordinals = []string{"st", "nd", "rd", "th"}

func isDigits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// splitDense replaces each token that begins in a script without spaces by its pairs of neighbouring
// characters, since such a token may be a whole sentence.
func splitDense(tokens []string) (out []string) {
	for _, t := range tokens {
		letters := []rune(t)
		if len(letters) < 3 || !isDense(letters[0]) {
			out = append(out, t)
			continue
		}
		for i := range min(len(letters)-1, maxAsked) {
			out = append(out, string(letters[i:i+2]))
		}
	}
	return out
}

// isDense reports whether a character is of a script without spaces.
func isDense(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// FormPiece returns the piece that the forms of a token fit. In a script without spaces, it may be a
// part of one.
func FormPiece(language, token string) Piece {
	if first, _ := utf8.DecodeRuneInString(token); isDense(first) {
		return Piece{How: Inside, Text: token}
	}
	return Piece{How: Form, Text: stem.Of(language, token), Language: language}
}

// Beginning returns the letters that a token and its stem share, to mark the token's forms in a text.
func Beginning(language, token string) string {
	root := stem.Of(language, token)
	for !strings.HasPrefix(token, root) {
		_, size := utf8.DecodeLastRuneInString(root)
		root = root[:len(root)-size]
	}
	return root
}

// stopWords are English words that carry no meaning in a query.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("a an and are as at be been but by can could did do does doing for from had has have having he her him his how i if " +
		"in into is it its me my no not of on one or our she should so some somebody someone such than that the their them then there they " +
		"this those to too was we were what when where which who whom whose why will with would you your yourself about all any being s t") {
		m[w] = true
	}
	return m
}()
