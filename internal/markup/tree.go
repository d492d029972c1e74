package markup

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// An HTML5 parser reopens formatting elements in each paragraph, so a document of n bytes can have
// n² nodes. The tree here has at most one node for each tag and text. It is used for conversion to
// Markdown, which needs only blocks, lists, tables and words.

// maxTreeDepth is the maximum nesting of elements.
const maxTreeDepth = 200

// maxSpan is the maximum span of a cell in HTML.
const maxSpan = 1000

// treeBuilder builds a tree from tokens.
type treeBuilder struct {
	root   *html.Node
	open   []*html.Node // the open elements, beginning with the root
	text   strings.Builder
	budget *budget
}

// buildTree parses HTML. It panics with the halt of its budget.
func buildTree(content string, b *budget) *html.Node {
	t := &treeBuilder{root: &html.Node{Type: html.DocumentNode}, budget: b}
	t.open = []*html.Node{t.root}
	z := html.NewTokenizer(strings.NewReader(content))
	var skip hiddenElements
	for {
		kind := z.Next()
		b.spend(len(z.Raw()) + 16)
		switch kind {
		case html.ErrorToken:
			t.endText()
			return t.root
		case html.TextToken:
			if !skip.isOpen() {
				t.text.WriteString(html.UnescapeString(string(z.Raw())))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			tag := string(name)
			shown := !skip.isOpen()
			skip.addTag(tag, kind)
			switch {
			case !shown || skip.isOpen():
			case kind == html.EndTagToken:
				t.closeElement(tag)
			default:
				t.openElement(tag, readAttributes(z, more))
			}
		}
	}
}

// readAttributes returns the attributes that can be expressed in Markdown.
func readAttributes(z *html.Tokenizer, more bool) []html.Attribute {
	var kept []html.Attribute
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		k, v := string(key), string(value)
		switch k {
		case "colspan", "rowspan":
			v = strconv.Itoa(spanOf(v))
		case "start":
			if n, err := strconv.Atoi(v); err != nil || n < 0 || n > 999_999_999 {
				// The maximum length of a list number in Markdown.
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

func (t *treeBuilder) innermost() *html.Node { return t.open[len(t.open)-1] }

// endText adds the text read so far to the tree.
func (t *treeBuilder) endText() {
	if t.text.Len() == 0 {
		return
	}
	text := t.text.String()
	t.text.Reset()
	if isTableFrame(t.innermost().Data) && strings.TrimSpace(text) == "" {
		return
	}
	t.addNode(&html.Node{Type: html.TextNode, Data: text})
}

// addNode adds a node to the innermost element. Content that may not be between the cells of a
// table is inserted before the table.
func (t *treeBuilder) addNode(n *html.Node) {
	if top := t.innermost(); isTableFrame(top.Data) && !isTablePart(n.Data) {
		for i := len(t.open) - 1; i > 0; i-- {
			if t.open[i].Data == "table" {
				t.open[i].Parent.InsertBefore(n, t.open[i])
				return
			}
		}
	}
	t.innermost().AppendChild(n)
}

// openElement opens an element after closing those that cannot contain it.
func (t *treeBuilder) openElement(tag string, attr []html.Attribute) {
	if isTablePart(tag) && !t.inTable() {
		return
	}
	t.endText()
	t.closeImplied(tag)
	n := &html.Node{Type: html.ElementNode, Data: tag, DataAtom: atom.Lookup([]byte(tag)), Attr: attr}
	t.addNode(n)
	if isVoid(tag) {
		return
	}
	if t.open = append(t.open, n); len(t.open) > maxTreeDepth {
		panic(halt{ErrTooDeep})
	}
}

// closeImplied closes the elements whose end tags may be omitted before tag. It opens a row for a
// cell if necessary.
func (t *treeBuilder) closeImplied(tag string) {
	switch tag {
	case "li":
		t.closeOutermost(isNamed("li"), isNamed("ul", "ol", "table", "td", "th"))
	case "dt", "dd":
		t.closeOutermost(isNamed("dt", "dd"), isNamed("dl", "table", "td", "th"))
	case "td", "th":
		t.closeOutermost(isNamed("td", "th", "caption"), isNamed("tr", "table"))
		if t.innermost().Data != "tr" {
			t.closeOutermost(isNamed("colgroup"), isNamed("table"))
			row := &html.Node{Type: html.ElementNode, Data: "tr", DataAtom: atom.Tr}
			t.innermost().AppendChild(row)
			t.open = append(t.open, row)
		}
	case "tr":
		t.closeOutermost(isNamed("tr", "caption", "colgroup"), isNamed("table", "tbody", "thead", "tfoot"))
	case "tbody", "thead", "tfoot", "caption", "colgroup":
		t.closeOutermost(isNamed("tbody", "thead", "tfoot", "caption", "colgroup", "tr"), isNamed("table"))
	case "a":
		t.closeOutermost(isNamed("a"), isNamed("table", "td", "th"))
	}
	if isBlock(tag) && tag != "br" && !isTablePart(tag) {
		t.closeOutermost(isNamed("p"), isNamed("table", "td", "th", "button"))
	}
	if headingLevel(tag) > 0 && headingLevel(t.innermost().Data) > 0 {
		t.open = t.open[:len(t.open)-1]
	}
}

func isNamed(tags ...string) func(string) bool {
	return func(tag string) bool { return slices.Contains(tags, tag) }
}

// closeOutermost closes the outermost asked element that is open inside the innermost barrier.
func (t *treeBuilder) closeOutermost(asked, barrier func(string) bool) {
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

// closeElement closes the nearest open element of that name. An end tag without one is ignored.
func (t *treeBuilder) closeElement(tag string) {
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

// isTableFrame reports whether an element contains parts of a table but no text of its own.
func isTableFrame(tag string) bool {
	switch tag {
	case "table", "tbody", "thead", "tfoot", "tr", "colgroup":
		return true
	}
	return false
}

// isTablePart reports whether an element may be used only in a table.
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

// countTables spends the cells of all tables below a node, including spans.
func countTables(n *html.Node, b *budget) {
	if n.Data == "table" && n.Type == html.ElementNode {
		columns, rows := tableSize(n)
		b.addTable(columns, rows)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		countTables(c, b)
	}
}

// tableSize returns the grid size of a table with its spans. It stops measuring a row that is wider
// than allowed.
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

// eachRow visits the rows of a table, but not those of tables in its cells.
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
