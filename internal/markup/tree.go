package markup

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The parser of HTML5 opens formatting elements again in each paragraph, so that a
// document of n bytes can have n² nodes. The tree here has at most one node for each tag
// and text. It serves the way to Markdown, which needs no more than blocks, lists, tables
// and words.

// maxTreeDepth bounds how deep elements stand inside one another.
const maxTreeDepth = 200

// maxSpan is the widest span that a cell can have in HTML.
const maxSpan = 1000

// treeBuilder makes a tree of tokens.
type treeBuilder struct {
	root   *html.Node
	open   []*html.Node // the open elements; the root is the first
	text   strings.Builder
	budget *budget
}

// buildTree reads HTML. It fails with the halt of its budget.
func buildTree(content string, b *budget) *html.Node {
	t := &treeBuilder{root: &html.Node{Type: html.DocumentNode}, budget: b}
	t.open = []*html.Node{t.root}
	z := html.NewTokenizer(strings.NewReader(content))
	var skip skipper
	for {
		kind := z.Next()
		b.spend(len(z.Raw()) + 16)
		switch kind {
		case html.ErrorToken:
			t.endText()
			return t.root
		case html.TextToken:
			if !skip.on() {
				t.text.WriteString(html.UnescapeString(string(z.Raw())))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			tag := string(name)
			shown := !skip.on()
			skip.see(tag, kind)
			switch {
			case !shown || skip.on():
			case kind == html.EndTagToken:
				t.end(tag)
			default:
				t.start(tag, attributes(z, more))
			}
		}
	}
}

// attributes keeps those that Markdown has a form for.
func attributes(z *html.Tokenizer, more bool) []html.Attribute {
	var kept []html.Attribute
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		k, v := string(key), string(value)
		switch k {
		case "colspan", "rowspan":
			v = strconv.Itoa(spanOf(v))
		case "start":
			if n, err := strconv.Atoi(v); err != nil || n < 0 || n > 999_999_999 { // as long as Markdown takes
				continue
			}
		case "href", "src", "alt", "title", "type", "checked", "class", "align", "role":
		default:
			continue
		}
		if !slices.ContainsFunc(kept, func(a html.Attribute) bool { return a.Key == k }) {
			kept = append(kept, html.Attribute{Key: k, Val: v})
		}
	}
	return kept
}

func spanOf(value string) int {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil && strings.Trim(value, "0123456789") == "" && value != "", n > maxSpan:
		return maxSpan
	case n < 1:
		return 1
	}
	return n
}

func (t *treeBuilder) top() *html.Node { return t.open[len(t.open)-1] }

// endText puts the text read so far into the tree.
func (t *treeBuilder) endText() {
	if t.text.Len() == 0 {
		return
	}
	text := t.text.String()
	t.text.Reset()
	if isTableFrame(t.top().Data) && strings.TrimSpace(text) == "" {
		return
	}
	t.put(&html.Node{Type: html.TextNode, Data: text})
}

// put adds a node to the innermost element. What cannot stand between the cells of a
// table goes before it.
func (t *treeBuilder) put(n *html.Node) {
	if top := t.top(); isTableFrame(top.Data) && !isTablePart(n.Data) {
		for i := len(t.open) - 1; i > 0; i-- {
			if t.open[i].Data == "table" {
				t.open[i].Parent.InsertBefore(n, t.open[i])
				return
			}
		}
	}
	t.top().AppendChild(n)
}

// start opens an element, and ends those that it cannot stand in.
func (t *treeBuilder) start(tag string, attr []html.Attribute) {
	if isTablePart(tag) && !t.inTable() {
		return
	}
	t.endText()
	t.imply(tag)
	n := &html.Node{Type: html.ElementNode, Data: tag, DataAtom: atom.Lookup([]byte(tag)), Attr: attr}
	t.put(n)
	if isVoid(tag) {
		return
	}
	if t.open = append(t.open, n); len(t.open) > maxTreeDepth {
		panic(halt{ErrTooDeep})
	}
}

