package console

import (
	"cmp"
	"context"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"loregate/internal/markup"
)

// showText returns a card's rendered text with its references as links. The text is sanitised
// already; references inside links and code stay as they are written. missing tells which names no
// card has.
func showText(rendered, self string, f frame, missing func(name string) bool) (string, error) {
	root, err := parseText(rendered)
	if err != nil {
		return "", err
	}
	l := linker{self: self, frame: f, missing: missing}
	l.linkChildren(root)
	return renderInner(root)
}

type linker struct {
	self    string
	frame   frame
	missing func(name string) bool
}

// linkChildren replaces the references in the text below a node. html.ParseFragment bounds the depth
// of its tree, and so that of the recursion.
func (l linker) linkChildren(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		l.linkFiles(c)
		switch {
		case c.Type == html.TextNode:
			l.linkText(n, c)
		case c.Type == html.ElementNode && c.DataAtom != atom.A && c.DataAtom != atom.Code && c.DataAtom != atom.Pre:
			l.linkChildren(c)
		}
		if isHidden(c) {
			l.dressHidden(c)
		}
		c = next
	}
}

// linkText replaces a text node by its parts: text, and a link for each reference.
func (l linker) linkText(parent, n *html.Node) {
	refs := markup.Refs(n.Data)
	done := 0
	for _, ref := range refs {
		if ref.Kind != markup.LinkRef || ref.External {
			continue
		}
		parent.InsertBefore(&html.Node{Type: html.TextNode, Data: n.Data[done:ref.Start]}, n)
		parent.InsertBefore(l.link(ref), n)
		done = ref.End
	}
	n.Data = n.Data[done:]
}

func (l linker) link(ref markup.Ref) *html.Node {
	name := markup.Resolve(ref.Target, l.self)
	shown := cmp.Or(ref.Text, name)
	if l.frame.lacks(name) {
		return &html.Node{Type: html.TextNode, Data: shown}
	}
	a := &html.Node{Type: html.ElementNode, Data: "a", DataAtom: atom.A,
		Attr: []html.Attribute{{Key: "href", Val: string(l.frame.card("w", name, ""))}}}
	if l.missing(name) {
		a.Attr = append(a.Attr, html.Attribute{Key: "class", Val: "wanted"}, html.Attribute{Key: "title",
			Val: "No such card yet"})
	}
	a.AppendChild(&html.Node{Type: html.TextNode, Data: shown})
	return a
}

// showSnippet returns a search snippet, whose only elements are marks.
func showSnippet(ctx context.Context, snippet string) string {
	safe, err := markup.Sanitize(ctx, snippet)
	if err != nil {
		return ""
	}
	return safe
}

// lastPart returns the own part of a compound name.
func lastPart(name string) string {
	parts := markup.Parts(name)
	return parts[len(parts)-1]
}

// cardsAbove returns the names of the cards above a card, outermost first.
func cardsAbove(name string) []string {
	parts := markup.Parts(name)
	var above []string
	for i := 1; i < len(parts); i++ {
		above = append(above, markup.Join(parts[:i]...))
	}
	return above
}
