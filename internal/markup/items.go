package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// Items returns the names in a Pointer, List or tags card, as written, in order: the li elements if
// there are any, otherwise the lines. It removes the brackets around an item, a link text in them,
// and a list sign ("- " or "* ") before it. Lines may be inside p or div or end with br. Blank
// items are left out; repeated ones are kept.
func Items(content string) []string {
	var out []string
	for _, e := range findEntries(content) {
		out = append(out, e.name)
	}
	return out
}

// SetItems returns content that lists the items as "[[item]]", one per line, without blank items
// and items with the same key as an earlier one.
func SetItems(items []string) string {
	seen := map[Key]bool{}
	var lines []string
	for _, item := range items {
		if line := itemLine(item); line != "" && !seen[KeyOf(itemName(line))] {
			seen[KeyOf(itemName(line))] = true
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// AddItems removes the items in remove from content and appends the items in add that it does not
// contain yet. Items are compared by key; an item in both lists moves to the end. Other items keep
// their order and their bytes, and content that needs no change is returned unchanged. A list of li
// elements remains one.
func AddItems(content string, add, remove []string) string {
	gone := map[Key]bool{}
	for _, r := range remove {
		gone[KeyOf(itemName(r))] = true
	}
	found := findEntries(content)
	have := map[Key]bool{}
	var b strings.Builder
	done, insert := 0, len(content)
	for _, e := range found {
		if gone[KeyOf(e.name)] {
			b.WriteString(content[done:e.start])
			done = e.end
			continue
		}
		have[KeyOf(e.name)] = true
		insert = e.end
	}
	listed := len(found) > 0 && found[0].listed
	switch {
	case !listed:
		insert = len(content)
	case len(have) == 0 || insert < done: // the last elements were removed
		insert = done
	}
	b.WriteString(content[done:insert])
	addEntries(&b, add, have, listed)
	b.WriteString(content[insert:])
	if !listed && len(gone) > 0 {
		return strings.TrimRight(b.String(), "\n")
	}
	return b.String()
}

func addEntries(b *strings.Builder, add []string, have map[Key]bool, listed bool) {
	for _, a := range add {
		line := itemLine(a)
		key := KeyOf(itemName(line))
		if line == "" || have[key] {
			continue
		}
		have[key] = true
		if listed {
			b.WriteString("<li>" + html.EscapeString(line) + "</li>")
			continue
		}
		if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
}

var withoutPairs = strings.NewReplacer("[[", "", "]]", "")

// itemLine formats an item as a line. It returns "" for an item without a name.
func itemLine(item string) string {
	name := itemName(strings.Join(strings.Fields(item), " "))
	name = strings.TrimSpace(withoutPairs.Replace(name))
	if name == "" {
		return ""
	}
	return "[[" + name + "]]"
}

// itemName removes the list sign, the brackets and the link text from a line.
func itemName(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") {
		line = strings.TrimSpace(line[2:])
	}
	if strings.HasPrefix(line, "[[") && strings.HasSuffix(line, "]]") && len(line) >= 4 {
		line = strings.TrimSpace(beforeBar(line[2 : len(line)-2]))
	}
	return line
}

// entry is an item with its position. The range of a line includes its newline, the range of an li
// its tags.
type entry struct {
	name       string
	listed     bool
	start, end int
}

func findEntries(content string) []entry {
	if found, any := listEntries(content); any {
		return found
	}
	var out []entry
	at := 0
	for line := range strings.Lines(content) {
		start := at
		at += len(line)
		if row := linkRow(line); row != nil {
			for _, r := range row {
				out = append(out, entry{r.Target, false, start + r.Start, start + r.End})
			}
			continue
		}
		if name := itemName(lineText(line)); name != "" {
			out = append(out, entry{name, false, start, at})
		}
	}
	return out
}

// linkRow returns the links of a line that contains several links and otherwise only tags, spaces
// and commas, as in a paragraph converted from Markdown. It returns nil for other lines.
func linkRow(line string) []Ref {
	refs := Refs(line)
	if len(refs) < 2 {
		return nil
	}
	var between strings.Builder
	done := 0
	for _, r := range refs {
		if r.Kind != LinkRef {
			return nil
		}
		between.WriteString(line[done:r.Start])
		done = r.End
	}
	between.WriteString(line[done:])
	if strings.Trim(lineText(between.String()), ", \t\r\n") != "" {
		return nil
	}
	return refs
}

// lineText removes the tags of a line but keeps its wiki syntax.
func lineText(line string) string {
	if !strings.Contains(line, "<") {
		return line
	}
	var b strings.Builder
	for t := range tokensOf(line) {
		if t.kind == html.TextToken {
			b.WriteString(line[t.start:t.end])
		}
	}
	return b.String()
}

// listEntries reads the li elements. An item ends at the next li tag or at the end of its list. any
// is false if there are no li elements.
func listEntries(content string) (found []entry, any bool) {
	if !strings.Contains(content, "<") {
		return nil, false
	}
	start := -1
	var name strings.Builder
	end := func(at int) {
		if start >= 0 {
			if n := itemName(name.String()); n != "" {
				found = append(found, entry{n, true, start, at})
			}
		}
		start = -1
		name.Reset()
	}
	for t := range tokensOf(content) {
		switch {
		case t.kind == html.TextToken && start >= 0:
			name.WriteString(content[t.start:t.end])
		case t.name == "li" && t.kind == html.EndTagToken:
			end(t.end)
		case t.name == "li":
			end(t.start)
			start, any = t.start, true
		case t.name == "ul" || t.name == "ol":
			end(t.start)
		}
	}
	end(len(content))
	return found, any
}
