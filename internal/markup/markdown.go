package markup

import (
	"html"
	"strings"
	"unicode/utf8"

	nethtml "golang.org/x/net/html"

	"loregate/internal/lazyregexp"
)

// MarkdownText returns the visible words of Markdown, as Text does for HTML: without the signs of
// headings, lists, quotes, callouts, tables, emphasis and code, without HTML tags and comments, with
// the text of a link or else its target. Words in code stay; a nest gives nothing. The lines of a
// paragraph are joined. The cost is linear.
func MarkdownText(content string) string { return Clean(MarkdownPlain(content).Text) }

// MarkdownPlain is MarkdownText, with the places of the words in the content, and without Clean.
func MarkdownPlain(content string) Plain {
	var b plainBuilder
	b.Grow(len(content))
	scanMarkdown(content, markdownSink{
		text: b.add, gap: b.addGap, verbatim: func(on bool) { b.pre = map[bool]int{true: 1}[on] },
	})
	return b.plain()
}

// MarkdownRefs returns the links and nests of Markdown in order, none inside another. They are those of
// Refs, and besides
//
//	![[target]]            a nest
//	[text](note.md)        a link to a note
//	![text](picture.png)   a nest of a file
//
// A target is the name of a card: a folder before it, ".md" and a "#heading" or "#^block" after it
// are left out. Nothing in code is a ref. The cost is linear.
func MarkdownRefs(content string) []Ref {
	var refs []Ref
	scanMarkdown(content, markdownSink{ref: func(r Ref) { refs = append(refs, r) }})
	return refs
}

// markdownSink receives the parts of a Markdown text. Functions may be nil.
type markdownSink struct {
	text     func(text string, start, end int) // visible text, and its place in the content
	gap      func(byte)                        // white space: ' ', '\t' or '\n'
	verbatim func(on bool)                     // the white space of the following text counts, or no longer
	ref      func(Ref)
	code     func(start, end int) // code, with its signs
	heading  func(headingSpan)    // without text; start and end are those of its lines
}

// markdownScanner reads Markdown line by line.
type markdownScanner struct {
	content string
	sink    markdownSink
	fence   string // the signs that opened the present fenced code; "" outside of it
	begun   int    // offset of the line that opened it
	inText  bool   // the line before belongs to a paragraph
	textAt  int    // offset of the first line of that paragraph
	until   int    // everything before this offset is part of a comment or was read already
	skip    hiddenElements
	items   []markdownItem
	opened  []int // places in items of the brackets that are open
	closing cursor
}

// markdownItem is a part of a line. A bracket that turns out to open a link is dropped.
type markdownItem struct {
	start, end int
	text       string
	gap        byte
	dropped    bool
}

func scanMarkdown(content string, sink markdownSink) {
	m := markdownScanner{content: content, sink: sink, closing: cursor{content: content, nextClose: [2]int{-1, -1}}}
	at := 0
	for line := range strings.Lines(content) {
		end := at + len(strings.TrimRight(line, "\r\n"))
		m.readLine(at, end)
		at += len(line)
	}
	if m.fence != "" && sink.code != nil {
		sink.code(m.begun, len(content))
	}
	m.setVerbatim(false)
}

func (m *markdownScanner) gap(g byte) {
	if m.sink.gap != nil {
		m.sink.gap(g)
	}
}

func (m *markdownScanner) setVerbatim(on bool) {
	if m.sink.verbatim != nil {
		m.sink.verbatim(on)
	}
}

