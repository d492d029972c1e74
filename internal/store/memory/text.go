package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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
func endsWith(s string) func(string) bool {
	return func(t string) bool { return strings.HasSuffix(t, s) }
}
