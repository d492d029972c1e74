package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// Line is one visible line of HTML.
type Line struct {
	Text    string // with its wiki syntax; tags are removed, entities decoded
	Item    bool   // the line is in a list
	Heading bool
}

// Lines returns the visible lines of HTML that are not blank. Block elements, table cells, br and
// the line ends of the source separate lines. Unlike Text it keeps the line ends of the source and
// the links as written. The cost is linear.
func Lines(content string) []Line {
	var r lineReader
	for t := range tokensOf(content) {
		switch t.kind {
		case html.TextToken:
			if !r.skip.isOpen() {
				r.addText(html.UnescapeString(content[t.start:t.end]))
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			r.skip.addTag(t.name, t.kind)
			r.addTag(t.name, t.kind == html.EndTagToken)
		}
	}
	r.endLine()
	return r.lines
}

// lineReader collects lines. text is the unfinished line.
type lineReader struct {
	lines   []Line
	text    strings.Builder
	skip    hiddenElements
	lists   int // number of open ul and ol
	item    bool
	heading bool
}

func (r *lineReader) addText(text string) {
	for {
		line, rest, more := strings.Cut(text, "\n")
		r.text.WriteString(line)
		if !more {
			return
		}
		r.endLine()
		text = rest
	}
}

func (r *lineReader) endLine() {
	if text := strings.Join(strings.Fields(Clean(r.text.String())), " "); text != "" {
		r.lines = append(r.lines, Line{text, r.item || r.lists > 0, r.heading})
	}
	r.text.Reset()
}

func (r *lineReader) addTag(name string, closing bool) {
	if !isBlock(name) && name != "td" && name != "th" {
		return
	}
	r.endLine()
	switch name {
	case "ul", "ol":
		if !closing {
			r.lists++
		} else if r.lists > 0 {
			r.lists--
		}
	case "li":
		r.item = !closing
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.heading = !closing
	default:
		return
	}
	if name != "li" && r.lists == 0 {
		r.item = false
	}
}
