package secrecy

import (
	"strings"

	"golang.org/x/net/html"

	"loregate/internal/exchange"
)

// htmlScanner finds the secret parts of an HTML text in one pass: comments, elements, attributes, tags in
// brackets, and the parts below secret headings. Every token is judged once, so that the time is linear.
type htmlScanner struct {
	h     *Result
	text  string
	judge *judge
	forum forumScanner
	depth int // of attributes in attributes

	open    elements
	part    *hiddenPart // the part that is being read; nil: readers see the text
	heading *htmlHeading
	found   []span
	restart int            // number of tags that a quotation mark without an end cut off
	ends    map[string]int // by the name of an element that a page does not show, the offset of its last end tag
}

// hiddenPart is a secret part whose end is not read yet. Exactly one of its members besides from says where
// it ends.
type hiddenPart struct {
	from     int
	elements *elements // it ends when all of them are closed
	tag      string    // it ends with the end tag in brackets of this name
	nested   int       // number of tags in brackets that are open
	until    int       // it ends at this offset
	section  *htmlHeading
}

// htmlHeading is a heading and the depth at which it stands.
type htmlHeading struct {
	from, level, depth int
	text               strings.Builder
}

// maxHeading is the length of the text of a heading that is judged, and maxNested the greatest depth of attributes
// in attributes.
const (
	maxHeading  = 200
	maxNested   = 3
	maxRestarts = 20
)

// findHTML finds the secret parts of an HTML text.
func (h *Result) findHTML(text string) []span { return h.scanHTML(text, &judge{}, 0) }

func (h *Result) scanHTML(text string, j *judge, depth int) []span {
	s := &htmlScanner{h: h, text: text, judge: j, depth: depth}
	s.forum = forumScanner{text: text, form: h.form, judge: j}
	for at := 0; at < len(text); {
		at = s.scan(at)
	}
	if s.part != nil {
		s.found = append(s.found, span{s.part.from, len(text)})
		if s.part.section == nil && depth == 0 && h.UnclosedAt < 0 {
			h.UnclosedAt = s.part.from
		}
	}
	return s.found
}

// scan reads tokens from an offset. It returns the offset at which reading goes on: the end of the text, or
// that after the beginning of a tag that is cut off.
func (s *htmlScanner) scan(start int) (next int) {
	z := html.NewTokenizer(strings.NewReader(s.text[start:]))
	for at := start; ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return s.readRest(at)
		}
		end := at + len(z.Raw())
		from := at
		if p := s.part; p != nil && p.until > 0 && end >= p.until {
			if from = p.until; kind != html.TextToken {
				from = end
			}
			s.found, s.part = append(s.found, span{p.from, from}), nil
		}
		if from < end {
			s.readToken(z, kind, from, end)
		}
		at = end
	}
}

func (s *htmlScanner) readToken(z *html.Tokenizer, kind html.TokenType, from, end int) {
	switch kind {
	case html.TextToken:
		s.readText(from, end)
	case html.StartTagToken, html.SelfClosingTagToken:
		s.readStart(z, from, end)
	case html.EndTagToken:
		name, _ := z.TagName()
		s.readEnd(string(name), from, end)
	case html.CommentToken:
		s.readComment(from, end)
	case html.DoctypeToken:
		if !strings.EqualFold(s.text[from:end], "<!doctype html>") {
			s.readComment(from, end)
		}
	}
}

// readRest reads the rest of a text, which ends within a tag. A browser does not show it.
func (s *htmlScanner) readRest(at int) (next int) {
	if at >= len(s.text) || s.part != nil {
		return len(s.text)
	}
	t := readTag(s.text[at:])
	if why, marked := s.judge.markOf(t, ""); marked && s.h.isHidden(why) {
		s.part = &hiddenPart{from: at, until: len(s.text) + 1}
		return len(s.text)
	}
	if s.restart++; s.restart > maxRestarts && s.h.isHidden(exact(ruleElement, "too many unclosed tags")) {
		s.part = &hiddenPart{from: at, until: len(s.text) + 1}
		return len(s.text)
	}
	next = at + 1 + strings.IndexByte(s.text[at+1:]+"<", '<')
	if !strings.Contains(s.text[at:], ">") {
		next = len(s.text) // no tag ends here
	}
	s.readText(at+1, next)
	return next
}

// hide takes a part out.
func (s *htmlScanner) hide(from, to int) { s.found = append(s.found, span{from, to}) }

func (s *htmlScanner) readComment(from, end int) {
	raw := s.text[from:end]
	if s.part != nil {
		return
	}
	why := exact(ruleComment, "<!-- -->")
	if !strings.HasPrefix(raw, "<!--") {
		why = exact(ruleComment, "<!")
	}
	if !s.h.isHidden(why) {
		return
	}
	until, closed := end, strings.HasSuffix(raw, ">")
	switch {
	case raw == "<!-->" || raw == "<!--->": // a browser ends the comment here, its author after the next "-->"
		if i := strings.Index(s.text[end:], "-->"); i >= 0 {
			until = end + i + 3
		}
	case strings.HasPrefix(raw, "<!--"):
		closed = strings.HasSuffix(raw, "-->") || strings.HasSuffix(raw, "--!>")
	case strings.HasPrefix(strings.ToUpper(raw[:min(len(raw), 9)]), "<![CDATA["):
		i := strings.Index(s.text[from:], "]]>")
		if closed = i >= 0; closed {
			until = max(end, from+i+3)
		} else {
			until = len(s.text) + 1
		}
	}
	if until > end || !closed {
		s.part = &hiddenPart{from: from, until: max(until, end+1)}
		return
	}
	s.hide(from, end)
}

