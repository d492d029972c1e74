package mediawiki

import (
	"html"
	"strings"

	"loregate/internal/exchange/record"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// text is the wikitext of a page, divided into its parts.
type text struct {
	body       string // without categories and infobox
	categories []string
	fields     map[string]any // of the first infobox
	redirect   string
}

// words are the names of a wiki's categories, in its language too.
type words struct{ category, file []string }

var redirectForm = lazyregexp.New(`(?i)^\s*#\s*[\p{L}]+\s*:?\s*\[\[([^\]|#\n]+)`)

// splitText divides the wikitext of a page.
func splitText(source string, w words) (t text) {
	if m := redirectForm.FindStringSubmatch(source); m != nil {
		t.redirect = strings.TrimSpace(strings.ReplaceAll(m[1], "_", " "))
		return t
	}
	t.body, t.fields = takeInfobox(source)
	t.body = linkForm.ReplaceAllStringFunc(t.body, func(link string) string {
		inner := strings.TrimSuffix(strings.TrimPrefix(link, "[["), "]]")
		space, rest, ok := strings.Cut(inner, ":")
		switch {
		case !ok || !hasWord(w.category, space):
			return link
		default:
			name, _, _ := strings.Cut(rest, "|")
			t.categories = append(t.categories, strings.TrimSpace(strings.ReplaceAll(name, "_", " ")))
			return ""
		}
	})
	return t
}

func hasWord(list []string, word string) bool {
	for _, w := range list {
		if strings.EqualFold(w, strings.TrimSpace(word)) {
			return true
		}
	}
	return false
}

// takeInfobox takes the first template off that stands at the beginning of a line and has named values.
func takeInfobox(source string) (rest string, fields map[string]any) {
	start := strings.Index(source, "{{")
	if start < 0 || start > 0 && source[start-1] != '\n' {
		return source, nil
	}
	end := endOfTemplate(source, start)
	if end < 0 {
		return source, nil
	}
	parts := splitTemplate(source[start+2 : end-2])
	values := map[string]any{}
	for _, p := range parts[1:] {
		if k, v, ok := strings.Cut(p, "="); ok && strings.TrimSpace(k) != "" && strings.TrimSpace(v) != "" {
			values[strings.TrimSpace(k)] = plainValue(v)
		}
	}
	name := strings.TrimSpace(parts[0])
	if len(values) < 2 || !strings.Contains(strings.ToLower(name), "infobox") && len(values) < 4 {
		return source, nil
	}
	values["infobox"] = name
	return source[:start] + source[end:], values
}

// endOfTemplate returns the position after the braces that close the template at start, or -1.
func endOfTemplate(s string, start int) int {
	depth := 0
	for i := start; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "{{":
			depth++
			i++
		case "}}":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// splitTemplate splits the inside of a template at the bars that stand in no link and no inner template.
func splitTemplate(s string) (parts []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "{{") || strings.HasPrefix(s[i:], "[["):
			depth++
			i++
		case strings.HasPrefix(s[i:], "}}") || strings.HasPrefix(s[i:], "]]"):
			depth--
			i++
		case s[i] == '|' && depth == 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// plainValue returns a value of an infobox without markup.
func plainValue(v string) string {
	v = linkForm.ReplaceAllStringFunc(v, func(link string) string {
		inner := link[2 : len(link)-2]
		return inner[strings.LastIndexByte(inner, '|')+1:]
	})
	v = tagForm.ReplaceAllString(strings.NewReplacer("'''", "", "''", "", "<br>", ", ", "<br/>", ", ", "<br />",
		", ").Replace(v), "")
	return strings.TrimSpace(html.UnescapeString(v))
}

var (
	linkForm    = lazyregexp.New(`\[\[[^\[\]\n]+\]\]`)
	tagForm     = lazyregexp.New(`<[^>]*>`)
	commentForm = lazyregexp.New(`(?s)<!--.*?-->`)
	refForm     = lazyregexp.New(`(?s)<ref[^>/]*/>|<ref[^>]*>.*?</ref>`)
	headingForm = lazyregexp.New(`^(={1,6})\s*(.+?)\s*={1,6}\s*$`)
	besideForm  = lazyregexp.New(commentForm.String() + "|" + refForm.String())
	htmlHeading = lazyregexp.New(`(?m)^<h([1-6])>(.*?)</h[1-6]>$`)
	outerLink   = lazyregexp.New(`\[(https?://[^\s\]]+)(?:\s+([^\]]+))?\]`)
	boldForm    = lazyregexp.New(`'''(.+?)'''`)
	italicForm  = lazyregexp.New(`''(.+?)''`)
)

// toHTML converts wikitext to HTML: headings, paragraphs, lists, emphasis and links. Templates and tables
// stay as they are written.
func toHTML(source string, link func(target, label string) string) string {
	var b strings.Builder
	var paragraph []string
	list := ""
	endList := func() {
		if list == "" {
			return
		}
		for i := len(list) - 1; i >= 0; i-- {
			b.WriteString(map[byte]string{'*': "</ul>", '#': "</ol>"}[list[i]])
		}
		list = ""
		b.WriteString("\n")
	}
	end := func() {
		if len(paragraph) > 0 {
			b.WriteString("<p>" + strings.Join(paragraph, "\n") + "</p>\n")
			paragraph = nil
		}
	}
	table := 0
	var rows []string
	for line := range strings.Lines(refForm.ReplaceAllString(commentForm.ReplaceAllString(source, ""), "")) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "{|") || table > 0 {
			table += strings.Count(trimmed, "{|") - strings.Count(" "+trimmed, "|}")
			if rows = append(rows, inline(line, link)); table <= 0 {
				end()
				b.WriteString("<pre>" + strings.Join(rows, "\n") + "</pre>\n")
				rows, table = nil, 0
			}
			continue
		}
		if m := headingForm.FindStringSubmatch(trimmed); m != nil {
			end()
			endList()
			n := string(rune('0' + len(m[1])))
			b.WriteString("<h" + n + ">" + inline(m[2], link) + "</h" + n + ">\n")
			continue
		}
		marks := line[:len(line)-len(strings.TrimLeft(line, "*#"))]
		if marks == "" {
			endList()
			if trimmed == "" {
				end()
			} else {
				paragraph = append(paragraph, inline(strings.TrimLeft(trimmed, ":;"), link))
			}
			continue
		}
		end()
		marks = marks[:min(len(marks), 6)]
		b.WriteString(openLists(list, marks))
		list = marks
		b.WriteString("<li>" + inline(strings.TrimSpace(line[len(marks):]), link) + "</li>")
	}
	paragraph = append(paragraph, rows...)
	end()
	endList()
	return strings.TrimSpace(b.String()) + "\n"
}

