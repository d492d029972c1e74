package secrecy

import (
	"slices"
	"strings"

	"loregate/internal/markup"
)

// comments are the signs around comments.
var comments = [][2]string{{"%%", "%%"}, {"<!--", "-->"}, {"[//]: # (", ")"}, {`[//]: # "`, `"`}, {"[//]: # '", "'"}}

// pairs are the signs around comments and spoilers.
var pairs = append(slices.Clone(comments), [2]string{">!", "!<"})

// Peel returns the range of a hidden part that is left without its outermost mark: the text of a comment, an
// element, a field or a pair of tags, or all lines but the first. It is the whole part if its mark is none of
// these.
func Peel(part string) (from, to int) {
	from = len(part) - len(strings.TrimLeft(part, " \t\n"))
	to = max(from, len(strings.TrimRight(part, " \t\n")))
	text := part[from:to]
	if from, to, ok := peelPair(text, pairs); ok {
		at := strings.Index(part, text)
		return at + from, at + to
	}
	first := strings.IndexByte(text, '\n')
	opens, closes := strings.IndexByte(text, '>'), strings.LastIndex(text, "</")
	switch {
	case strings.HasPrefix(text, "<") && opens > 0:
		if closes > opens {
			to = from + closes
		}
		return from + opens + 1, to
	case strings.HasPrefix(text, "[") && strings.Contains(text, "[/") && strings.IndexByte(text, ']') > 0:
		return from + strings.IndexByte(text, ']') + 1, max(from+strings.IndexByte(text, ']')+1, from+strings.LastIndex(text, "[/"))
	case first >= 0:
		return from + first + 1, to
	}
	for _, sign := range []string{"::", ":"} {
		if i := strings.Index(text, sign); i >= 0 {
			return from + i + len(sign), to
		}
	}
	return 0, len(part)
}

// peelPair returns the range of a text between one of the pairs of signs.
func peelPair(text string, pairs [][2]string) (from, to int, ok bool) {
	for _, c := range pairs {
		if inner, found := strings.CutPrefix(text, c[0]); found && strings.HasSuffix(inner, c[1]) {
			return len(c[0]), len(text) - len(c[1]), true
		}
	}
	return 0, len(text), false
}

// Signs are the signs of a comment before and after its text; empty for parts with other marks, which everybody may
// read.
type Signs [2]string

// Unwrap returns a part as those read it to whom it is open: without the signs of a comment, which pages do not show.
// Wrap puts them back.
func Unwrap(part string) (text string, signs Signs) {
	from, to := trimmed(part, markup.Span{From: 0, To: len(part)})
	a, b, ok := peelPair(part[from:to], comments)
	if !ok {
		return part, Signs{}
	}
	inner := markup.Span{From: from + a, To: from + b}
	inner.From, inner.To = trimmed(part, inner)
	return part[:from] + part[inner.From:inner.To] + part[to:], Signs{part[from:inner.From], part[inner.To:to]}
}

// Wrap puts the signs around a text, inside the blank around it.
func (s Signs) Wrap(text string) string {
	from, to := trimmed(text, markup.Span{From: 0, To: len(text)})
	if s == (Signs{}) || from == to {
		return text
	}
	return text[:from] + s[0] + text[from:to] + s[1] + text[to:]
}