func (s *htmlScanner) readText(from, end int) {
	if s.heading != nil && s.heading.text.Len() <= maxHeading {
		s.heading.text.WriteString(html.UnescapeString(s.text[from:min(end, from+2*maxHeading)]))
	}
	for from < end && (s.part == nil || s.part.tag != "") {
		t, ok := nextForumTag(s.text, from, end)
		if !ok {
			return
		}
		from = t.to
		if s.part != nil {
			s.closeForum(t)
		} else if opens, toEnd := s.forum.opens(t); opens {
			s.openForum(t, toEnd)
		}
	}
}

func (s *htmlScanner) openForum(t forumTag, toEnd bool) {
	if !s.h.isHidden(exact(ruleBlock, "["+t.name+"]")) {
		return
	}
	switch {
	case s.forum.isWhole(t):
		s.hide(t.from, t.to)
	case toEnd:
		s.part = &hiddenPart{from: t.from, until: len(s.text) + 1}
	default:
		s.part = &hiddenPart{from: t.from, tag: t.name, nested: 1}
	}
}

func (s *htmlScanner) closeForum(t forumTag) {
	switch {
	case t.name != s.part.tag:
	case !t.end && !s.forum.isWhole(t):
		s.part.nested++
	case t.end:
		if s.part.nested--; s.part.nested == 0 {
			s.hide(s.part.from, t.to)
			s.part = nil
		}
	}
}

// headingLevel returns the level of a heading element, or 0.
func headingLevel(name string) int {
	if len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' {
		return int(name[1] - '0')
	}
	return 0
}

func (s *htmlScanner) readStart(z *html.Tokenizer, from, end int) {
	t := readTag(s.text[from:end])
	if t.name != "script" && t.name != "style" {
		z.NextIsNotRawText() // other elements are read as if they were shown
	}
	if p := s.part; p != nil {
		level := headingLevel(t.name)
		switch {
		case p.elements != nil:
			p.elements.push(t.name)
			return
		case p.section == nil:
			return
		case level == 0 || level > p.section.level:
			s.open.push(t.name)
			return
		}
		s.hide(p.from, from)
		s.part = nil
	}
	if why, marked := s.judge.markOf(t, s.text[end:]); marked && s.isEnded(t, end) && s.h.isHidden(why) {
		if voidElements[t.name] {
			s.hide(from, end)
			return
		}
		s.part = &hiddenPart{from: from, elements: &elements{}}
		s.part.elements.push(t.name)
		return
	}
	s.hideAttributes(t, from)
	if level := headingLevel(t.name); level > 0 && s.heading == nil {
		s.heading = &htmlHeading{from: from, level: level, depth: len(s.open.names)}
	}
	s.open.push(t.name)
}

// isEnded reports whether an element that is hidden only because a page does not show it has an end tag. If it
// has none, it is a word in a text that is not HTML.
func (s *htmlScanner) isEnded(t tag, at int) bool {
	if !marks().unshown[t.name] || voidElements[t.name] {
		return true
	}
	last, ok := s.ends[t.name]
	if !ok {
		if s.ends == nil {
			s.ends = map[string]int{}
		}
		last = strings.LastIndex(asciiLower(s.text), "</"+t.name)
		s.ends[t.name] = last
	}
	return last >= at
}

// asciiLower returns a text with its ASCII letters in lower case, of the same length.
func asciiLower(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r | 0x20
		}
		return r
	}, text)
}

// hideAttributes takes out the attributes whose values have marks.
func (s *htmlScanner) hideAttributes(t tag, from int) {
	for _, a := range t.attrs {
		if s.h.isMarkedValue(a.value, s.judge, s.depth) {
			s.hide(from+a.from, from+a.to)
		}
	}
}

// isMarkedValue reports whether an attribute's value has a secret part.
func (h *Result) isMarkedValue(value string, j *judge, depth int) bool {
	if !strings.ContainsAny(value, "<[") {
		return false
	}
	if depth >= maxNested {
		return h.isHidden(exact(ruleElement, "attributes in attributes"))
	}
	return len(h.scanHTML(value, j, depth+1)) > 0
}

func (s *htmlScanner) readEnd(name string, from, end int) {
	if p := s.part; p != nil && p.elements != nil {
		if p.elements.end(name); len(p.elements.names) == 0 {
			s.hide(p.from, end)
			s.part = nil
		}
		return
	}
	s.open.end(name)
	if p := s.part; p != nil {
		if p.section != nil && len(s.open.names) < p.section.depth {
			s.hide(p.from, from)
			s.part = nil
		}
		return
	}
	if g := s.heading; g != nil && (headingLevel(name) > 0 || len(s.open.names) <= g.depth) {
		s.heading = nil
		s.beginSection(g)
	}
}

// beginSection begins the part below a heading that is read, if the heading is secret.
func (s *htmlScanner) beginSection(g *htmlHeading) {
	text := strings.TrimSpace(g.text.String())
	if text == "" || !s.judge.isExact(text) || !s.h.isHidden(exchange.Mark{Rule: ruleHeading, What: text}) {
		return
	}
	for len(s.found) > 0 && s.found[len(s.found)-1].from >= g.from {
		s.found = s.found[:len(s.found)-1]
	}
	s.part = &hiddenPart{from: g.from, section: g}
}
