package markup

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// The Markdown writer cannot be stopped between its passes over a tree, and some passes are
// quadratic in the length of a paragraph. To keep each step short, a large tree is split into
// pieces, and the context is checked between them.

const (
	// pieceSize is the maximum size of a piece. Writing one takes about 30 ms.
	pieceSize = 16 << 10
	// tableSizeLimit is the maximum size of a piece of a table. It is larger, because only the
	// first piece keeps the table's header.
	tableSizeLimit = 128 << 10
	// nodeSize is the size of an element in addition to its text.
	nodeSize = 16
	// nestCost is the number of steps for each byte and each surrounding element that writes its
	// content again: lists, quotes, emphasis.
	nestCost = 30
)

// piece is a part of a tree. joins is set if it continues a list that the previous piece began.
type piece struct {
	node  *html.Node
	joins bool
}

// piecesOf splits a tree into pieces.
func piecesOf(root *html.Node) []piece {
	var out []piece
	group, size := &html.Node{Type: html.DocumentNode}, 0
	flush := func() {
		if group.FirstChild != nil {
			out = append(out, piece{node: group})
			group, size = &html.Node{Type: html.DocumentNode}, 0
		}
	}
	for c := root.FirstChild; c != nil; c = root.FirstChild {
		root.RemoveChild(c)
		n := sizeOf(c)
		if n <= pieceSize {
			if size += n; size > pieceSize && (isBlock(c.Data) || size > 2*pieceSize) {
				flush()
				size = n
			}
			group.AppendChild(c)
			continue
		}
		flush()
		list := c.Data == "ul" || c.Data == "ol"
		for i, part := range splitNode(c) {
			doc := &html.Node{Type: html.DocumentNode}
			doc.AppendChild(part)
			out = append(out, piece{doc, list && i > 0})
		}
	}
	flush()
	return out
}

func sizeOf(n *html.Node) int {
	if n.Type == html.TextNode {
		return len(n.Data)
	}
	size := nodeSize
	for _, a := range n.Attr {
		size += len(a.Val)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		size += sizeOf(c)
	}
	return size
}

// splitNode splits a node that is too large into several nodes of its kind, and divides its
// children among them.
func splitNode(n *html.Node) []*html.Node {
	limit := pieceSize
	if n.Data == "table" {
		limit = tableSizeLimit
	}
	switch {
	case sizeOf(n) <= limit:
		return []*html.Node{n}
	case n.Type == html.TextNode:
		return splitText(n.Data)
	}
	var parts []*html.Node
	size, items := 0, 0
	part := copyShallow(n, 0)
	add := func(child *html.Node) {
		weight := sizeOf(child)
		if size += weight; size > limit && part.FirstChild != nil {
			parts = append(parts, part)
			part, size = copyShallow(n, items), weight
		}
		part.AppendChild(child)
		if child.Data == "li" {
			items++
		}
	}
	for c := n.FirstChild; c != nil; c = n.FirstChild {
		n.RemoveChild(c)
		for _, child := range splitNode(c) {
			add(child)
		}
	}
	return append(parts, part)
}

// copyShallow copies an element without its children. An ordered list continues its numbering after
// the given number of items.
func copyShallow(n *html.Node, items int) *html.Node {
	c := &html.Node{Type: n.Type, Data: n.Data, DataAtom: n.DataAtom}
	start := 1
	for _, a := range n.Attr {
		if a.Key == "start" && n.Data == "ol" {
			start, _ = strconv.Atoi(a.Val)
			continue
		}
		if len(a.Val) <= pieceSize {
			c.Attr = append(c.Attr, a)
		}
	}
	if n.Data == "ol" && start+items != 1 {
		c.Attr = append(c.Attr, html.Attribute{Key: "start", Val: strconv.Itoa(start + items)})
	}
	return c
}

func splitText(text string) []*html.Node {
	var parts []*html.Node
	for text != "" {
		n := len(text)
		if n > pieceSize {
			n = runesBefore(text, pieceSize, 1)
			if space := strings.LastIndexAny(text[:n], " \n"); space > 0 {
				n = space + 1
			}
		}
		parts = append(parts, &html.Node{Type: html.TextNode, Data: text[:n]})
		text = text[n:]
	}
	return parts
}

// countNesting spends the steps of writing a tree. around is the number of surrounding elements
// that write their content again.
func countNesting(n *html.Node, around int, b *budget) {
	switch n.Data {
	case "ul", "ol", "blockquote", "b", "strong", "i", "em", "a", "s", "del", "strike", "td", "th":
		if n.Type == html.ElementNode {
			around++
		}
	}
	weight, lines := nodeSize, 1
	if n.Type == html.TextNode {
		weight, lines = len(n.Data), 1+strings.Count(n.Data, "\n")
	}
	b.spend(nestCost * around * (3*around*lines + weight) / 2) // each surrounding element indents each line again
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		countNesting(c, around, b)
	}
}
