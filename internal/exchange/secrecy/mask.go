package secrecy

import (
	"regexp"
	"strings"

	"loregate/internal/exchange/markdown"
)

// masker blanks what readers of a Markdown text see as written: its code, and signs that begin no tag. What is left
// can be read as HTML. Code inside a comment stays, and a comment inside code does not.
type masker struct {
	text    string
	masked  []byte // nil: nothing was blanked
	lower   string // the text with small letters, when a raw element was met
	inBlock int    // offset before which the text is a block of HTML, in which nothing is code
	pause   int    // offset of the next blank line
	angle   int    // offset of the next ">"
	cut     int    // number of tags so far that a quotation mark without an end cuts off
}

// maxTag is the maximum length of a tag in Markdown, in bytes; maxCut the number of tags without an end that are
// looked at.
const (
	maxTag = 8192
	maxCut = 1000
)

// maskMarkdown returns a text of the same length that can be read as HTML.
func maskMarkdown(text string) string {
	if !strings.ContainsAny(text, "<`~") {
		return text
	}
	m := &masker{text: text, pause: -1, angle: -1}
	code := markdown.NewCodeScanner(text)
	for at := 0; at < len(text); {
		if at == 0 || text[at-1] == '\n' {
			if at >= m.inBlock {
				m.inBlock = at + m.htmlBlockLength(at)
			}
			if n := code.FenceLength(at); n > 0 && at >= m.inBlock {
				m.blank(at, at+n)
				at += n
				continue
			}
		}
		i := strings.IndexAny(text[at:], "<`%\n")
		if i < 0 {
			break
		}
		at += i
		switch s := text[at:]; s[0] {
		case '`':
			n := code.CodeLength(at)
			if at >= m.inBlock {
				m.blank(at, at+n)
			}
			at += n
		case '%':
			at += max(1, enclosedLength(s, "%%", "%%"))
		case '<':
			n := enclosedLength(s, "<!--", "-->")
			if n == 0 {
				n = m.tagLength(at)
				if n == 0 && at >= m.inBlock && (at == 0 || text[at-1] != '!') { // "!<" ends a spoiler
					m.blank(at, at+1)
				}
			}
			at += max(1, n)
		default:
			at++
		}
	}
	if m.masked == nil {
		return text
	}
	return string(m.masked)
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

// enclosedLength returns the length of the part at the beginning of s that begins and ends with the given signs, or goes
// to the end of the text; 0 if s begins otherwise.
func enclosedLength(s, begin, end string) int {
	if !strings.HasPrefix(s, begin) {
		return 0
	}
	_, rest, _ := strings.Cut(s[len(begin):], end)
	return len(s) - len(rest)
}

// tagLength returns the length of the tag at an offset, or of the beginning of a declaration; 0 if there is none. A tag
// contains no blank line.
func (m *masker) tagLength(at int) int {
	s := m.text[at:]
	switch {
	case len(s) < 2:
		return 0
	case s[1] == '?', strings.HasPrefix(s, "<![CDATA["), s[1] == '!' && len(s) > 2 && isLetter(s[2]):
		return 2
	}
	name := strings.TrimPrefix(s[1:min(len(s), 3)], "/")
	if name == "" || !isLetter(name[0]) {
		return 0
	}
	m.pause, m.angle = m.next(m.pause, at, "\n\n"), m.next(m.angle, at, ">")
	end := min(at+maxTag, m.pause)
	if m.angle >= end {
		return 0
	}
	if s[1] == '/' || m.cut > maxCut {
		return m.angle + 1 - at
	}
	g := readTag(m.text[at:end])
	if g.cut {
		m.cut++
		return 1
	}
	return g.size
}

// next returns the offset of a sign at or after an offset, given that at or after an earlier one; the length of the text
// if there is none.
func (m *masker) next(known, at int, sign string) int {
	if known >= at {
		return known
	}
	if i := strings.Index(m.text[at:], sign); i >= 0 {
		return at + i
	}
	return len(m.text)
}

var (
	blockTag = regexp.MustCompile(`^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*</?([A-Za-z][A-Za-z0-9]*)(?:[\s/>]|$)`)
	aloneTag = regexp.MustCompile(`^[ \t>]*</?[A-Za-z][^<>]*>[ \t]*$`)
	rawTags  = setOf("script", "style", "pre", "textarea")
)

// htmlBlockLength returns the length of the block of HTML that begins with a line, or 0.
func (m *masker) htmlBlockLength(at int) int {
	s := m.text[at:]
	first, _, _ := strings.Cut(s, "\n")
	if !strings.Contains(first, "<") {
		return 0
	}
	tag := blockTag.FindStringSubmatch(first)
	if tag == nil {
		return 0
	}
	name := strings.ToLower(tag[1])
	if rawTags[name] {
		if m.lower == "" {
			m.lower = asciiLower(m.text)
		}
		if end := strings.Index(m.lower[at:], "</"+name); end >= 0 {
			return end
		}
		return len(s)
	}
	if !specialElements[name] && !aloneTag.MatchString(first) {
		return 0
	}
	m.pause = m.next(m.pause, at, "\n\n")
	return m.pause - at
}
