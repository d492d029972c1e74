package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// section replaces what stands under a heading: from behind the heading's tag to
// the next heading of any level, or with IncludeNested to the next of the same or
// a higher one; in both cases no further than the end of the element that the
// heading stands in. Headings are compared without case and accents. New content
// that begins with a heading of the same text takes the place of the heading too.
func (p Patch) section(content string) (Result, error) {
	all := headings(content)
	at, n := -1, 0
	for i, h := range all {
		if sameHeading(h.text, p.Heading) {
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
	if own := headings(p.Content); len(own) > 0 && sameHeading(own[0].text, h.text) && strings.TrimSpace(p.Content[:own[0].start]) == "" {
		start = h.start
	}
	return Result{Content: content[:start] + p.Content + content[end:], Matches: 1}, nil
}

func sameHeading(a, b string) bool {
	return strings.Join(strings.Fields(Fold(a)), " ") == strings.Join(strings.Fields(Fold(readable(b))), " ")
}

// withinElement draws end in to where the element around start closes.
func withinElement(content string, start, end int) int {
	depth := 0
	for t := range tokens(content[start:end]) {
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

// isContainer tells of elements that must be closed, so that counting them is
// sound.
func isContainer(tag string) bool {
	switch tag {
	case "div", "section", "article", "aside", "main", "header", "footer", "nav", "blockquote", "details",
		"figure", "ul", "ol", "dl", "table", "td", "th", "body", "form", "fieldset":
		return true
	}
	return false
}
