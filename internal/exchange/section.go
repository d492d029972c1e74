package exchange

import (
	"regexp"
	"strings"
)

var (
	headingForm   = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$`)
	underlineForm = regexp.MustCompile(`^ {0,3}(?:=+|-{2,})[ \t]*$`)
	listForm      = regexp.MustCompile(`^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]`)
	labelForm     = regexp.MustCompile(`^(?:[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?([*_=]{0,3})([\pL][^:*_=\[\]|\n]{1,40}?)[*_=]{0,3}[ \t]*:{1,2}[*_=]{0,3}(?:[ \t]|$)`)
)

// section is a part of a text that is being taken out.
type section struct {
	quotes int // depth of block quotes that it stands in
	level  int // of its heading; 0 for a paragraph or list item
	indent int // of a list item; -1 for a paragraph
	lines  []string
}

// takeSections takes out what stands below secret headings, up to the next heading as high,
// and paragraphs and list items that a secret label begins. In block quotes they end with
// the quote.
func (h *hidden) takeSections(text string, keep func(string)) string {
	code := newCoder(text)
	var out []string
	var taking *section
	end := func() {
		if taking != nil {
			keep(strings.Join(taking.lines, "\n"))
		}
		taking = nil
	}
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := at + len(line) + 1
		if n := code.fence(at); n > 0 {
			line, next = strings.TrimSuffix(text[at:at+n], "\n"), at+n
		} else {
			after, _, _ := strings.Cut(text[min(next, len(text)):], "\n")
			begun := h.beginning(line, after)
			if taking != nil && taking.endsBefore(line, after) {
				end()
			}
			if begun != nil && taking == nil {
				taking = begun
			}
		}
		if taking != nil {
			taking.lines = append(taking.lines, unquote(line, taking.quotes))
		} else {
			out = append(out, line)
		}
		at = next
	}
	end()
	if strings.HasSuffix(text, "\n") {
		out = append(out, "")
	}
	return strings.Join(out, "\n")
}

// headingOf reads a heading, of either form: its level, 0 for none, and its text.
func headingOf(line, after string) (level int, text string) {
	if m := headingForm.FindStringSubmatch(line); m != nil {
		return len(m[1]), m[2]
	}
	if m := underlineForm.FindString(after); m != "" && strings.TrimSpace(line) != "" && !listForm.MatchString(line) && !strings.HasPrefix(strings.TrimSpace(line), "|") {
		if strings.Contains(m, "=") {
			return 1, line
		}
		return 2, line
	}
	return 0, ""
}

// beginning is the section that a line begins, nil for none.
func (h *hidden) beginning(line, after string) *section {
	quotes, _ := quoteDepth(line)
	line, after = unquote(line, quotes), unquote(after, quotes)
	if level, text := headingOf(line, after); level > 0 {
		word := secretWord(text, false)
		if word == "" || !h.takes(mark{ruleHeading, clip(strings.TrimSpace(text), 80), !isExact(text)}) {
			return nil
		}
		return &section{quotes: quotes, level: level}
	}
	m := labelForm.FindStringSubmatch(line)
	if m == nil || m[1] == "" && !isExact(m[2]) || secretWord(m[2], true) == "" || !h.takes(mark{ruleLabel, strings.TrimSpace(m[2]), true}) {
		return nil
	}
	s := &section{quotes: quotes, indent: -1}
	if listForm.MatchString(line) {
		s.indent = indentOf(line)
	}
	return s
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// endsBefore reports whether a line is no longer part of the section.
func (s *section) endsBefore(line, after string) bool {
	quotes, rest := quoteDepth(line)
	if quotes < s.quotes {
		return strings.TrimSpace(rest) == "" || s.level > 0
	}
	line, after = unquote(line, s.quotes), unquote(after, s.quotes)
	level, _ := headingOf(line, after)
	if s.level > 0 {
		return level > 0 && level <= s.level
	}
	switch {
	case level > 0:
		return true
	case s.indent < 0:
		return strings.TrimSpace(line) == ""
	case listForm.MatchString(line):
		return indentOf(line) <= s.indent
	}
	return strings.TrimSpace(line) != "" && indentOf(line) <= s.indent && strings.TrimSpace(s.lines[len(s.lines)-1]) == ""
}