var (
	fenceOpening = lineStart{"`~", lazyregexp.New("^(?:`{3,}[^`]*|~{3,}.*)$")}
	onlyRule     = lineStart{"-*_=|: \t",
		lazyregexp.New(`^(?:[-*_=][ \t]*)+$|^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$`)}
	setextLine    = lazyregexp.New(`^ {0,3}(?:=+|-+)[ \t]*$`)
	listMarker    = lineStart{"-*+0123456789", lazyregexp.New(`^(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)`)}
	taskBox       = lazyregexp.New(`^\[[^\[\]]\](?:[ \t]+|$)`)
	headingMarker = lineStart{"#", lazyregexp.New(`^(#{1,6})(?:[ \t]+|$)`)}
	calloutMarker = lazyregexp.New(`^\[![^\]\n]{1,60}\][-+]?[ \t]*`)
	footnoteMark  = lazyregexp.New(`^\[\^[^\]\s]{1,60}\]:?`)
	blockMark     = lazyregexp.New(`(?:^|[ \t])\^[A-Za-z0-9-]+[ \t]*$`)
)

// lineStart is a form of the start of a line, and the characters that such a line may begin with. Few
// lines do, and the regular expression is slow for the others.
type lineStart struct {
	first string
	form  *lazyregexp.Regexp
}

func (l lineStart) canMatch(line string) bool {
	return line != "" && strings.IndexByte(l.first, line[0]) >= 0
}

func (l lineStart) MatchString(line string) bool { return l.canMatch(line) && l.form.MatchString(line) }

// FindStringSubmatch returns nil if the line does not start so, see regexp.
func (l lineStart) FindStringSubmatch(line string) []string {
	if !l.canMatch(line) {
		return nil
	}
	return l.form.FindStringSubmatch(line)
}

// FindString returns the start of the line, or "".
func (l lineStart) FindString(line string) string {
	if !l.canMatch(line) {
		return ""
	}
	return l.form.FindString(line)
}

// readLine reads the line of the content from at to end, without its line end.
func (m *markdownScanner) readLine(at, end int) {
	if m.fence != "" {
		m.readCode(at, end)
		return
	}
	begin, item, quoted := m.afterMarkers(at, end)
	rest := m.content[begin:end]
	switch {
	case strings.TrimSpace(rest) == "":
		m.gap('\n')
		m.inText = false
		return
	case end <= m.until:
		return
	case begin >= m.until && fenceOpening.MatchString(rest):
		m.fence, m.begun, m.inText = rest[:len(rest)-len(strings.TrimLeft(rest, rest[:1]))], at, false
		m.gap('\n')
		return
	case onlyRule.MatchString(rest) && begin >= m.until:
		if m.inText && setextLine.MatchString(m.content[at:end]) {
			m.addHeading(map[byte]int{'=': 1, '-': 2}[strings.TrimLeft(rest, " ")[0]], m.textAt, end)
		}
		m.gap('\n')
		m.inText = false
		return
	}
	marker := headingMarker.FindStringSubmatch(rest)
	if marker != nil && begin >= m.until {
		begin += len(marker[0])
		if !quoted && !item {
			m.addHeading(len(marker[1]), at, end)
		}
	}
	if m.inText && !item && marker == nil {
		m.gap(' ')
	} else {
		m.gap('\n')
	}
	if !m.inText || item {
		m.textAt = at
	}
	m.inText = marker == nil && !(item && quoted)
	m.readInline(max(begin, m.until), end)
	if marker != nil {
		m.gap('\n')
	}
}

func (m *markdownScanner) addHeading(level, start, end int) {
	if m.sink.heading != nil && level > 0 {
		m.sink.heading(headingSpan{level: level, start: start, end: end})
	}
}

// afterMarkers returns the offset after the signs of quotes and lists at the start of a line.
func (m *markdownScanner) afterMarkers(at, end int) (begin int, item, quoted bool) {
	for begin = at; begin < end; {
		rest := m.content[begin:end]
		if space := len(rest) - len(strings.TrimLeft(rest, " \t")); space > 0 {
			begin += space
			continue
		}
		if rest[0] == '>' {
			begin, quoted = begin+1, true
			if mark := calloutMarker.FindString(strings.TrimLeft(m.content[begin:end], " ")); mark != "" {
				begin = end - len(strings.TrimLeft(m.content[begin:end], " ")) + len(mark)
				return begin, true, true
			}
			continue
		}
		mark := listMarker.FindString(rest)
		if mark == "" || onlyRule.MatchString(rest) {
			break
		}
		begin, item = begin+len(mark), true
		begin += len(taskBox.FindString(m.content[begin:end]))
	}
	return begin, item, quoted
}

