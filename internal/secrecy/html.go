package secrecy

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"loregate/internal/markup"
)

// htmlScanner finds the secret parts of a text with HTML in one pass: comments, elements, attributes, tags in
// brackets, and the parts below secret headings; in Markdown also its comments, fields and spoilers, but no headings.
// Every token is judged once, so that the time is linear.
type htmlScanner struct {
	h        *Result
	text     string
	judge    *judge
	forum    forumScanner
	depth    int        // of attributes in attributes
	signs    *[256]bool // with which a mark in a text may begin
	spoil    spoilerScanner
	percents int // number of "%%" from the first on

	open     elements
	part     *hiddenPart // the part that is being read; nil: readers see the text
	heading  *htmlHeading
	found    []span
	restart  int            // number of tags that a quotation mark without an end cut off
	ends     map[string]int // by the name of an element that a page does not show, the offset of its last end tag
	unclosed int            // offset of a part without an end, or -1
	signless map[string]int // by sign, one more than an offset after which there is none
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
	seen     bool      // the section has a text
	wraps    int       // number of elements around the section's heading alone
	inner    *elements // a secret element in it, which may end after it
	opaque   bool      // a browser reads no tags in it
	ignore   int       // offset before which end tags do not count
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

// findHTML finds the secret parts of a text with HTML. unclosed is the offset of a part that has no end, or -1.
func (h *Result) findHTML(readable string) (found []span, unclosed int) {
	j := &judge{}
	j.readSheets(readable)
	s := h.scanHTML(readable, j, 0)
	return s.found, s.unclosed
}

func (h *Result) scanHTML(text string, j *judge, depth int) *htmlScanner {
	s := &htmlScanner{h: h, text: text, judge: j, depth: depth, signs: &htmlSigns, unclosed: -1}
	switch {
	case h.form == Markdown && h.hides == nil:
		s.signs = &commentSigns
	case h.form == Markdown:
		s.signs = &markdownSigns
	}
	s.forum = forumScanner{text: text, form: h.form, judge: j}
	s.spoil = spoilerScanner{text: text}
	for at := 0; at < len(text); {
		at = s.scan(at)
	}
	if g := s.heading; g != nil && s.part == nil {
		s.beginSection(g)
	}
	if s.part != nil {
		s.hide(s.part.from, len(text))
		if s.part.section == nil {
			s.unclosed = s.part.from
		}
	}
	return s
}

// The characters with which a mark in a text may begin. "\xef" begins a wide bracket.
var (
	forumSigns    = signSet("[&\xef")
	htmlSigns     = signSet("[&\xef%")
	commentSigns  = signSet("%")
	markdownSigns = signSet("[&\xef%(>")
)

func signSet(signs string) (set [256]bool) {
	for i := range len(signs) {
		set[signs[i]] = true
	}
	return set
}

// nextSign returns the offset of the first character of a set at or after an offset, or end.
func nextSign(s string, at, end int, set *[256]bool) int {
	for at < end && !set[s[at]] {
		at++
	}
	return at
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
			if s.part = nil; p.inner != nil {
				s.part = &hiddenPart{from: p.from, elements: p.inner}
				from = at
			} else {
				s.hide(p.from, from)
			}
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
	if s.h.form == HTML && s.h.isHidden(Mark{Rule: ruleElement, What: "a tag without an end", Doubt: true}) {
		s.part = &hiddenPart{from: at, until: len(s.text) + 1}
		return len(s.text)
	}
	if s.isMarked(t, len(s.text)) {
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
	isData := strings.HasPrefix(raw, "<![CDATA[")
	until, closed := end, strings.HasSuffix(raw, ">")
	switch {
	case raw == "<!-->" || raw == "<!--->": // a browser ends the comment here, its author after the next "-->"
		until = s.after(end, "-->", end)
	case strings.HasPrefix(raw, "<!--"):
		closed = strings.HasSuffix(raw, "-->") || strings.HasSuffix(raw, "--!>")
	case isData:
		until = max(end, s.after(from, "]]>", len(s.text)+1))
	case strings.HasPrefix(raw, "<?"):
		until = max(end, s.after(from, "?>", end))
	}
	if s.part != nil {
		if isData { // in drawings a browser reads no tags here
			s.part.ignore = until
		}
		return
	}
	why := exact(ruleComment, "<!-- -->")
	if !strings.HasPrefix(raw, "<!--") {
		why = exact(ruleComment, "<!")
	}
	switch {
	case !s.h.isHidden(why):
	case until > end || !closed:
		isWhole := raw == "<!-->" || raw == "<!--->" || !strings.HasPrefix(raw, "<!--")
		s.part = &hiddenPart{from: from, until: max(until, end+1), opaque: !isWhole}
	default:
		s.hide(from, end)
	}
}

// after returns the offset after the first sign from an offset on, or otherwise if there is none.
func (s *htmlScanner) after(from int, sign string, otherwise int) int {
	if from >= s.signless[sign] && s.signless[sign] > 0 {
		return otherwise
	}
	if i := strings.Index(s.text[from:], sign); i >= 0 {
		return from + i + len(sign)
	}
	if s.signless == nil {
		s.signless = map[string]int{}
	}
	s.signless[sign] = from + 1
	return otherwise
}

func (s *htmlScanner) readText(from, end int) {
	if s.part == nil && s.heading != nil && s.heading.text.Len() <= maxHeading {
		s.heading.text.WriteString(html.UnescapeString(s.text[from:min(end, from+2*maxHeading)]))
	}
	if s.part == nil && lastOf(s.open.fallbacks) >= 0 && strings.TrimSpace(s.text[from:end]) != "" &&
		s.h.isHidden(exact(ruleElement, "text in a picture or film")) {
		s.hide(from, end)
		return
	}
	if s.part != nil && s.part.section != nil {
		s.part.seen = s.part.seen || strings.TrimSpace(s.text[from:end]) != ""
	}
	for at := from; at < end && (s.part == nil || s.part.tag != "" || s.part.section != nil); {
		signs := s.signs
		if s.part != nil {
			signs = &forumSigns
		}
		if at = nextSign(s.text, at, end, signs); at == end {
			return
		}
		at += s.readSign(at, end)
	}
}

// readSign reads the mark that begins at an offset of a text which ends at end. It returns the number of bytes to
// skip.
func (s *htmlScanner) readSign(at, end int) int {
	if t, ok := forumTagAt(s.text, at); ok && s.signs != &commentSigns {
		if s.part != nil && s.part.tag != "" {
			s.closeForum(t)
			return t.to - at
		}
		opens, toEnd := s.forum.opens(t)
		if opens {
			s.openForum(t, toEnd)
			return t.to - at
		}
		if toEnd && s.part == nil {
			s.noteLoose(at)
		}
	}
	if s.part == nil && s.h.foreign {
		return s.readForeign(at, end)
	}
	if s.part != nil || s.h.form != Markdown {
		return 1
	}
	var n int
	var why Mark
	closed := true
	switch s.text[at] {
	case '%':
		if n = enclosedLength(s.text[at:], "%%", "%%"); n > 0 {
			why = exact(ruleComment, "%%")
			if s.depth == 0 && s.percents == 0 {
				s.percents = strings.Count(s.text[at:], "%%")
			}
			if closed = s.percents%2 == 0; !closed { // which of them begins the comment is not known
				n = len(s.text) - at
			}
		}
	case '(', '[':
		var ends bool
		if n, ends, why = readSecretField(s.text[at:]); n > 0 && !ends {
			s.noteLoose(at)
		}
		n = s.withComments(at, n)
	case '>':
		var ends bool
		if n, ends, why = s.spoil.read(at); why.Rule != "" && !ends {
			s.noteLoose(at)
		}
		n = s.withComments(at, n)
	}
	switch {
	case n == 0 || !s.h.isHidden(why):
		return 1
	case !closed:
		s.part = &hiddenPart{from: at, until: len(s.text) + 1}
	case at+n > end:
		s.part = &hiddenPart{from: at, until: at + n}
	default:
		s.hide(at, at+n)
	}
	return n
}

// readForeign reads a comment of Markdown at an offset of a text in HTML, where it hides nothing.
func (s *htmlScanner) readForeign(at, end int) int {
	inner, begins := strings.CutPrefix(s.text[at:end], percents)
	n := strings.Index(inner, percents)
	isCode := len(s.open.at["code"])+len(s.open.at["pre"]) > 0
	if !begins || n <= 0 || isCode || s.depth > 0 ||
		!s.h.isHidden(Mark{Rule: ruleComment, What: percents + " in HTML", Doubt: true}) {
		return 1
	}
	s.hide(at, at+n+2*len(percents))
	return n + 2*len(percents)
}

// noteLoose notes a sign without an end.
func (s *htmlScanner) noteLoose(at int) {
	if s.h.round == 0 && s.depth == 0 {
		s.h.loose = append(s.h.loose, at)
	}
}

// withComments returns the length of a part with the comments that begin in it.
func (s *htmlScanner) withComments(at, n int) int {
	for i := 0; i < n; i++ {
		if c := s.text[at+i]; c == '%' || c == '<' {
			if length := commentLength(s.text[at+i:]); length > 0 {
				n = max(n, i+length)
				i += length - 1
			}
		}
	}
	return n
}

func (s *htmlScanner) openForum(t forumTag, toEnd bool) {
	if !s.h.isHidden(exact(ruleBlock, "["+t.name+"]")) {
		return
	}
	if p := s.part; p != nil { // in a section, which a heading in the tag does not end
		switch {
		case s.forum.isWhole(t):
		case toEnd:
			s.part = &hiddenPart{from: p.from, until: len(s.text) + 1}
		default:
			p.tag, p.nested = t.name, 1
		}
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
		if s.part.nested--; s.part.nested > 0 {
			return
		}
		switch p := s.part; {
		case p.section != nil:
			p.tag = ""
		case p.inner != nil:
			s.part = &hiddenPart{from: p.from, elements: p.inner}
		default:
			s.hide(p.from, t.to)
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
	level := headingLevel(t.name)
	if g := s.heading; g != nil && s.part == nil && (level > 0 || specialElements[t.name]) &&
		strings.TrimSpace(g.text.String()) != "" { // the heading has no end tag
		s.heading = nil
		s.beginSection(g)
	}
	if level > 0 && s.part == nil {
		s.open.end("p") // a browser closes it
	}
	isCode := (t.name == "script" || t.name == "style") && !s.open.isDrawing()
	if p := s.part; p == nil && !isCode || p != nil && (p.elements.isDrawing() || p.inner.isDrawing()) {
		z.NextIsNotRawText() // other elements are read as if they were shown
	}
	if s.part != nil && !s.endsSection(t, level) {
		s.readStartWithin(t, end)
		return
	}
	if s.part != nil {
		s.hide(s.part.from, from)
		s.part = nil
	}
	if s.isMarked(t, end) {
		if voidElements[t.name] {
			s.hide(from, end)
			return
		}
		s.part = &hiddenPart{from: from, elements: &elements{}}
		s.part.elements.push(t.name)
		return
	}
	s.hideAttributes(t, from)
	if level > 0 && s.heading == nil && s.h.form != Markdown {
		s.heading = &htmlHeading{from: from, level: level, depth: len(s.open.names)}
	}
	isEnded := s.isEnded(t, end)
	if !isEnded && s.h.form != Plain && !marks().unended[t.name] {
		s.noteLoose(from)
	}
	if !marks().fallback[t.name] || isEnded {
		s.open.push(t.name)
	}
}

// isMarked reports whether an element is secret: by a mark, or because a page does not show it.
func (s *htmlScanner) isMarked(t tag, end int) bool {
	why, marked := s.judge.markOf(t, s.text[end:])
	isOpen := t.name == "dialog" && slices.ContainsFunc(t.attrs, func(a attribute) bool { return a.key == "open" })
	if !marked && marks().unshown[t.name] && !isOpen {
		ended := s.isEnded(t, end)
		why = Mark{Rule: ruleElement, What: "<" + t.name + ">", Doubt: !ended}
		marked = ended || s.h.form != Plain && marks().unended[t.name]
	}
	return marked && s.h.isHidden(why)
}

// endsSection reports whether a start tag ends the section that is read: a heading of the same or a higher level
// that stands in no secret part and no element of it. Where the section's own heading stands in an element, others
// may too.
func (s *htmlScanner) endsSection(t tag, level int) bool {
	p := s.part
	if p.section == nil || p.inner != nil || p.tag != "" || level == 0 || level > p.section.level {
		return false
	}
	boxes := 0
	for i := len(s.open.special) - 1; i >= 0 && s.open.special[i] >= p.section.depth && boxes <= p.wraps; i-- {
		if name := s.open.names[s.open.special[i]]; name != "p" && headingLevel(name) == 0 {
			boxes++
		}
	}
	return boxes <= p.wraps && !s.isMarked(t, len(s.text))
}

// readStartWithin reads a start tag in a secret part.
func (s *htmlScanner) readStartWithin(t tag, end int) {
	p := s.part
	switch {
	case p.opaque:
	case !voidElements[t.name] && s.isMarked(t, end):
		within := p.elements
		if within == nil {
			if p.inner == nil {
				p.inner = &elements{}
			}
			within = p.inner
		}
		within.pushMarked(t.name)
	case p.elements != nil:
		p.elements.push(t.name)
	case p.inner != nil:
		p.inner.push(t.name)
	case p.section != nil:
		s.open.push(t.name)
	}
}

// isEnded reports whether an element of which a page shows nothing, or not its text, has an end tag. If it has
// none, it may be a word in a text that is not HTML.
func (s *htmlScanner) isEnded(t tag, at int) bool {
	if !marks().unshown[t.name] && !marks().fallback[t.name] || voidElements[t.name] {
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
	if !strings.ContainsAny(value, "<[%［") {
		return false
	}
	if depth >= maxNested {
		return h.isHidden(exact(ruleElement, "attributes in attributes"))
	}
	return len(h.scanHTML(value, j, depth+1).found) > 0
}

func (s *htmlScanner) readEnd(name string, from, end int) {
	p := s.part
	switch {
	case p != nil && from < p.ignore:
		return
	case p != nil && p.elements != nil:
		if p.elements.end(name); len(p.elements.names) == 0 {
			s.hide(p.from, end)
			s.part = nil
		}
		return
	case p != nil && p.inner != nil:
		if p.inner.end(name); len(p.inner.names) == 0 {
			p.inner = nil
		}
		return
	}
	s.open.end(name)
	if p != nil {
		if p.section == nil || len(s.open.names) >= p.section.depth {
			return
		}
		if !p.seen || name == "header" || name == "hgroup" { // the element holds the heading alone
			p.section.depth = len(s.open.names)
			p.wraps++
			return
		}
		s.hide(p.from, from)
		s.part = nil
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
	if FindWord(text, false) == "" || !s.h.isHidden(Mark{Rule: ruleHeading, What: markup.Clip(text, 80),
		Doubt: !s.judge.isExact(text)}) {
		return
	}
	for len(s.found) > 0 && s.found[len(s.found)-1].from >= g.from {
		s.found = s.found[:len(s.found)-1]
	}
	s.part = &hiddenPart{from: g.from, section: g}
}