// openLists returns the tags that lead from one nesting of lists to another.
func openLists(from, to string) string {
	var b strings.Builder
	same := 0
	for same < len(from) && same < len(to) && from[same] == to[same] {
		same++
	}
	for i := len(from) - 1; i >= same; i-- {
		b.WriteString(map[byte]string{'*': "</ul>", '#': "</ol>"}[from[i]])
	}
	for i := same; i < len(to); i++ {
		b.WriteString(map[byte]string{'*': "<ul>", '#': "<ol>"}[to[i]])
	}
	return b.String()
}

// inline converts the markup of one line. Everything that is not known is escaped.
func inline(line string, link func(target, label string) string) string {
	var kept record.Kept
	line = record.WithoutMarks(markup.Clean(line))
	line = linkForm.ReplaceAllStringFunc(line, func(m string) string {
		target, label, _ := strings.Cut(m[2:len(m)-2], "|")
		return kept.Keep(link(strings.TrimSpace(target), strings.TrimSpace(label)))
	})
	line = outerLink.ReplaceAllStringFunc(line, func(m string) string {
		parts := outerLink.FindStringSubmatch(m)
		if parts[2] == "" {
			parts[2] = parts[1]
		}
		return kept.Keep(`<a href="` + html.EscapeString(parts[1]) + `">` + kept.Restore(html.EscapeString(parts[2])) + "</a>")
	})
	line = html.EscapeString(tagForm.ReplaceAllString(line, ""))
	line = strings.ReplaceAll(line, "&#39;", "'")
	line = boldForm.ReplaceAllString(line, "<b>$1</b>")
	line = italicForm.ReplaceAllString(line, "<i>$1</i>")
	return kept.Restore(strings.NewReplacer("{{", "&#123;&#123;", "[[", "&#91;&#91;").Replace(line))
}
