package secrecy

import (
	"iter"
	"strings"

	"loregate/internal/markup"
)

// leastSentence is the number of words from which on a hidden sentence is known again in another text.
const leastSentence = 5

// KnownSentences returns the sentences of a text that are long enough to be known again in another text, with the words
// of each.
func KnownSentences(text string) iter.Seq2[markup.Span, string] {
	return func(yield func(markup.Span, string) bool) {
		for _, s := range Sentences(text) {
			words := WordsOf(text[s.From:s.To])
			if strings.Count(words, " ") >= leastSentence-1 && !yield(s, words) {
				return
			}
		}
	}
}

// Sentences returns the ranges of the sentences of a text, which end with a sign, a colon before white space or a line.
func Sentences(text string) (all []markup.Span) {
	from := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && !strings.ContainsRune(".!?\n", rune(text[i])) && (text[i] != ':' || i+1 == len(text) ||
			!strings.ContainsRune(" \n", rune(text[i+1]))) {
			continue
		}
		to := min(i+1, len(text))
		if i < len(text) && text[i] == '\n' {
			to = i
		}
		at := from + len(text[from:to]) - len(strings.TrimLeft(text[from:to], " \t\n"))
		if at < to {
			all = append(all, markup.Span{From: at, To: to})
		}
		from = min(i+1, len(text))
	}
	return all
}

// WordsOf returns the words of a text with blanks between them, so that texts in different forms can be compared.
func WordsOf(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !isWordSign(r) }), " ")
}
