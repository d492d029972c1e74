package markup

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// The writer of Markdown cannot be stopped between its passes over a tree, and some take
// the square of a paragraph. So that nothing takes long at once, it gets a large tree in
// pieces, between which the caller is asked for.

const (
	// pieceSize is how much of a tree is written at once: about 30 ms.
	pieceSize = 16 << 10
	// tableSizeLimit is the same for a table, which is parted only where it must be, for
	// its head stands in the first part.
	tableSizeLimit = 128 << 10
	// nodeSize is what an element weighs beside its text.
	nodeSize = 16
	// nestCost is the steps for each byte and each element around it that writes its
	// content again: lists, quotes, emphasis.
	nestCost = 30
)

// piece is a part of a tree to be written, and whether it goes on a list that the piece
// before began.
type piece struct {
	node  *html.Node
	joins bool
}

// piecesOf takes a tree apart.
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
		for i, part := range split(c) {
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

// split parts a node that is too large into several like it that hold its children.
func split(n *html.Node) []*html.Node {
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
	part := like(n, 0)
	add := func(child *html.Node) {
		weight := sizeOf(child)
		if size += weight; size > limit && part.FirstChild != nil {
			parts = append(parts, part)
			part, size = like(n, items), weight
		}
		part.AppendChild(child)
		if child.Data == "li" {
			items++
		}
	}
	for c := n.FirstChild; c != nil; c = n.FirstChild {
		n.RemoveChild(c)
		for _, child := range split(c) {
			add(child)
		}
	}
	return append(parts, part)
}

// like copies an element without its children; the items of an ordered list go on
// counting.
func like(n *html.Node, items int) *html.Node {
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
			n = back(text, pieceSize, 1)
			if space := strings.LastIndexAny(text[:n], " \n"); space > 0 {
				n = space + 1
			}
		}
		parts = append(parts, &html.Node{Type: html.TextNode, Data: text[:n]})
		text = text[n:]
	}
	return parts
}

// countNesting spends the steps of writing a tree. around is how many elements write
// their content again.
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
	b.spend(nestCost * around * (3*around*lines + weight) / 2) // each line is indented again
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		countNesting(c, around, b)
	}
}