// readCode reads a line inside fenced code.
func (m *markdownScanner) readCode(at, end int) {
	line := m.content[at:end]
	bare := strings.TrimLeft(line, " \t>")
	if strings.HasPrefix(bare, m.fence) && strings.Trim(bare, m.fence[:1]+" \t") == "" {
		m.fence = ""
		m.gap('\n')
		if m.sink.code != nil {
			m.sink.code(m.begun, end)
		}
		return
	}
	m.gap('\n')
	m.setVerbatim(true)
	if m.sink.text != nil {
		m.sink.text(line, at, end)
	}
	m.setVerbatim(false)
}

// readInline reads the words of a line.
func (m *markdownScanner) readInline(at, end int) {
	if m.sink.text == nil && !strings.ContainsAny(m.content[at:end], "[{`<") {
		return
	}
	if strings.IndexByte(m.content[at:end], '^') >= 0 {
		if mark := blockMark.FindStringIndex(m.content[at:end]); mark != nil {
			end = at + mark[0]
		}
	}
	table := strings.HasPrefix(m.content[at:end], "|")
	m.items, m.opened = m.items[:0], m.opened[:0]
	noTag, noTicks := false, map[int]bool(nil)
	for plain := at; at < end; {
		next, item := m.readSign(at, end, table, &noTag, &noTicks)
		if next == at {
			if i := strings.IndexAny(m.content[at+1:end], "\\`![]*_~=<&{%|"); i >= 0 {
				at += 1 + i
			} else {
				at = end
			}
			item = markdownItem{start: plain, end: at, text: m.content[plain:at]}
		} else {
			at = next
		}
		item.dropped = item.dropped || m.skip.isOpen()
		m.items = append(m.items, item)
		plain = at
	}
	for _, i := range m.items {
		switch {
		case i.gap != 0:
			m.gap(i.gap)
		case !i.dropped && i.text != "" && m.sink.text != nil:
			m.sink.text(i.text, i.start, i.end)
		}
	}
}

// readSign reads the sign at an offset of a line that ends at end. It returns the offset after it, or
// the same offset if there is none.
func (m *markdownScanner) readSign(at, end int, table bool, noTag *bool, noTicks *map[int]bool) (int, markdownItem) {
	s := m.content[at:end]
	item := markdownItem{start: at, dropped: true}
	switch s[0] {
	case '\\':
		if len(s) > 1 && isPunctuation(s[1]) {
			return at + 2, markdownItem{start: at + 1, end: at + 2, text: s[1:2]}
		}
	case '`':
		return m.readTicks(at, end, noTicks)
	case '!', '[':
		return m.readBracket(at, end)
	case ']':
		return m.closeBracket(at, end)
	case '*':
		return at + len(s) - len(strings.TrimLeft(s, "*")), item
	case '_':
		n := len(s) - len(strings.TrimLeft(s, "_"))
		if !m.inWord(at-1, at) || !m.inWord(at+n, end) {
			return at + n, item
		}
	case '~', '=', '%':
		if len(s) > 1 && s[1] == s[0] {
			return at + 2, item
		}
	case '|':
		if table {
			item.gap = '\t'
			return at + 1, item
		}
	case '<':
		return m.readTag(at, end, noTag)
	case '&':
		if n := entityLength(s); n > 0 {
			return at + n, markdownItem{start: at, end: at + n, text: html.UnescapeString(s[:n])}
		}
	case '{':
		return m.readNest(at, end)
	}
	return at, markdownItem{}
}

