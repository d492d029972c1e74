package markup

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"loregate/internal/lazyregexp"
)

// replaceSection replaces the text under a heading, from the end of the heading's tag to the next
// heading of any level. With IncludeNested it ends at the next heading of the same or a higher
// level. It never extends beyond the element that contains the heading. Headings are compared
// without case and accents. If the new content begins with the same heading, it replaces the
// heading too.
func (p Patch) replaceSection(content string) (Result, error) {
	h, end, err := p.findSection(findHeadings(content), len(content))
	if err != nil {
		return Result{}, err
	}
	start := h.end
	end = withinElement(content, start, end)
	if own := findHeadings(p.Content); len(own) > 0 && isSameHeading(own[0].text, h.text) &&
		strings.TrimSpace(p.Content[:own[0].start]) == "" {
		start = h.start
	}
	return Result{Content: content[:start] + p.Content + content[end:], Matches: 1}, nil
}

// findSection returns the heading of the section and the end of the section, in a text of a size.
func (p Patch) findSection(all []headingSpan, size int) (h headingSpan, end int, err error) {
	at, n := -1, 0
	for i, h := range all {
		if isSameHeading(h.text, p.Heading) {
			if n++; at < 0 {
				at = i
			}
		}
	}
	switch {
	case n == 0:
		return h, 0, patchFault("heading", "No heading has this text; the outline of the card lists them.")
	case n > 1:
		return h, 0, patchFault("heading", "%d headings have this text; use replace_between.", n)
	}
	h = all[at]
	for _, next := range all[at+1:] {
		if !p.IncludeNested || next.level <= h.level {
			return h, next.start, nil
		}
	}
	return h, size, nil
}

// replaceMarkdownSection is replaceSection for Markdown. The text begins on the line after the heading. A
// new text gets a blank line before the next heading if it does not end with a line end.
func (p Patch) replaceMarkdownSection(content string) (Result, error) {
	h, end, err := p.findSection(markdownHeadings(content), len(content))
	if err != nil {
		return Result{}, err
	}
	start := end
	if line := strings.IndexByte(content[h.end:end], '\n'); line >= 0 {
		start = h.end + line + 1
	}
	if own := markdownHeadings(p.Content); len(own) > 0 && own[0].start == 0 && isSameHeading(own[0].text, h.text) {
		start = h.start
	}
	head, text := content[:start], p.Content
	if text != "" && head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	if text != "" && end < len(content) && !strings.HasSuffix(text, "\n") {
		text += "\n\n"
	}
	return Result{Content: head + text + content[end:], Matches: 1}, nil
}

// MarkdownOutline is Outline for Markdown: the lines that begin with '#' or are underlined, outside of
// code, lists and quotes.
func MarkdownOutline(content string) []Heading {
	var out []Heading
	for _, h := range markdownHeadings(content) {
		out = append(out, Heading{h.level, h.text, h.offset})
	}
	return out
}

func markdownHeadings(content string) (all []headingSpan) {
	counted, offset := 0, 0
	scanMarkdown(content, markdownSink{heading: func(h headingSpan) {
		offset += utf8.RuneCountInString(content[counted:h.start])
		counted = h.start
		h.offset = offset
		h.text = OneLine(closingSigns.ReplaceAllString(MarkdownText(content[h.start:h.end]), ""))
		all = append(all, h)
	}})
	return all
}

// closingSigns are the signs that may end a heading.
var closingSigns = lazyregexp.New(`(?:^|[ \t])#+$`)

func isSameHeading(a, b string) bool {
	return strings.Join(strings.Fields(Fold(a)), " ") == strings.Join(strings.Fields(Fold(readableText(b))), " ")
}

// withinElement reduces end to the offset where the element around start is closed.
func withinElement(content string, start, end int) int {
	depth := 0
	for t := range tokensOf(content[start:end]) {
		if !isContainer(t.name) {
			continue
		}
		switch t.kind {
		case html.StartTagToken:
			depth++
		case html.EndTagToken:
			if depth--; depth < 0 {
				return start + t.start
			}
		}
	}
	return end
}

// isContainer reports whether an element must have an end tag, so that counting its tags gives the
// depth.
func isContainer(tag string) bool {
	switch tag {
	case "div", "section", "article", "aside", "main", "header", "footer", "nav", "blockquote", "details",
		"figure", "ul", "ol", "dl", "table", "td", "th", "body", "form", "fieldset":
		return true
	}
	return false
}
