package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/stem"
)

// tokens splits text as SQLite's FTS5 does with unicode61 and remove_diacritics 2 (in the
// characters that Unicode 6.1 had): runs of letters, numbers and private-use characters,
// in lower case, without the accents of the letters a to z. An accent written as a
// character of its own neither shows nor splits.
func tokens(text string) []string {
	var out []string
	var token strings.Builder
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.L, unicode.N, unicode.Co):
			token.WriteRune(folded(r))
		case token.Len() > 0 && isAccent(r):
		case token.Len() > 0:
			out = append(out, token.String())
			token.Reset()
		}
	}
	if token.Len() > 0 {
		out = append(out, token.String())
	}
	return out
}

func isAccent(r rune) bool { return 0x300 <= r && r <= 0x36f }

func folded(r rune) rune {
	if r == 'ς' {
		return 'σ'
	}
	if base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r))); base < utf8.RuneSelf {
		r = base
	}
	return unicode.ToLower(r)
}

// inRow reports whether a row of tokens occurs in text, each fitting the one it meets.
func inRow(text []string, row []func(string) bool) bool {
	for at := 0; at+len(row) <= len(text); at++ {
		if fits(text[at:], row) {
			return true
		}
	}
	return false
}

func fits(text []string, row []func(string) bool) bool {
	for i, fit := range row {
		if !fit(text[i]) {
			return false
		}
	}
	return true
}

func is(s string) func(string) bool { return func(t string) bool { return t == s } }
func contains(s string) func(string) bool {
	return func(t string) bool { return strings.Contains(t, s) }
}
func beginsWith(s string) func(string) bool {
	return func(t string) bool { return strings.HasPrefix(t, s) }
}

// hasStemOf takes tokens with the stem of one that begin with the stem's letters but the last
// two, or with two.
func hasStemOf(language, token string) func(string) bool {
	root := stem.Of(language, token)
	letters := []rune(root)
	shared := string(letters[:max(len(letters)-2, min(2, len(letters)))])
	return func(t string) bool { return strings.HasPrefix(t, shared) && stem.Of(language, t) == root }
}

func endsWith(s string) func(string) bool {
	return func(t string) bool { return strings.HasSuffix(t, s) }
}
