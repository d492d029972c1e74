package secrecy

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/markup"
)

// line is a line of a Markdown text, without the signs of the quotes and list items around its content.
type line struct {
	from, next int    // offsets in the text; next is that of the next line
	quotes     int    // number of quotes around it
	indent     int    // of what follows the quotes, in bytes
	item       bool   // a list item begins on it
	text       string // its content as a reader sees it
	plain      bool   // text is as written: without tags, entities and characters that are not ASCII
	isCode     bool   // it is a fence with the code in it
}

var (
	itemForm  = regexp.MustCompile(`^(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[.\][ \t]+)?`)
	inlineTag = regexp.MustCompile(`<[/A-Za-z!][^<>]{0,1000}>`)
	wideColon = strings.NewReplacer("：", ": ", "︓", ": ", "﹕", ": ")
)

// readLine reads the line at an offset of a text.
func readLine(text string, at int) line {
	written, _, _ := strings.Cut(text[at:], "\n")
	l := line{from: at, next: min(at+len(written)+1, len(text)), plain: true}
	if strings.ContainsAny(written, "<&") || !isASCII(written) {
		l.plain = false
		written = shown(written)
	}
	l.quotes, l.text = quoteDepth(written)
	l.indent = len(written) - len(l.text)
	if i := strings.LastIndexByte(written[:l.indent], '>'); i >= 0 {
		l.indent -= i + 1
	}
	for l.text != "" && strings.IndexByte("-*+0123456789", l.text[0]) >= 0 {
		sign := itemForm.FindString(l.text)
		if sign == "" {
			break
		}
		l.item = true
		n, rest := quoteDepth(l.text[len(sign):])
		l.quotes, l.text = l.quotes+n, rest
	}
	l.text = strings.TrimRight(l.text, " \t\r")
	return l
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// shown returns a line of a text as a reader sees it: without tags, entities and unseen characters, and with plain
// spaces and letters.
func shown(s string) string {
	if strings.Contains(s, "<") {
		s = inlineTag.ReplaceAllString(s, "")
	}
	s = norm.NFKC.String(wideColon.Replace(markup.Clean(html.UnescapeString(s))))
	return strings.NewReplacer("\n", " ").Replace(s)
}

// quoteDepth returns the number of quotes at the beginning of a line, and the line after them.
func quoteDepth(s string) (n int, rest string) {
	for i := range len(s) {
		switch s[i] {
		case '>':
			n++
		case ' ', '\t':
		default:
			return n, s[i:]
		}
	}
	return n, ""
}

var (
	headingForm   = regexp.MustCompile(`^(#{1,6})[ \t]+(.*?)[ \t]*#*$`)
	closeHeading  = regexp.MustCompile(`^(#{2,6})(\pL.*?)[ \t]*#*$`)
	underlineForm = regexp.MustCompile(`^(?:=+|-{2,})$`)
	elementHead   = regexp.MustCompile(`(?is)^<h([1-6])\b[^>]{0,1000}>(.{0,400})`)
)

// headingOf returns the level and text of a heading of Markdown or HTML that begins on a line of a text, which
// after follows. The level is 0 if there is none.
func headingOf(text string, l, after line) (level int, title string) {
	if strings.HasPrefix(l.text, "#") {
		if m := headingForm.FindStringSubmatch(l.text); m != nil {
			return len(m[1]), m[2]
		}
		if m := closeHeading.FindStringSubmatch(l.text); m != nil && isExact(m[2]) {
			return len(m[1]), m[2]
		}
	}
	if !l.plain {
		if i := strings.Index(asciiLower(text[l.from:l.next]), "<h"); i >= 0 {
			at := l.from + i
			if m := elementHead.FindStringSubmatch(text[at:min(len(text), at+1500)]); m != nil {
				title, _, _ = strings.Cut(asciiLower(m[2]), "</h")
				return int(m[1][0] - '0'), shown(title)
			}
		}
	}
	if after.text == "" || strings.IndexByte("=-", after.text[0]) < 0 {
		return 0, ""
	}
	if underlineForm.MatchString(after.text) && after.quotes == l.quotes && l.text != "" && !l.item && !after.item &&
		l.text[0] != '|' {
		if after.text[0] == '=' {
			return 1, l.text
		}
		return 2, l.text
	}
	return 0, ""
}
