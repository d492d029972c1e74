package words

import (
	"iter"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Tokens splits text as FTS5 would with unicode61, remove_diacritics 2 and current Unicode. Tokens
// are runs of letters, numbers and private-use characters, in lower case, with accents removed from
// the letters a to z. A combining accent is dropped and does not split a token. A token is valid
// until the next one.
func Tokens(text string) iter.Seq[[]byte] {
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

// asciiToken maps each ASCII character that tokens consist of to its lower case, and others to 0.
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

// isTokenRune reports whether tokens consist of r. It follows current Unicode except for a few
// vowel signs that FTS5 treats as marks.
func isTokenRune(r rune) bool {
	switch {
	case r == utf8.RuneError, 0x19b0 <= r && r <= 0x19c0, r == 0x19c8, r == 0x19c9, r == 0x1cf2, r == 0x1cf3:
		return false
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.Co)
}

func isAccent(r rune) bool { return 0x300 <= r && r <= 0x36f }

func foldRune(r rune) rune {
	if f, ok := foldedLetters[r]; ok {
		return f
	}
	if r < 0x2000 {
		if base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r))); base < utf8.RuneSelf {
			r = base
		}
	}
	return unicode.ToLower(r)
}

// foldedLetters has the letters that FTS5 folds although they are lower case in Unicode.
var foldedLetters = map[rune]rune{
	'ς': 'σ', 'µ': 'μ', 'ſ': 's', 'ϐ': 'β', 'ϑ': 'θ', 'ϕ': 'φ', 'ϖ': 'π', 'ϰ': 'κ', 'ϱ': 'ρ', 'ϵ': 'ε', 'ẛ': 's',
	'\u1fbe': 'ι',
}

// List returns all tokens of a text.
func List(text string) (list []string) {
	for t := range Tokens(text) {
		list = append(list, string(t))
	}
	return list
}
