package world

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/markup"
)

// MaxText bounds the characters of a text in a context, unless the caller asks for another bound.
const MaxText = 512

// CutText returns a text of at most max characters and, if it was cut, the length of the
// original in characters, else 0. The result ends with a whole sentence. If the first sentence is
// too long, it ends with a whole word and "…". If the first word is too long too, it ends inside
// that word.
func CutText(s string, max int) (string, int) {
	head := markup.Clip(s, max)
	if len(head) == len(s) {
		return s, 0
	}
	whole := utf8.RuneCountInString(s)
	if end := lastSentence(head, s[len(head):]); end > 0 {
		return strings.TrimRightFunc(head[:end], unicode.IsSpace), whole
	}
	room := markup.Clip(s, max-1)
	if end := strings.LastIndexFunc(room+firstRune(s[len(room):]), unicode.IsSpace); end > 0 {
		return strings.TrimRightFunc(room[:min(end, len(room))], unicode.IsSpace) + "…", whole
	}
	return wholeLetters(head, s[len(head):]), whole
}

// lastSentence returns the end of the last whole sentence of a text that continues with rest, or 0
// if there is none.
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

// wholeLetters removes the last letter of a text if its combining marks were cut off.
func wholeLetters(text, rest string) string {
	next, _ := utf8.DecodeRuneInString(rest)
	for unicode.Is(unicode.M, next) && text != "" {
		var n int
		next, n = utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

// cutField shortens a field's text. If it does, it notes the full length.
func cutField(noted *map[string]int, field, text string, max int) string {
	short, whole := CutText(text, max)
	if whole > 0 {
		if *noted == nil {
			*noted = map[string]int{}
		}
		(*noted)[field] = whole
	}
	return short
}

// cutList cuts a list to maxListed entries, and notes its full length if it was longer.
func cutList[T any](noted *map[string]int, name string, list *[]T) {
	if n := len(*list); n > maxListed {
		if *noted == nil {
			*noted = map[string]int{}
		}
		(*noted)[name] = n
		*list = (*list)[:maxListed]
	}
}
