package words

import (
	"strings"
	"unicode/utf8"

	"loregate/internal/stem"
)

// Shared returns the prefix that a token must have to fit a piece of a stem. It is the stem without
// its last two letters, which endings change, but at least two letters long; for a Form, without its
// last letter. Forms that begin
// otherwise are not found: "dying" does not begin with "di", the prefix for "die".
func (p Piece) Shared() string {
	at, letters := len(p.Text), utf8.RuneCountInString(p.Text)
	most := 2
	if p.How == Form {
		most = 1
	}
	for range min(most, max(0, letters-2)) {
		_, size := utf8.DecodeLastRuneInString(p.Text[:at])
		at -= size
	}
	return p.Text[:at]
}

// ofStem returns a term for each token of a text, which any form of the token fits.
func ofStem(language, text string) (out []Term) {
	for word := range strings.FieldsSeq(text) {
		for _, token := range List(word) {
			out = append(out, Term{[]Piece{{How: Stem, Text: stem.Of(language, token), Language: language}},
				strings.TrimRight(word, "*")})
		}
	}
	return out
}
