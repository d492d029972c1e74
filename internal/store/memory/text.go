package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/stem"
)

// splitTokens splits text as SQLite's FTS5 does with unicode61 and remove_diacritics 2 (for the
// characters of Unicode 6.1): runs of letters, numbers and private-use characters, in lower case,
// without the accents of the letters a to z. A combining accent is dropped and does not split a
// token.
func splitTokens(text string) []string {
	var out []string
	var token strings.Builder
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.L, unicode.N, unicode.Co):
			token.WriteRune(foldRune(r))
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

func foldRune(r rune) rune {
	if r == 'ς' {
		return 'σ'
	}
	if base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r))); base < utf8.RuneSelf {
		r = base
	}
	return unicode.ToLower(r)
}

// hasRow reports whether consecutive tokens of text meet the conditions of row.
func hasRow(text []string, row []func(string) bool) bool {
	for at := 0; at+len(row) <= len(text); at++ {
		if fitsRow(text[at:], row) {
			return true
		}
	}
	return false
}

func fitsRow(text []string, row []func(string) bool) bool {
	for i, fit := range row {
		if !fit(text[i]) {
			return false
		}
	}
	return true
}

func isToken(s string) func(string) bool { return func(t string) bool { return t == s } }
func containsText(s string) func(string) bool {
	return func(t string) bool { return strings.Contains(t, s) }
}
func beginsWith(s string) func(string) bool {
	return func(t string) bool { return strings.HasPrefix(t, s) }
}

// hasStemOf returns a condition that holds for tokens with the same stem as token. They must also
// begin with the stem without its last two letters, but with at least two letters.
func hasStemOf(language, token string) func(string) bool {
	root := stem.Of(language, token)
	letters := []rune(root)
	shared := string(letters[:max(len(letters)-2, min(2, len(letters)))])
	return func(t string) bool { return strings.HasPrefix(t, shared) && stem.Of(language, t) == root }
}

func endsWith(s string) func(string) bool {
	return func(t string) bool { return strings.HasSuffix(t, s) }
}
