package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// splitMarkdown returns the blocks of Markdown: parts between blank lines that do not stand in a list
// or in code, and headings. White space between blocks belongs to none.
func splitMarkdown(content string) (blocks []textSpan) {
	fence, comment := "", false
	list, open := false, false // in a list; a block is open
	blank := true
	at := 0
	for line := range strings.Lines(content) {
		start, bare := at, strings.TrimRight(line, " \t\r\n")
		at += len(line)
		text := strings.TrimLeft(bare, " ")
		inside := fence != "" || comment
		item := listMarker.MatchString(text) && len(bare)-len(text) < 4
		indented := bare != text || strings.HasPrefix(bare, "\t")
		heading := !inside && len(bare)-len(text) < 4 && headingMarker.MatchString(text)
		switch {
		case text == "" && !inside:
			blank = true
			continue
		case inside:
		case !open, heading, blank && !(list && (item || indented)) && !(indented && len(bare)-len(text) >= 4):
			blocks = append(blocks, textSpan{start, start})
			list = item
		}
		open = !heading || inside
		blank = false
		switch {
		case fence != "":
			if strings.HasPrefix(text, fence) && strings.Trim(text, fence[:1]) == "" {
				fence = ""
			}
		case comment:
			comment = !strings.Contains(line, "-->")
		case fenceOpening.MatchString(text):
			fence = text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
		default:
			i := strings.LastIndex(line, "<!--")
			comment = i >= 0 && !strings.Contains(line[i:], "-->")
		}
		blocks[len(blocks)-1].end = start + len(bare)
	}
	return blocks
}

// splitHTML returns the blocks of HTML: the outermost block elements, and the runs of text between
// them. White space between blocks belongs to none.
func splitHTML(content string) (blocks []textSpan) {
	depth, start := 0, -1
	end := func(at int) {
		if start >= 0 {
			text := content[start:at]
			lead := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
			if span := (textSpan{start + lead, start + len(strings.TrimRight(text, " \t\r\n"))}); span.start < span.end {
				blocks = append(blocks, span)
			}
		}
		start = -1
	}
	for t := range tokensOf(content) {
		block := t.name != "" && isBlock(t.name) && t.name != "br"
		if block && depth == 0 {
			end(t.start)
		}
		if start < 0 {
			start = t.start
		}
		switch {
		case !block || isVoid(t.name):
		case t.kind == html.StartTagToken:
			depth++
		case t.kind == html.EndTagToken && depth > 0:
			depth--
		}
		if block && depth == 0 {
			end(t.end)
		}
	}
	end(len(content))
	return blocks
}

// tidyHTML puts each block of HTML on lines of its own.
func tidyHTML(content string) string {
	var b strings.Builder
	for i, span := range splitHTML(content) {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(content[span.start:span.end])
	}
	return b.String()
}
