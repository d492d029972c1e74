package secrecy

import (
	"sort"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// masker blanks the parts that readers of a Markdown text see as written: its code, and signs that begin no tag. The
// rest can be read as HTML. Code inside a comment stays, and a comment inside code does not.
type masker struct {
	text    string
	masked  []byte // nil: nothing was blanked
	at      int    // offset after the last comment
	comment int    // offset of the last comment
}

// maskMarkdown returns a text of the same length that can be read as HTML. A comment that begins before a fence and
// ends in it makes the fence doubtful: then unsure has the comment.
func maskMarkdown(o *outline) (masked string, unsure []span) {
	if !strings.ContainsAny(o.text, "<`~%") && !hasCode(o.blocks) {
		return o.text, nil
	}
	m := &masker{text: o.text}
	for _, b := range o.blocks {
		switch b.Kind {
		case markup.FenceBlock, markup.CodeBlock:
			if m.at > b.From && m.at < b.To {
				return "", []span{{m.comment, m.at}}
			}
			if m.at <= b.From {
				m.blank(b.From, b.To)
			}
		case markup.HTMLBlock:
			m.skipComments(max(m.at, b.From), b.To)
		case markup.ParagraphBlock, markup.HeadingBlock:
			for _, lines := range unitsOf(o.text, b) {
				m.readUnit(lines)
			}
		}
	}
	if m.masked == nil {
		return o.text, nil
	}
	return string(m.masked), nil
}

func hasCode(blocks []markup.Block) bool {
	for _, b := range blocks {
		if b.Kind == markup.CodeBlock {
			return true
		}
	}
	return false
}

func (m *masker) blank(from, to int) {
	if m.masked == nil {
		m.masked = []byte(m.text)
	}
	for i := from; i < to; i++ {
		if m.masked[i] != '\n' {
			m.masked[i] = ' '
		}
	}
}

// skipComments reads the comments that begin between two offsets.
func (m *masker) skipComments(from, to int) {
	for from < to {
		i := strings.IndexAny(m.text[from:to], "<%")
		if i < 0 {
			return
		}
		from += i
		n := commentLength(m.text[from:])
		m.readComment(from, n)
		from += max(1, n)
	}
}

// readComment notes a comment. Signs in one of Markdown begin no tag, and signs in one of HTML no comment of Markdown.
func (m *masker) readComment(from, n int) {
	if n == 0 {
		return
	}
	m.comment, m.at = from, from+n
	for i := from + 2; i < from+n-2; i++ {
		if c := m.text[i]; m.text[from] == '%' && c == '<' && m.text[i-1] != '!' || m.text[from] == '<' && c == '%' {
			m.blank(i, i+1) // "!<" ends a spoiler
		}
	}
}

// commentLength returns the length of the comment at the beginning of s, or 0. One that has no end goes to the end of
// the text.
func commentLength(s string) int {
	return max(enclosedLength(s, "%%", "%%"), enclosedLength(s, "<!--", "-->"))
}

// enclosedLength returns the length of the part at the beginning of s that begins and ends with the given signs, or
// goes to the end of the text; 0 if s begins otherwise.
func enclosedLength(s, begin, end string) int {
	if !strings.HasPrefix(s, begin) {
		return 0
	}
	_, rest, _ := strings.Cut(s[len(begin):], end)
	return len(s) - len(rest)
}

// unitsOf returns the parts of a block between which no code and no tag goes on: its cells if it is a table, or all of
// its lines.
func unitsOf(text string, b markup.Block) (units [][]markup.Span) {
	first := tableAt(text, b)
	if first < 0 {
		return [][]markup.Span{b.Lines}
	}
	units = append(units, b.Lines[:first])
	for _, l := range b.Lines[first:] {
		from := l.From
		for at := l.From; at < l.To; at++ {
			switch text[at] {
			case '\\':
				at++
			case '|':
				units = append(units, []markup.Span{{From: from, To: at}})
				from = at + 1
			}
		}
		units = append(units, []markup.Span{{From: from, To: l.To}})
	}
	return units
}

// unit is the text of some lines without the signs between them.
type unit struct {
	text  string
	lines []markup.Span
	at    []int       // by line, its offset in text
	runs  map[int]int // by number of ticks, the offset in text after which no code of so many ticks ends
	angle int         // offset in text of the next ">"
	cut   int         // number of tags so far that a quotation mark without an end cuts off
}

// maxTag is the maximum length of a tag in Markdown, in bytes; maxCut the number of tags without an end that are
// looked at in a block.
const (
	maxTag = 8192
	maxCut = 1000
)

func (m *masker) readUnit(lines []markup.Span) {
	u := unit{lines: lines, runs: map[int]int{}, angle: -1}
	var b strings.Builder
	for _, l := range lines {
		u.at = append(u.at, b.Len())
		b.WriteString(m.text[l.From:l.To])
		b.WriteByte('\n')
	}
	u.text = b.String()
	for at := 0; at < len(u.text); {
		i := strings.IndexAny(u.text[at:], "<`%\\")
		if i < 0 {
			return
		}
		at += i
		from := u.offset(at)
		if from < m.at { // in a comment
			if at = u.placeOf(m.at); at < 0 {
				return
			}
			continue
		}
		switch u.text[at] {
		case '\\':
			if at+1 < len(u.text) && u.text[at+1] == '<' {
				m.blank(from+1, from+2)
			}
			at += 2
		case '`':
			n, isCode := u.codeLength(at)
			if isCode {
				m.blankUnit(u, at, at+n)
			}
			at += n
		case '%', '<':
			if n := commentLength(m.text[from:]); n > 0 {
				m.readComment(from, n)
				continue
			}
			n := 1
			if u.text[at] == '<' {
				address := addressForm.FindString(u.text[at:min(len(u.text), at+maxTag)])
				if n = u.tagLength(at); address != "" {
					n = len(address)
				}
				if address != "" || n == 0 && (at == 0 || u.text[at-1] != '!') { // "!<" ends a spoiler
					m.blank(from, from+1)
				}
			}
			at += max(1, n)
		}
	}
}

// offset returns the offset in the whole text for one in the unit.
func (u *unit) offset(at int) int {
	i := sort.SearchInts(u.at, at+1) - 1
	return u.lines[i].From + at - u.at[i]
}

// placeOf returns the offset in the unit for one in the whole text, or the next one; -1 if it is after the unit.
func (u *unit) placeOf(offset int) int {
	i := sort.Search(len(u.lines), func(i int) bool { return u.lines[i].To > offset })
	if i == len(u.lines) {
		return -1
	}
	return u.at[i] + max(0, offset-u.lines[i].From)
}

func (m *masker) blankUnit(u unit, from, to int) {
	for i := max(0, sort.SearchInts(u.at, from+1)-1); i < len(u.lines) && u.at[i] < to; i++ {
		l := u.lines[i]
		if start := max(from, u.at[i]); start < to && start < u.at[i]+l.To-l.From {
			m.blank(l.From+start-u.at[i], min(l.To, l.From+to-u.at[i]))
		}
	}
}

// codeLength returns the length of the code that begins with a run of ticks, or that of the run if it has no end.
func (u *unit) codeLength(at int) (n int, isCode bool) {
	s := u.text[at:]
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	if none, ok := u.runs[ticks]; ok && at >= none {
		return ticks, false
	}
	for from := ticks; ; {
		i := strings.IndexByte(s[from:], '`')
		if i < 0 {
			u.runs[ticks] = at
			return ticks, false
		}
		from += i
		run := len(s[from:]) - len(strings.TrimLeft(s[from:], "`"))
		if from += run; run == ticks {
			return from, true
		}
	}
}

// addressForm matches an address between angle brackets, which is no tag.
var addressForm = lazyregexp.New(`^<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>`)

// tagLength returns the length of the tag at an offset, or of the beginning of a declaration; 0 if there is none.
func (u *unit) tagLength(at int) int {
	s := u.text[at:]
	switch {
	case len(s) < 2:
		return 0
	case s[1] == '?', strings.HasPrefix(s, "<![CDATA["), s[1] == '!' && len(s) > 2 && isLetter(s[2]):
		return 2
	}
	name := strings.TrimPrefix(s[1:min(len(s), 3)], "/")
	isTarget := strings.HasSuffix(u.text[:at], "](") || strings.HasSuffix(u.text[:at], "]: ")
	if name == "" || !isLetter(name[0]) || isTarget {
		return 0
	}
	if u.angle < at {
		u.angle = len(u.text)
		if i := strings.IndexByte(s, '>'); i >= 0 {
			u.angle = at + i
		}
	}
	end := min(at+maxTag, len(u.text))
	if u.angle >= end {
		return 0
	}
	if s[1] == '/' || u.cut > maxCut {
		return u.angle + 1 - at
	}
	g := readTag(u.text[at:end])
	if g.cut {
		u.cut++
		return 1
	}
	return g.size
}
