package world

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is how many characters of a text a context gives where no other bound is asked for.
const maxText = 512

// shortenText is a text of at most max characters, and the length of the whole in characters
// where it was cut, else 0. It ends with a whole sentence; where the first is too long,
// with a whole word and "…"; and inside a word where that is all there is.
func shortenText(s string, max int) (string, int) {
	head := clipText(s, max)
	if len(head) == len(s) {
		return s, 0
	}
	whole := utf8.RuneCountInString(s)
	if end := lastSentence(head, s[len(head):]); end > 0 {
		return strings.TrimRightFunc(head[:end], unicode.IsSpace), whole
	}
	room := clipText(s, max-1)
	if end := strings.LastIndexFunc(room+firstRune(s[len(room):]), unicode.IsSpace); end > 0 {
		return strings.TrimRightFunc(room[:min(end, len(room))], unicode.IsSpace) + "…", whole
	}
	return wholeLetters(head, s[len(head):]), whole
}

// lastSentence is where the last sentence of a text ends that goes on with rest: 0 for none.
func lastSentence(text, rest string) (end int) {
	over := false // a sentence has ended, and closing marks may follow
	for i, r := range text {
		switch {
		case over && strings.ContainsRune(`"'”’»)]`, r):
			continue
		case over && unicode.IsSpace(r):
			end = i
		}
		wide := strings.ContainsRune("。！？", r)
		over = wide || strings.ContainsRune(".!?…", r)
		if wide {
			end = i + utf8.RuneLen(r)
		}
		if r == '\n' {
			end = i
		}
	}
	next, _ := utf8.DecodeRuneInString(rest)
	if over && unicode.IsSpace(next) {
		end = len(text)
	}
	return end
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// wholeLetters leaves out the last letter of a text where the marks over it were cut off.
func wholeLetters(text, rest string) string {
	next, _ := utf8.DecodeRuneInString(rest)
	for unicode.Is(unicode.M, next) && text != "" {
		var n int
		next, n = utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}
