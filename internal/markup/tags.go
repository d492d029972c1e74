package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// InlineTags returns the tags in a text that contains no code, without '#'. A tag begins at the start of
// the text, or after a blank or one of "(,;>*_", with a letter.
func InlineTags(text string) (tags []string) {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '#')
		if i < 0 {
			return tags
		}
		begins := at+i == 0 || i > 0 && strings.IndexByte(" \t\n\f\r(,;>*_", text[at+i-1]) >= 0
		if at += i + 1; !begins {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(text[at:]); !unicode.IsLetter(r) {
			continue
		}
		end := strings.IndexFunc(text[at:], func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && r != '/' && r != '-'
		})
		if end < 0 {
			end = len(text) - at
		}
		tags = append(tags, text[at:at+end])
		at += end
	}
}
