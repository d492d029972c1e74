package secrecy

import (
	"cmp"
	"html"
	"slices"
	"sort"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// Marks of Markdown in a text of another form hide nothing there, and their author may have thought that they do: they
// are unsure. They are looked for in the text that the author may have typed: in HTML, that of each block, with the signs
// of Markdown for headings, emphasis, lines and tables.

// foreignPlace tells of the text in which a mark of Markdown stands.
var foreignPlace = map[Form]string{HTML: " in HTML", Plain: " in a plain text"}

// addForeign adds the marks of Markdown in a text of another form.
func (u *unsureMarks) addForeign() {
	known := slices.Clone(u.exact)
	for _, spans := range u.doubts {
		known = append(known, spans...)
	}
	known = mergeSpans(known, nil)
	t := typedText(u.text, u.form)
	if !mayBeUnsure(t.words, Markdown) {
		return
	}
	read := readUnsure(t.words, Markdown)
	found := slices.Clone(read.exact)
	for _, m := range read.order {
		found = append(found, read.doubts[m]...)
	}
	for _, at := range read.signs {
		found = append(found, span{at, len(t.words)})
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	done := 0
	for _, s := range found {
		isWhole := s == span{0, len(t.words)}
		parts := t.rangesOf(s)
		if s.from < done || len(parts) == 0 || !isWhole && overlaps(known, parts[0]) {
			continue
		}
		m := Mark{Rule: ruleBlock, What: firstLine(t.words[s.from:s.to]) + foreignPlace[u.form], Doubt: true}
		if _, is := u.doubts[m]; !is && len(u.order) < maxUnsure {
			u.order = append(u.order, m)
		}
		u.doubts[m], u.beyond[m] = append(u.doubts[m], parts[0]), append(u.beyond[m], parts[1:]...)
		if !isWhole {
			done = s.to
		}
	}
}

// overlaps reports whether a range shares a byte with one of a list that is in order.
func overlaps(list []span, s span) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].to > s.from })
	return i < len(list) && list[i].from < s.to
}

// firstLine returns the beginning of the first line of a text that has one.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return markup.Shorten(line, 40)
}

// typed is a text as its author may have typed it.
type typed struct {
	text  string
	words string
	at    []int // the offset in the text for each byte of words, and for its end
	runs  []typedRun
	// The state in a table.
	cells          int
	isFirst, isRow bool
}

// typedRun is the text between two tags that begin or end blocks.
type typedRun struct{ words, text span }

var (
	notWords    = lazyregexp.New(`(?is)<code\b.*?</code\s*>|</?[a-zA-Z!][^<>]*>|&[#\w]{1,20};`)
	emphasisTag = lazyregexp.New(`(?i)^</?(?:b|strong|i|em|u|mark)\b`)
	blockName   = lazyregexp.New(`^<(/?)([a-zA-Z]+[1-6]?)`)
)

// typedText returns the text that the author of a text in a form may have typed. The text of <pre> is code.
func typedText(text string, form Form) (t typed) {
	t.text = text
	var b strings.Builder
	write := func(s string, at, step int) {
		b.WriteString(s)
		for i := range len(s) {
			t.at = append(t.at, at+i*step)
		}
	}
	if form != HTML {
		write(text, 0, 1)
		t.runs = []typedRun{{span{0, len(text)}, span{0, len(text)}}}
		t.words, t.at = text, append(t.at, len(text))
		return t
	}
	from, isCode := 0, false
	for _, next := range append(blockTag.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		if begin := b.Len(); !isCode {
			t.writeRun(text, span{from, next[0]}, write)
			t.runs = append(t.runs, typedRun{span{begin, b.Len()}, span{from, next[0]}})
		}
		if name := blockName.FindStringSubmatch(text[next[0]:next[1]]); name != nil {
			closes, name := name[1] != "", strings.ToLower(name[2])
			if name == "pre" {
				isCode = !closes
			}
			write(t.signOf(name, closes), next[0], 0)
		}
		from = next[1]
	}
	t.words, t.at = b.String(), append(t.at, len(text))
	return t
}

// signOf returns the signs of Markdown for a tag that begins or ends a block.
func (t *typed) signOf(name string, closes bool) string {
	switch name {
	case "table":
		t.isFirst, t.isRow = true, false
	case "tr":
		if t.isRow = !closes; t.isRow {
			t.cells = 0
			return "\n| "
		}
		if t.isFirst {
			t.isFirst = false
			return "\n" + strings.Repeat("|---", max(t.cells, 1)) + "|"
		}
		return ""
	case "td", "th":
		if closes {
			t.cells++
			return " | "
		}
		return ""
	}
	level := headingLevel(name)
	switch {
	case t.isRow:
		return " "
	case name == "br":
		return "\n"
	case level > 0 && !closes:
		return "\n\n" + strings.Repeat("#", level) + " "
	}
	return "\n\n"
}

// writeRun writes the words of a range of HTML without tags, with the signs of Markdown for emphasis.
func (t *typed) writeRun(text string, s span, write func(s string, at, step int)) {
	plain := func(from, to int) {
		words := text[from:to]
		if t.isRow {
			words = strings.ReplaceAll(words, "\n", " ")
		}
		write(words, from, 1)
	}
	done := s.from
	for _, m := range notWords.FindAllStringIndex(text[s.from:s.to], -1) {
		from, to := s.from+m[0], s.from+m[1]
		plain(done, from)
		switch sign := text[from:to]; {
		case sign[0] == '&':
			write(html.UnescapeString(sign), from, 0)
		case emphasisTag.MatchString(sign):
			write("**", from, 0)
		}
		done = to
	}
	plain(done, s.to)
}

// rangesOf returns the ranges of the text, each within one block, for a range of the words.
func (t *typed) rangesOf(s span) (all []span) {
	first := sort.Search(len(t.runs), func(i int) bool { return t.runs[i].words.to > s.from })
	for _, r := range t.runs[first:] {
		if r.words.from >= s.to {
			break
		}
		part := r.text
		if s.from > r.words.from {
			part.from = t.at[s.from]
		}
		if s.to < r.words.to {
			part.to = t.at[s.to]
		}
		if !isBalanced(t.text[part.from:part.to]) {
			part = r.text
		}
		if part.from < part.to && strings.TrimSpace(t.words[max(s.from, r.words.from):min(s.to, r.words.to)]) != "" {
			all = append(all, part)
		}
	}
	return all
}

// isBalanced reports whether each tag in a range of HTML has its partner there.
func isBalanced(text string) bool {
	depth := 0
	for _, tag := range anyTag.FindAllString(text, -1) {
		switch name := blockName.FindStringSubmatch(tag); {
		case name == nil || voidElements[strings.ToLower(name[2])] || strings.HasSuffix(tag, "/>"):
		case name[1] == "":
			depth++
		default:
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
