package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns s in the form for comparisons that ignore case and accents: lower case, no accents,
// compatibility forms (ligatures, full width) decomposed, ß as ss, ø as o, and unseen characters
// dropped. It is idempotent and linear.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	dst := make([]byte, 0, len(s))
	for _, r := range s {
		dst = appendFolded(dst, r)
	}
	return string(dst)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendFolded appends the folded form of one character, which may be empty.
func appendFolded(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		return append(dst, byte(unicode.ToLower(r)))
	}
	if isUnseen(r) {
		return dst
	}
	if unicode.Is(unicode.Hangul, r) {
		return utf8.AppendRune(dst, r)
	}
	for _, d := range norm.NFKD.String(string(r)) {
		if isAccent(d) || isUnseen(d) {
			continue
		}
		dst = appendLetter(dst, unicode.ToLower(d))
	}
	return dst
}

// isAccent reports whether r is a mark that folding drops. Marks that are vowels of their script
// are kept.
func isAccent(r rune) bool {
	switch {
	case 0x300 <= r && r <= 0x36f, 0x1ab0 <= r && r <= 0x1aff, 0x1dc0 <= r && r <= 0x1dff,
		0x20d0 <= r && r <= 0x20ff, 0xfe20 <= r && r <= 0xfe2f,
		0x591 <= r && r <= 0x5c7, 0x64b <= r && r <= 0x65f, r == 0x670: // Hebrew and Arabic points
		return unicode.IsMark(r)
	}
	return false
}

// appendLetter replaces letters that have no decomposition, such as ø, by plain letters.
func appendLetter(dst []byte, r rune) []byte {
	switch r {
	case 'ß':
		return append(dst, "ss"...)
	case 'æ':
		return append(dst, "ae"...)
	case 'œ':
		return append(dst, "oe"...)
	case 'þ':
		return append(dst, "th"...)
	case 'ø':
		r = 'o'
	case 'ł':
		r = 'l'
	case 'đ', 'ð':
		r = 'd'
	case 'ħ':
		r = 'h'
	case 'ı':
		r = 'i'
	case 'ς':
		r = 'σ'
	}
	return utf8.AppendRune(dst, r)
}

// foldedText is a folded text with the offsets of its source.
type foldedText struct {
	text    string
	offsets []int32 // source offset of the character of each byte; nil: the offsets are equal
	source  string
}

func foldText(s string, o FindOptions) foldedText {
	f := foldedText{text: s, source: s}
	switch {
	case o.CaseSensitive:
		return f
	case isASCII(s):
		f.text = strings.ToLower(s)
		return f
	}
	dst := make([]byte, 0, len(s))
	f.offsets = make([]int32, 0, len(s))
	for i, r := range s {
		if o.FoldAccents {
			dst = appendFolded(dst, r)
		} else {
			dst = utf8.AppendRune(dst, unicode.ToLower(unicode.ToUpper(r)))
		}
		for len(f.offsets) < len(dst) {
			f.offsets = append(f.offsets, int32(i))
		}
	}
	f.text = string(dst)
	return f
}

// toMatch maps a range of the folded text to the source. It widens the range to whole characters,
// including the marks that belong to the last one.
func (f foldedText) toMatch(start, end int) Match {
	if f.offsets == nil {
		return Match{start, end}
	}
	m := Match{Start: int(f.offsets[start]), End: len(f.source)}
	if end == len(f.text) {
		return m
	}
	last := int(f.offsets[end-1])
	if m.End = int(f.offsets[end]); m.End == last {
		_, size := utf8.DecodeRuneInString(f.source[last:])
		m.End = last + size
	}
	return m
}
