package sqlite

import (
	"iter"
	"strings"
	"unicode/utf8"

	"loregate/internal/store/words"
)

func tokens(text string) iter.Seq[[]byte] { return words.Tokens(text) }

func tokenList(text string) []string { return words.List(plain(text)) }

// indexable is text as it is given to FTS5. Beyond ASCII its tables are those of Unicode
// 6.1, in which what came later, such as new emoji, is part of words; it is given the
// tokens found here instead, and leaves them as they are.
func indexable(s string) string {
	if isASCII(s) {
		return s
	}
	b := make([]byte, 0, len(s))
	for t := range tokens(s) {
		b = append(append(b, t...), ' ')
	}
	return string(b)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// quote writes text as one FTS5 string, in which nothing has a meaning.
func quote(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, "\x00", " "), `"`, `""`) + `"`
}
