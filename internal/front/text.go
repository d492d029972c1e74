package front

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"loregate/internal/markup"
)

// callText returns a call of a tool as a model reads it.
func callText(tool string, a args) string {
	b, err := json.Marshal(a)
	if err != nil {
		return tool // its arguments are texts and numbers
	}
	return tool + " " + string(b)
}

func joinWords(words []string) string { return strings.Join(words, ", ") }

// cutSentence shortens a text to at most n characters, behind a sentence if it has one that ends in
// the second half, else behind a word.
func cutSentence(text string, n int) string {
	part := markup.Clip(text, n)
	if len(part) == len(text) {
		return text
	}
	end := -1
	for _, mark := range []string{". ", "! ", "? ", ".\n", "!\n", "?\n", "。", "！", "？"} {
		if i := strings.LastIndex(part, mark); i >= 0 {
			end = max(end, i+len(strings.TrimRight(mark, " \n")))
		}
	}
	if end < len(part)/2 {
		end = max(strings.LastIndexAny(part, " \n"), len(part)/2)
		for end < len(part) && part[end]&0xC0 == 0x80 {
			end++
		}
		return strings.TrimSpace(part[:end]) + "…"
	}
	return part[:end] + " …"
}

// cutText returns the beginning of a text of at most n characters, which ends with a sentence if
// there is one in its second half, and its length in characters; 0 if it is the whole text.
func cutText(text string, n int) (part string, end int) {
	if len(markup.Clip(text, n)) == len(text) {
		return text, 0
	}
	part = strings.TrimRight(cutSentence(text, n), "… ")
	return part, utf8.RuneCountInString(part)
}

// cutLines is cutText for a text of lines.
func cutLines(text string, n int) (part string, end int) {
	part = markup.Clip(text, n)
	if len(part) == len(text) {
		return text, 0
	}
	if i := strings.LastIndex(part, "\n"); i > len(part)/2 {
		part = part[:i+1]
	}
	return part, utf8.RuneCountInString(part)
}
