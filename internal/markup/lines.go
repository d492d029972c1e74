package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// Line is a line of text that HTML shows.
type Line struct {
	Text    string // with its wiki syntax; tags are gone, entities decoded
	Item    bool   // it stands in a list
	Heading bool
}

// Lines returns the visible lines of HTML that are not blank: those that block elements,
// table cells and br make, and those that the text is written in. Unlike Text it keeps the
// line ends of the source, and links as they are written. The cost is linear.
func Lines(content string) []Line {
	var r lineReader
	for t := range tokens(content) {
		switch t.kind {
		case html.TextToken:
			if !r.skip.on() {
				r.write(html.UnescapeString(content[t.start:t.end]))
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			r.skip.see(t.name, t.kind)
			r.tag(t.name, t.kind == html.EndTagToken)
		}
	}
	r.end()
	return r.lines
}

// lineReader gathers lines; the text so far belongs to one that has not ended.
type lineReader struct {
	lines   []Line
	text    strings.Builder
	skip    skipper
	lists   int // open ul and ol
	item    bool
	heading bool
}

func (r *lineReader) write(text string) {
	for {
		line, rest, more := strings.Cut(text, "\n")
		r.text.WriteString(line)
		if !more {
			return
		}
		r.end()
		text = rest
	}
}

func (r *lineReader) end() {
	if text := strings.Join(strings.Fields(Clean(r.text.String())), " "); text != "" {
		r.lines = append(r.lines, Line{text, r.item || r.lists > 0, r.heading})
	}
	r.text.Reset()
}

func (r *lineReader) tag(name string, closing bool) {
	if !isBlock(name) && name != "td" && name != "th" {
		return
	}
	r.end()
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
