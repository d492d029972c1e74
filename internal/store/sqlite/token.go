package sqlite

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// tokens splits text as FTS5 does with unicode61 and remove_diacritics 2: runs of letters,
// numbers and private-use characters, in small letters without the accents of a to z. An
// accent that is a character of its own neither shows nor splits. A token is valid until
// the next.
func tokens(text string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var buf []byte
		for _, r := range text {
			switch {
			case r < utf8.RuneSelf:
				if b := asciiToken[r]; b != 0 {
					buf = append(buf, b)
					continue
				}
			case isTokenRune(r):
				buf = utf8.AppendRune(buf, foldRune(r))
				continue
			case len(buf) > 0 && isAccent(r):
				continue
			}
			if len(buf) > 0 {
				if !yield(buf) {
					return
				}
				buf = buf[:0]
			}
		}
		if len(buf) > 0 {
			yield(buf)
		}
	}
}

// asciiToken is the small form of the ASCII characters that tokens are made of, else 0.
var asciiToken = func() (t [utf8.RuneSelf]byte) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z':
			t[c] = c
		case 'A' <= c && c <= 'Z':
			t[c] = c + 'a' - 'A'
		}
	}
	return t
}()

func isTokenRune(r rune) bool {
	return r != utf8.RuneError && unicode.In(r, unicode.L, unicode.N, unicode.Co)
}

func isAccent(r rune) bool { return 0x300 <= r && r <= 0x36f }

func foldRune(r rune) rune {
	if r == 'ς' {
		return 'σ'
	}
	if r < 0x2000 {
		if base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r))); base < utf8.RuneSelf {
			r = base
		}
	}
	return unicode.ToLower(r)
}

func tokenList(text string) (list []string) {
	for t := range tokens(plain(text)) {
		list = append(list, string(t))
	}
	return list
}

// quote writes text as one FTS5 string, in which nothing has a meaning.
func quote(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, "\x00", " "), `"`, `""`) + `"`
}
