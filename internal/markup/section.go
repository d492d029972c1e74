package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// replaceSection replaces the text under a heading, from the end of the heading's tag to the next
// heading of any level. With IncludeNested it ends at the next heading of the same or a higher
// level. It never extends beyond the element that contains the heading. Headings are compared
// without case and accents. If the new content begins with the same heading, it replaces the
// heading too.
func (p Patch) replaceSection(content string) (Result, error) {
	all := findHeadings(content)
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
		return Result{}, patchFault("heading", "No heading has this text; the outline of the card lists them.")
	case n > 1:
		return Result{}, patchFault("heading", "%d headings have this text; use replace_between.", n)
	}
	h := all[at]
	start, end := h.end, len(content)
	for _, next := range all[at+1:] {
		if !p.IncludeNested || next.level <= h.level {
			end = next.start
			break
		}
	}
	end = withinElement(content, start, end)
	if own := findHeadings(p.Content); len(own) > 0 && isSameHeading(own[0].text, h.text) &&
		strings.TrimSpace(p.Content[:own[0].start]) == "" {
		start = h.start
	}
	return Result{Content: content[:start] + p.Content + content[end:], Matches: 1}, nil
}

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
