package archive

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"unicode"

	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/markup"
)

// termList is a list of terms as the scan parsed it.
type termList struct {
	terms  []string
	unread []string // lines that may or may not be terms, as written
}

// maxScanTerms bounds the number of terms in a list, and maxScanTerm the length of one in
// characters.
const (
	maxScanTerms = 1000
	maxScanTerm  = 200
)

// readTerms parses a list of terms: the items of a Pointer or of lists, else the lines. If a text
// has lists, its other lines are searched for as well, except headings and lines that end in a
// colon, and reported as unread: only their author knows whether they are terms.
func readTerms(c canon.Card, content string) termList {
	lines, listed := termLines(c.TextKind(), content)
	var t termList
	seen := map[string]bool{}
	for _, line := range lines {
		if line.Heading && listed || line.Text == "" {
			continue
		}
		if strings.IndexFunc(line.Text, isWordRune) < 0 { // perhaps a rule, perhaps a placeholder for a term
			t.unread = append(t.unread, line.Text)
			continue
		}
		if listed && !line.Item {
			t.unread = append(t.unread, line.Text)
			if strings.HasSuffix(line.Text, ":") {
				continue // it introduces the list
			}
		}
		for _, term := range termsOf(line.Text) {
			key := markup.Fold(term)
			switch {
			case key == "" || len([]rune(term)) > maxScanTerm:
				t.unread = append(t.unread, line.Text)
			case !seen[key]:
				seen[key] = true
				t.terms = append(t.terms, term)
			}
		}
	}
	return t
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// termLines returns the lines of a card; listed is true if only its list items are certain to be
// terms.
func termLines(kind canon.TextKind, content string) (lines []markup.Line, listed bool) {
	switch kind {
	case canon.TextMarkdown: // parsed from the source
		lines = splitTableRows(markup.Lines(content))
	case canon.TextHTML, canon.TextItems:
		lines = markup.Lines(content)
	case canon.TextData:
		lines = jsonLines(content)
	default:
		lines = plainLines(content)
	}
	for i := range lines {
		readSign(&lines[i])
		listed = listed || lines[i].Item
	}
	return lines, listed && kind != canon.TextItems && kind != canon.TextData
}

func plainLines(content string) (lines []markup.Line) {
	for line := range strings.Lines(content) {
		if line = markup.OneLine(line); line != "" {
			lines = append(lines, markup.Line{Text: line})
		}
	}
	return lines
}

// splitTableRows splits the rows of Markdown tables into cells, and drops rules and the separator
// rows of tables.
func splitTableRows(lines []markup.Line) (out []markup.Line) {
	for _, l := range lines {
		if markdownRule.MatchString(l.Text) {
			continue
		}
		if !strings.HasPrefix(l.Text, "|") || strings.Contains(l.Text, "[[") {
			out = append(out, l)
			continue
		}
		for cell := range strings.SplitSeq(l.Text, "|") {
			out = append(out, markup.Line{Text: strings.TrimSpace(cell)})
		}
	}
	return out
}

// jsonLines returns the lines of the texts in JSON, or the lines of a content that is not JSON.
func jsonLines(content string) (lines []markup.Line) {
	var v any
	if json.Unmarshal([]byte(content), &v) != nil {
		return plainLines(content)
	}
	eachText(v, func(_, text string) { lines = append(lines, plainLines(text)...) })
	return lines
}

var (
	markdownRule = lazyregexp.New(`^(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+|[\s|:]*-[\s|:-]*\|[\s|:-]*)$`)

	listSign   = lazyregexp.New(`^[-*+•‣–]\s+(?:\[[ xX]\]\s+)?`)
	numberSign = lazyregexp.New(`^\d{1,4}[.)]\s+`)
	headSign   = lazyregexp.New(`^#{1,6}\s+`)
)

// readSign removes from a line the sign that makes it a list item or a heading. A number is removed
// too but makes no item, because a term may begin with one.
func readSign(l *markup.Line) {
	if sign := listSign.FindString(l.Text); sign != "" {
		l.Text, l.Item = l.Text[len(sign):], true
	}
	if sign := headSign.FindString(l.Text); sign != "" {
		l.Text, l.Heading = l.Text[len(sign):], true
	}
	l.Text = l.Text[len(numberSign.FindString(l.Text)):]
}

// termsOf returns the terms of a line. For a line of links these are the linked cards and the
// links' texts, else the line's text.
func termsOf(line string) (terms []string) {
	refs := markup.Refs(line)
	rest, at := "", 0
	for _, r := range refs {
		rest += line[at:r.Start]
		at = r.End
		terms = append(terms, r.Target)
		if r.Text != "" && markup.Fold(r.Text) != markup.Fold(r.Target) {
			terms = append(terms, r.Text)
		}
	}
	if len(refs) == 0 || strings.IndexFunc(rest+line[at:], isWordRune) >= 0 {
		terms = []string{markup.Text(html.EscapeString(line))}
	}
	for i, term := range terms {
		terms[i] = strings.Join(strings.Fields(strings.Trim(markup.Clean(term), " >*_~`\"“”„«»‚‘,;:.")), " ")
	}
	return terms
}

// eachText visits the texts and numbers in a JSON value with their keys.
func eachText(v any, visit func(key, text string)) { eachTextUnder("", v, visit) }

func eachTextUnder(key string, v any, visit func(key, text string)) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, item := range v {
			eachTextUnder(key, item, visit)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			eachTextUnder(k, v[k], visit)
		}
	default:
		visit(key, fmt.Sprint(v))
	}
}

// fieldText returns a card's fields as text, one line each.
func fieldText(fields json.RawMessage) string {
	var v any
	if json.Unmarshal(fields, &v) != nil {
		return ""
	}
	var b strings.Builder
	eachText(v, func(key, text string) { fmt.Fprintf(&b, "%s: %s\n", key, text) })
	return b.String()
}
