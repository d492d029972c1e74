package meaning

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentences returns the sentences of a text in order, each with its marks. A sentence ends at a line's end, and at a
// full stop, question mark or exclamation mark before white space, unless the stop belongs to an abbreviation.
func Sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from, word := 0, 0
		for at, r := range text {
			next := at + utf8.RuneLen(r)
			switch {
			case at < from: // a mark among those that end the last sentence
				continue
			case r == '\n':
			case unicode.IsSpace(r):
				word = next
				continue
			case !strings.ContainsRune(".!?…", r) || !endsAfter(text[word:at], r, text[next:]):
				continue
			default:
				next += len(text[next:]) - len(strings.TrimLeft(text[next:], closers))
			}
			if s := strings.TrimSpace(text[from:next]); s != "" && !yield(s) {
				return
			}
			from, word = next, next
		}
		if s := strings.TrimSpace(text[from:]); s != "" {
			yield(s)
		}
	}
}

// closers are marks that may follow the end of a sentence and belong to it.
const closers = `.!?…"'”’)]»`

// endsAfter reports whether a mark after a word ends a sentence.
func endsAfter(word string, mark rune, rest string) bool {
	rest = strings.TrimLeft(rest, closers)
	if r, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsSpace(r) {
		return false
	}
	if mark != '.' {
		return true
	}
	word = strings.ToLower(strings.TrimLeft(word, `"'“‘(`))
	return utf8.RuneCountInString(word) != 1 && !abbreviations[word] || strings.TrimSpace(rest) == ""
}

var abbreviations = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("mr mrs ms dr st sr jr prof rev hon gen col capt lt sgt mt no vs etc esq viz cf ca") {
		m[w] = true
	}
	return m
}()