func isPunctuation(c byte) bool {
	return c > ' ' && c < 0x7f && !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z')
}

// inWord reports whether the character at an offset belongs to a word.
func (m *markdownScanner) inWord(at, end int) bool {
	if at < 0 || at >= max(end, 0) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(m.content[at:])
	if m.content[at] >= utf8.RuneSelf && r == utf8.RuneError {
		r, _ = utf8.DecodeLastRuneInString(m.content[:at+1])
	}
	return isWordRune(r)
}

// readTicks reads inline code. Ticks that are not closed are left out alone.
func (m *markdownScanner) readTicks(at, end int, open *map[int]bool) (int, markdownItem) {
	s := m.content[at:end]
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	for from := ticks; !(*open)[ticks]; {
		i := strings.IndexByte(s[from:], '`')
		if i < 0 {
			if *open == nil {
				*open = map[int]bool{}
			}
			(*open)[ticks] = true
			break
		}
		from += i
		run := len(s[from:]) - len(strings.TrimLeft(s[from:], "`"))
		if from += run; run == ticks {
			if m.sink.code != nil {
				m.sink.code(at, at+from)
			}
			return at + from, markdownItem{start: at + ticks, end: at + from - ticks, text: s[ticks : from-ticks]}
		}
	}
	return at + ticks, markdownItem{start: at, dropped: true}
}

// readTag reads a tag, a comment or an address in angle brackets.
func (m *markdownScanner) readTag(at, end int, none *bool) (int, markdownItem) {
	item := markdownItem{start: at, dropped: true}
	if strings.HasPrefix(m.content[at:], "<!--") {
		m.until = len(m.content)
		if n := strings.Index(m.content[at:], "-->"); n >= 0 {
			m.until = at + n + len("-->")
		}
		return min(m.until, end), item
	}
	if *none {
		return at, item
	}
	n := strings.IndexByte(m.content[at:end], '>')
	if n < 0 {
		*none = true
		return at, item
	}
	inner := m.content[at+1 : at+n]
	if strings.Contains(inner, "://") && !strings.ContainsAny(inner, " \t") {
		return at + n + 1, markdownItem{start: at + 1, end: at + n, text: inner}
	}
	if inner == "" || !opensElement(inner[0]) {
		return at, item
	}
	closing := inner[0] == '/'
	name := strings.ToLower(strings.TrimPrefix(inner, "/"))
	if i := strings.IndexAny(name, " \t/"); i >= 0 {
		name = name[:i]
	}
	m.skip.addTag(name, map[bool]nethtml.TokenType{true: nethtml.EndTagToken, false: nethtml.StartTagToken}[closing])
	if isBlock(name) {
		item.gap = '\n'
	}
	return at + n + 1, item
}

func opensElement(c byte) bool { return c == '/' || c == '!' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// readNest reads {{name|options}}.
func (m *markdownScanner) readNest(at, end int) (int, markdownItem) {
	s := m.content[at:end]
	if !strings.HasPrefix(s, "{{") {
		return at, markdownItem{}
	}
	if m.closing.findClosing(1, at+2, "}}") >= end {
		return at + 2, markdownItem{start: at, end: at + 2, text: "{{"}
	}
	for found := range scanSyntax(s[:min(len(s), maxReference)]) {
		if found.start > 0 || found.kind == linkSpan {
			break
		}
		if found.kind == nestSpan {
			m.addRef(found.toRef(s), at)
		}
		return at + found.end, markdownItem{start: at, dropped: true}
	}
	return at + 2, markdownItem{start: at, end: at + 2, text: "{{"}
}

// addRef adds a ref whose places count from an offset.
func (m *markdownScanner) addRef(r Ref, offset int) {
	if m.sink.ref == nil {
		return
	}
	r.Start, r.End, r.targetStart, r.targetEnd = r.Start+offset, r.End+offset, r.targetStart+offset, r.targetEnd+offset
	m.sink.ref(r)
}
