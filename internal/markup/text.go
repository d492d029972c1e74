package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Text returns the visible words of a card's content. It drops tags, comments, scripts, styles and
// templates, and decodes entities. Outside pre, runs of white space become one space. Block
// elements and br begin a new line; tabs separate table cells. A link gives its text or else its
// target, a nest nothing, an escaped bracket pair the pair. The result is clean as defined by
// Clean. It may contain '<', so callers must escape it in HTML. The cost is linear.
func Text(content string) string {
	var b textBuilder
	b.Grow(len(content))
	eachText(content, b.addTag, b.addText)
	return Clean(strings.TrimRight(b.String(), "\n\t "))
}

// eachText calls tag for each visible tag of content and text for each visible piece of decoded
// text. Links and nests are replaced as in Text.
func eachText(content string, tag func(name string), text func(string)) {
	content = readableText(content)
	if strings.IndexByte(content, '<') < 0 && strings.IndexByte(content, '&') < 0 { // there is no markup
		text(content)
		return
	}
	z := html.NewTokenizer(strings.NewReader(content))
	var skip hiddenElements
	for {
		switch tt := z.Next(); tt {
		case html.ErrorToken:
			return
		case html.TextToken:
			if !skip.isOpen() {
				text(html.UnescapeString(string(z.Raw())))
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			raw, _ := z.TagName()
			name := string(raw)
			skip.addTag(name, tt)
			if !skip.isOpen() {
				if tt == html.EndTagToken {
					name = "/" + name
				}
				tag(name)
			}
		}
	}
}

// hiddenElements counts the open elements whose content is not visible.
type hiddenElements struct{ depth int }

func (s *hiddenElements) isOpen() bool { return s.depth > 0 }

func (s *hiddenElements) addTag(name string, tt html.TokenType) {
	switch name {
	case "script", "style", "template", "noscript", "iframe", "noembed", "noframes", "title":
	default:
		return
	}
	switch {
	case tt == html.StartTagToken:
		s.depth++
	case tt == html.EndTagToken && s.depth > 0:
		s.depth--
	}
}

// readableText replaces wiki syntax by its visible text.
func readableText(content string) string {
	var b strings.Builder
	done := 0
	for s := range scanSyntax(content) {
		b.WriteString(content[done:s.start])
		done = s.end
		switch s.kind {
		case escapeSpan:
			b.WriteString(content[s.start+1 : s.end])
		case linkSpan:
			r := s.toRef(content)
			if text := strings.TrimSpace(r.Text); text != "" {
				b.WriteString(text)
			} else {
				b.WriteString(r.Target)
			}
		}
	}
	if done == 0 {
		return content
	}
	b.WriteString(content[done:])
	return b.String()
}

// textBuilder joins words into lines.
type textBuilder struct {
	strings.Builder
	gap byte // pending white space before the next word: 0, ' ', '\t' or '\n'
	pre int  // number of open pre elements
}

func (b *textBuilder) addTag(name string) {
	switch bare := strings.TrimPrefix(name, "/"); {
	case bare == "td" || bare == "th":
		b.addGap('\t')
	case isBlock(bare):
		b.addGap('\n')
		if bare == "pre" && name == bare {
			b.pre++
		} else if bare == "pre" && b.pre > 0 {
			b.pre--
		}
	}
}

// addGap sets the pending gap if the new one is wider.
func (b *textBuilder) addGap(gap byte) {
	if gapWidth(gap) > gapWidth(b.gap) {
		b.gap = gap
	}
}

func gapWidth(gap byte) int {
	switch gap {
	case ' ':
		return 1
	case '\t':
		return 2
	case '\n':
		return 3
	}
	return 0
}

func (b *textBuilder) addText(text string) {
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // each invalid byte becomes U+FFFD
	}
	for text != "" {
		if end := wordsEnd(text); end > 0 {
			b.writeGap()
			b.WriteString(text[:end])
			text = text[end:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		if b.pre > 0 && b.Len() > 0 {
			b.writeGap()
			b.WriteRune(r)
		} else {
			b.addGap(' ')
		}
		text = text[size:]
	}
}

// wordEnd returns the offset of the first white space, or len(text).
func wordEnd(text string) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			if rest := strings.IndexFunc(text[i:], unicode.IsSpace); rest >= 0 {
				return i + rest
			}
			return len(text)
		case c == ' ' || c >= '\t' && c <= '\r':
			return i
		}
	}
	return len(text)
}

// wordsEnd returns the end of the leading words that are separated by single spaces.
func wordsEnd(text string) int {
	end := wordEnd(text)
	for end > 0 && end+1 < len(text) && text[end] == ' ' {
		next := wordEnd(text[end+1:])
		if next == 0 {
			break
		}
		end += 1 + next
	}
	return end
}

// writeGap writes the pending gap, except before the first word.
func (b *textBuilder) writeGap() {
	if b.gap != 0 && b.Len() > 0 {
		b.WriteByte(b.gap)
	}
	b.gap = 0
}