// imply ends the elements whose end tags may be left out, and begins a row for a cell.
func (t *treeBuilder) imply(tag string) {
	switch tag {
	case "li":
		t.close(isNamed("li"), isNamed("ul", "ol", "table", "td", "th"))
	case "dt", "dd":
		t.close(isNamed("dt", "dd"), isNamed("dl", "table", "td", "th"))
	case "td", "th":
		t.close(isNamed("td", "th", "caption"), isNamed("tr", "table"))
		if t.top().Data != "tr" {
			t.close(isNamed("colgroup"), isNamed("table"))
			row := &html.Node{Type: html.ElementNode, Data: "tr", DataAtom: atom.Tr}
			t.top().AppendChild(row)
			t.open = append(t.open, row)
		}
	case "tr":
		t.close(isNamed("tr", "caption", "colgroup"), isNamed("table", "tbody", "thead", "tfoot"))
	case "tbody", "thead", "tfoot", "caption", "colgroup":
		t.close(isNamed("tbody", "thead", "tfoot", "caption", "colgroup", "tr"), isNamed("table"))
	case "a":
		t.close(isNamed("a"), isNamed("table", "td", "th"))
	}
	if isBlock(tag) && tag != "br" && !isTablePart(tag) {
		t.close(isNamed("p"), isNamed("table", "td", "th", "button"))
	}
	if headingLevel(tag) > 0 && headingLevel(t.top().Data) > 0 {
		t.open = t.open[:len(t.open)-1]
	}
}

func isNamed(tags ...string) func(string) bool {
	return func(tag string) bool { return slices.Contains(tags, tag) }
}

// close ends the outermost of the elements asked for that are open inside the barrier.
func (t *treeBuilder) close(asked, barrier func(string) bool) {
	at := 0
	for i := len(t.open) - 1; i > 0 && !barrier(t.open[i].Data); i-- {
		if asked(t.open[i].Data) {
			at = i
		}
	}
	if at > 0 {
		t.open = t.open[:at]
	}
}

// end closes the nearest open element of a name. One with no open element is passed over.
func (t *treeBuilder) end(tag string) {
	part := isTablePart(tag) || tag == "table"
	for i := len(t.open) - 1; i > 0; i-- {
		name := t.open[i].Data
		if name == tag {
			t.endText()
			t.open = t.open[:i]
			return
		}
		if name == "table" || !part && (name == "td" || name == "th" || name == "caption") {
			return
		}
	}
}

func (t *treeBuilder) inTable() bool {
	return slices.ContainsFunc(t.open, func(n *html.Node) bool { return n.Data == "table" })
}

// isTableFrame tells of the elements that hold parts of a table and no words.
func isTableFrame(tag string) bool {
	switch tag {
	case "table", "tbody", "thead", "tfoot", "tr", "colgroup":
		return true
	}
	return false
}

// isTablePart tells of the elements that stand in a table only.
func isTablePart(tag string) bool {
	switch tag {
	case "tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup", "col":
		return true
	}
	return false
}

func isVoid(tag string) bool {
	switch tag {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}

// countTables spends the cells of all tables below a node, spans counted.
func countTables(n *html.Node, b *budget) {
	if n.Data == "table" && n.Type == html.ElementNode {
		columns, rows := tableSize(n)
		b.addTable(columns, rows)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		countTables(c, b)
	}
}

// tableSize is the grid that a table and its spans take up. A grid wider than allowed is
// not measured to its end.
func tableSize(table *html.Node) (columns, rows int) {
	type span struct{ columns, until int }
	var spans []span
	last := 0
	eachRow(table, func(tr *html.Node) {
		rows++
		width := 0
		spans = slices.DeleteFunc(spans, func(s span) bool { return s.until < rows })
		for _, s := range spans {
			width += s.columns
		}
		for c := tr.FirstChild; c != nil && width <= maxColumns; c = c.NextSibling {
			if c.Data != "td" && c.Data != "th" {
				continue
			}
			wide, tall := spanAttr(c, "colspan"), spanAttr(c, "rowspan")
			if width += wide; tall > 1 {
				spans = append(spans, span{wide, rows + tall - 1})
				last = max(last, rows+tall-1)
			}
		}
		columns = max(columns, width)
	})
	return columns, max(rows, last)
}

// eachRow visits the rows of a table, also those of tables in its cells, which the writer
// of Markdown counts to it.
func eachRow(n *html.Node, visit func(*html.Node)) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Data == "table" {
			continue
		}
		if c.Data == "tr" {
			visit(c)
		}
		eachRow(c, visit)
	}
}

func spanAttr(n *html.Node, key string) int {
	for _, a := range n.Attr {
		if a.Key == key {
			return spanOf(a.Val)
		}
	}
	return 1
}
