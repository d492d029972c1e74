package secrecy

import (
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/markup"
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
	quotes int    // depth of the block quotes around it
	level  int    // level of its heading; 0 for a paragraph or list item
	indent int    // indent of its list item; -1 for a paragraph
	last   string // its last line without the quotes
}

// findSections finds the text below secret headings, up to the next heading of the same or a
// higher rank, and the paragraphs and list items that begin with a secret label. A section in a
// block quote ends with the quote.
func (h *Result) findSections(text string) (found []span) {
	if h.hides == nil {
		return nil
	}
	code := markdown.NewCodeScanner(text)
	var taking *section
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, len(text))
		if n := code.FenceLength(at); n > 0 {
			line, next = strings.TrimSuffix(text[at:at+n], "\n"), at+n
		} else {
			after, _, _ := strings.Cut(text[next:], "\n")
			begun := h.beginSection(line, after)
			if taking != nil && taking.isEndedBy(line, after) {
				taking = nil
			}
			if begun != nil && taking == nil {
				taking = begun
				found = append(found, span{at, at})
			}
		}
		if taking != nil {
			taking.last = stripQuotes(line, taking.quotes)
			found[len(found)-1].to = next
		}
		at = next
	}
	return found
}

// headingOf returns the level and text of a heading in either notation. The level is 0 if the line
// is not a heading.
func headingOf(line, after string) (level int, text string) {
	if strings.Contains(line, "#") {
		if m := headingForm.FindStringSubmatch(line); m != nil {
			return len(m[1]), m[2]
		}
	}
	if !strings.ContainsAny(after, "=-") {
		return 0, ""
	}
	if m := underlineForm.FindString(after); m != "" && strings.TrimSpace(line) != "" && !listForm.MatchString(line) &&
		!strings.HasPrefix(strings.TrimSpace(line), "|") {
		if strings.Contains(m, "=") {
			return 1, line
		}
		return 2, line
	}
	return 0, ""
}

// beginSection returns the secret section that begins with a line, or nil.
func (h *Result) beginSection(line, after string) *section {
	quotes, _ := quoteDepth(line)
	line, after = stripQuotes(line, quotes), stripQuotes(after, quotes)
	if level, text := headingOf(line, after); level > 0 {
		word := FindWord(text, false)
		if word == "" || !h.isHidden(exchange.Mark{Rule: ruleHeading, What: markup.Clip(strings.TrimSpace(text), 80),
			Doubt: !isExact(text)}) {
			return nil
		}
		return &section{quotes: quotes, level: level}
	}
	if !strings.Contains(line, ":") {
		return nil
	}
	m := labelForm.FindStringSubmatch(line)
	if m == nil || m[1] == "" && !isExact(m[2]) || FindWord(m[2], true) == "" ||
		!h.isHidden(exchange.Mark{Rule: ruleLabel, What: strings.TrimSpace(m[2]), Doubt: true}) {
		return nil
	}
	s := &section{quotes: quotes, indent: -1}
	if listForm.MatchString(line) {
		s.indent = indentOf(line)
	}
	return s
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// isEndedBy reports whether a line no longer belongs to the section.
func (s *section) isEndedBy(line, after string) bool {
	quotes, rest := quoteDepth(line)
	if quotes < s.quotes {
		return strings.TrimSpace(rest) == "" || s.level > 0
	}
	line, after = stripQuotes(line, s.quotes), stripQuotes(after, s.quotes)
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
	return strings.TrimSpace(line) != "" && indentOf(line) <= s.indent && strings.TrimSpace(s.last) == ""
}
