package words

import (
	"strings"
	"unicode/utf8"

	"loregate/internal/stem"
)

// Shared is what all tokens begin with that fit a piece of a stem: the stem without its
// last two letters, which endings change, but two letters at least. A form that does not
// begin so ("dying" of "die" with two letters does) is not taken for one of the word.
func (p Piece) Shared() string {
	at, letters := len(p.Text), utf8.RuneCountInString(p.Text)
	for range min(2, max(0, letters-2)) {
		_, size := utf8.DecodeLastRuneInString(p.Text[:at])
		at -= size
	}
	return p.Text[:at]
}

// ofStem asks for each token of a text in any of its forms.
func ofStem(language, text string) (out []Term) {
	for word := range strings.FieldsSeq(text) {
		for _, token := range List(word) {
			out = append(out, Term{[]Piece{{How: Stem, Text: stem.Of(language, token), Language: language}}, strings.TrimRight(word, "*")})
		}
	}
	return out
}
