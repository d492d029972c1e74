package secrecy

import (
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// comments are the signs around comments.
var comments = [][2]string{{"%%", "%%"}, {"<!--", "-->"}, {"[//]: # (", ")"}, {`[//]: # "`, `"`}, {"[//]: # '", "'"}}

// pairs are the signs around comments and spoilers.
var pairs = append(slices.Clone(comments), [2]string{">!", "!<"})

// Peel returns the range of a hidden part that is left without its outermost mark: the text of a comment, an
// element, a field or a pair of tags, or all lines but the first. The signs of quotes and list items before the mark,
// and elements without a mark around it, are left out too. It is the whole part if its mark is none of these.
func Peel(part string) (from, to int) {
	text := carried(part)
	if _, in, ok := findMark(part[text.From:text.To]); ok {
		return text.From + in.From, text.From + in.To
	}
	from, to = trimmed(part, markup.Span{From: 0, To: len(part)})
	text = markup.Span{From: from, To: to}
	first := strings.IndexByte(part[from:to], '\n')
	opens, closes := strings.IndexByte(part[from:to], '>'), strings.LastIndex(part[from:to], "</")
	switch {
	case strings.HasPrefix(part[from:], "<") && opens > 0:
		if end := elementEnd(part[from:to]); end > 0 && from+end < to {
			return from + end, to // a heading or label, and the text after it
		}
		if closes > opens {
			to = from + closes
		}
		return from + opens + 1, to
	case first >= 0:
		return from + first + 1, to
	}
	for _, sign := range []string{"::", ":"} {
		if i := strings.Index(part[text.From:text.To], sign); i >= 0 {
			return text.From + i + len(sign), to
		}
	}
	return 0, len(part)
}

// markKind is a kind of mark that stands around a text.
type markKind int

const (
	commentMark markKind = iota
	pairMark             // signs or tags in brackets
	elementMark
)

// findMark finds the mark at the beginning of a text that goes to its end, and the range of the text within.
func findMark(text string) (kind markKind, in markup.Span, ok bool) {
	if from, to, ok := peelPair(text, comments); ok {
		return commentMark, markup.Span{From: from, To: to}, true
	}
	if from, to, ok := peelPair(text, pairs); ok {
		return pairMark, markup.Span{From: from, To: to}, true
	}
	if t := readTag(text); t.name != "" && !t.cut {
		in = markup.Span{From: t.size, To: max(t.size, len(text)-endTagLength(text, t.name))}
		_, marked := new(judge).markOf(t, text[t.size:])
		return elementMark, in, marked
	}
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "(") {
		return 0, in, false
	}
	if t, isTag := forumTagAt(text, 0); isTag && !t.end && strings.HasSuffix(text, "]") {
		if ends := strings.LastIndex(text, "[/"); ends >= t.to {
			return pairMark, markup.Span{From: t.to, To: ends}, true
		}
	}
	if n, ends, _ := readSecretField(text); n == len(text) && ends {
		return pairMark, markup.Span{From: strings.Index(text, "::") + 2, To: n - 1}, true
	}
	return 0, in, false
}

// endTagLength returns the length of the end tag of an element at the end of a text, or 0.
func endTagLength(text, name string) int {
	at := strings.LastIndex(text, "</")
	if at < 0 || !strings.EqualFold(strings.TrimSpace(strings.TrimSuffix(text[at+2:], ">")), name) {
		return 0
	}
	return len(text) - at
}

// lineSigns matches the signs of quotes, list items and tasks at the beginning of a line.
var lineSigns = lazyregexp.New(`^(?:(?:>[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*)+(?:\[.\][ \t]+)?`)

// maxCarriers is the number of signs and elements around a mark that are looked through.
const maxCarriers = 16

// carried returns the range of a part without the signs of quotes and list items before its mark, and without the
// elements around it that have no mark. Without a mark there, it is the part without the blank around it.
func carried(part string) markup.Span {
	whole := markup.Span{From: 0, To: len(part)}
	whole.From, whole.To = trimmed(part, whole)
	s := whole
	for n := 0; s.From < s.To && n < maxCarriers; n++ {
		text := part[s.From:s.To]
		if _, _, ok := findMark(text); ok {
			return s
		}
		if signs := lineSigns.FindString(text); signs != "" {
			s.From += len(signs)
			continue
		}
		in, ok := withinElement(text)
		if !ok {
			break
		}
		s.From, s.To = trimmed(part, markup.Span{From: s.From + in.From, To: s.From + in.To})
	}
	return whole
}

// withinElement returns the range of a text between the tags of the element that it is.
func withinElement(text string) (in markup.Span, ok bool) {
	t := readTag(text)
	in = markup.Span{From: t.size, To: len(text) - endTagLength(text, t.name)}
	return in, elementEnd(text) == len(text) && in.From <= in.To
}

var someTag = lazyregexp.New(`</?([a-zA-Z][a-zA-Z0-9-]*)[^<>]*>`)

// elementEnd returns the offset after the end tag of the element with which a text begins; 0 if there is none.
func elementEnd(text string) int {
	t := readTag(text)
	if t.name == "" || t.cut {
		return 0
	}
	depth := 0
	for _, m := range someTag.FindAllStringSubmatchIndex(text, -1) {
		if !strings.EqualFold(text[m[2]:m[3]], t.name) {
			continue
		}
		if text[m[0]+1] != '/' {
			depth++
		} else if depth--; depth == 0 {
			return m[1]
		}
	}
	return 0
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

// Signs are the signs of a comment around a text; empty for parts with other marks, which everybody may read.
type Signs struct {
	Begin, End string
	Within     bool // they stand behind the signs of a quote or list item, or in an element
}

// Unwrap returns a part as those read it to whom it is open: without the signs of a comment, which pages do not show.
// Wrap puts them back.
func Unwrap(part string) (text string, signs Signs) {
	s := carried(part)
	kind, in, ok := findMark(part[s.From:s.To])
	if !ok || kind != commentMark {
		return part, Signs{}
	}
	from, to := trimmed(part, markup.Span{From: s.From + in.From, To: s.From + in.To})
	whole := markup.Span{From: 0, To: len(part)}
	whole.From, whole.To = trimmed(part, whole)
	return part[:s.From] + part[from:to] + part[s.To:], Signs{part[s.From:from], part[to:s.To], s != whole}
}

// Wrap puts the signs around a text, inside the blank around it.
func (s Signs) Wrap(text string) string {
	from, to := trimmed(text, markup.Span{From: 0, To: len(text)})
	if s == (Signs{}) || from == to {
		return text
	}
	if s.Within {
		from += len(lineSigns.FindString(text[from:to]))
		for range maxCarriers {
			in, ok := withinElement(text[from:to])
			if !ok {
				break
			}
			from, to = from+in.From, from+in.To
		}
	}
	return text[:from] + s.Begin + text[from:to] + s.End + text[to:]
}