func isBlock(tag string) bool {
	switch tag {
	case "address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt",
		"fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
		"hr", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul":
		return true
	}
	return false
}

// OneLine returns clean text on one line, with single spaces between words.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Clean makes text safe to pass on to people and models. It removes control characters except
// newline and tab, bidirectional controls, tag characters, and other characters without a glyph,
// which could hide or reorder words. Joiners are kept between letters that they shape and between
// emoji, and a presentation selector is kept after its symbol. Invalid UTF-8 becomes U+FFFD; CR,
// CRLF and the line separators become newline. It is idempotent and ignores markup: entities are
// kept.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	runes := []rune(strings.ReplaceAll(s, "\r\n", "\n"))
	out := runes[:0:len(runes)]
	for i, r := range runes {
		switch {
		case r == '\r' || r == '\u2028' || r == '\u2029':
			out = append(out, '\n')
		case unicode.IsControl(r) && r != '\n' && r != '\t':
		case isUnseen(r) && !isNeededAfter(out, runes[i:]):
		default:
			out = append(out, r)
		}
	}
	return string(out)
}

// isNeededAfter is isNeeded for rest[0], where before is already cleaned.
func isNeededAfter(before, rest []rune) bool {
	if len(before) == 0 {
		return false
	}
	around := []rune{before[len(before)-1], rest[0]}
	if len(rest) > 1 {
		around = append(around, rest[1])
	}
	return isNeeded(around, 1)
}

// isClean reports whether Clean would leave s unchanged. It returns false if that depends on
// neighbouring characters.
func isClean(s string) bool {
	seen := 0 // length of the prefix of clean ASCII characters
	for seen < len(s) && (s[seen] >= ' ' && s[seen] < 0x7f || s[seen] == '\n' || s[seen] == '\t') {
		seen++
	}
	s = s[seen:]
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
		case r < ' ' || r == 0x7f:
			return false
		case r < 0x7f:
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			return false
		case unicode.IsControl(r), r == '\u2028', r == '\u2029', isUnseen(r):
			return false
		}
	}
	return true
}

// Heading is one heading of a card.
type Heading struct {
	Level  int    // 1 to 6
	Text   string // visible text on one line
	Offset int    // number of characters of the content before the heading's tag
}

// Outline returns the headings of HTML content in order. An unclosed heading ends where the next
// one begins. The cost is linear.
func Outline(content string) []Heading {
	var out []Heading
	for _, h := range findHeadings(content) {
		out = append(out, Heading{h.level, h.text, h.offset})
	}
	return out
}

// headingSpan is a heading with its byte range.
type headingSpan struct {
	level      int
	text       string
	offset     int // number of characters before it
	start, end int // byte range of the whole element
}

func findHeadings(content string) []headingSpan {
	var out []headingSpan
	var skip hiddenElements
	open := -1 // index in out of the current heading
	counted, offset := 0, 0
	closeAt := func(innerEnd, end, from int) {
		out[open].text = strings.Join(strings.Fields(Text(content[from:innerEnd])), " ")
		out[open].end = end
		open = -1
	}
	inner := 0
	for t := range tokensOf(content) {
		skip.addTag(t.name, t.kind)
		level := headingLevel(t.name)
		if level == 0 || skip.isOpen() {
			continue
		}
		if open >= 0 {
			end := t.start
			if t.kind == html.EndTagToken {
				end = t.end
			}
			closeAt(t.start, end, inner)
		}
		if t.kind == html.StartTagToken {
			offset += utf8.RuneCountInString(content[counted:t.start])
			counted = t.start
			out = append(out, headingSpan{level: level, offset: offset, start: t.start})
			open, inner = len(out)-1, t.end
		}
	}
	if open >= 0 {
		closeAt(len(content), len(content), inner)
	}
	return out
}

func headingLevel(tag string) int {
	if len(tag) == 2 && tag[0] == 'h' && '1' <= tag[1] && tag[1] <= '6' {
		return int(tag[1] - '0')
	}
	return 0
}

// token is one tag, comment or run of text with its byte range.
type token struct {
	kind       html.TokenType
	name       string // name of a tag in lower case
	start, end int
}

// tokensOf yields the tokens of HTML. Their ranges are contiguous and cover the whole content.
func tokensOf(content string) func(yield func(token) bool) {
	return func(yield func(token) bool) {
		z := html.NewTokenizer(strings.NewReader(content))
		at := 0
		for {
			kind := z.Next()
			t := token{kind: kind, start: at, end: at + len(z.Raw())}
			if kind == html.ErrorToken {
				if t.start = at; at < len(content) {
					yield(token{html.TextToken, "", at, len(content)})
				}
				return
			}
			if kind == html.StartTagToken || kind == html.EndTagToken || kind == html.SelfClosingTagToken {
				name, _ := z.TagName()
				t.name = string(name)
			}
			at = t.end
			if !yield(t) {
				return
			}
		}
	}
}
