package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// Items returns the names that a Pointer, List or tags card holds, as written, in
// order: the li elements when there are any, otherwise the lines. Brackets around
// an item, a link text in them and a list sign ("- " or "* ") before it do not
// count. Lines may stand in p, div or br. Blank items are left out, repeated ones
// are not.
func Items(content string) []string {
	var out []string
	for _, e := range entries(content) {
		out = append(out, e.name)
	}
	return out
}

// SetItems returns content that holds the items, "[[item]]" one a line, without
// blanks and repetitions by key.
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

// AddItems returns content without the items to remove and with those to add that
// it does not hold yet at its end, both told by key; an item in both lists goes to
// the end. Items that stay keep their order and their bytes, and content that needs
// no change is returned as it is. A list made of li elements stays one.
func AddItems(content string, add, remove []string) string {
	gone := map[Key]bool{}
	for _, r := range remove {
		gone[KeyOf(itemName(r))] = true
	}
	found := entries(content)
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
	if !listed || insert < done {
		insert = max(done, len(content))
		if listed {
			insert = done
		}
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

// itemLine writes an item as a line, and "" where nothing is left of it.
func itemLine(item string) string {
	name := itemName(strings.Join(strings.Fields(item), " "))
	name = strings.TrimSpace(withoutPairs.Replace(name))
	if name == "" {
		return ""
	}
	return "[[" + name + "]]"
}

// itemName takes list sign, brackets and link text off a line.
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

// entry is an item with its place; a line includes its newline, an li its tags.
type entry struct {
	name       string
	listed     bool
	start, end int
}

func entries(content string) []entry {
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

// linkRow returns the links of a line that holds several and nothing else but tags,
// spaces and commas, as a paragraph made of Markdown does.
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

// lineText drops the tags of a line but not its wiki syntax.
func lineText(line string) string {
	if !strings.Contains(line, "<") {
		return line
	}
	var b strings.Builder
	for t := range tokens(line) {
		if t.kind == html.TextToken {
			b.WriteString(line[t.start:t.end])
		}
	}
	return b.String()
}

// listEntries reads li elements; an item ends at the next li tag or where its list
// ends.
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
	for t := range tokens(content) {
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
