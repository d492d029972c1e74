package console

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// dressHidden gives the element of a hidden part its looks: a label, and links that reveal it or hide it again.
func (l linker) dressHidden(n *html.Node) {
	p := hiddenPart{ID: attrOf(n, "data-part"), From: "players", Told: strings.Fields(attrOf(n, "data-told"))}
	level := attrOf(n, "data-hidden")
	if level == "admin" {
		p.From = "players and game masters"
	}
	cardID := attrOf(n, "data-card")
	n.Attr = []html.Attribute{{Key: "class", Val: "hidden-part"}, {Key: "role", Val: "note"},
		{Key: "aria-label", Val: p.fromText()}}
	label := newElement(atom.Span, p.fromText(), "class", "badge")
	var controls []*html.Node
	if l.frame.hides() && p.ID != "" {
		to := func(kind, words string) *html.Node {
			return newElement(atom.A, words, "class", "act", "href", string(l.frame.link(kind, "~"+cardID))+"?part="+p.ID)
		}
		controls = append(controls, to("part", "Reveal…"))
		if len(p.Told) > 0 {
			controls = append(controls, to("hide", "Hide again…"))
		}
	}
	if n.DataAtom == atom.Span {
		if len(p.Told) == 0 {
			label.FirstChild.Data = levelName(level) // the words within a line are few
		}
		n.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, n.FirstChild)
		n.InsertBefore(label, n.FirstChild)
		for _, c := range controls {
			n.AppendChild(&html.Node{Type: html.TextNode, Data: " "})
			n.AppendChild(c)
		}
		return
	}
	head := newElement(atom.P, "", "class", "about")
	head.AppendChild(label)
	for _, c := range controls {
		head.AppendChild(&html.Node{Type: html.TextNode, Data: " "})
		head.AppendChild(c)
	}
	n.InsertBefore(head, n.FirstChild)
}

// newElement returns an element with a text and attributes, given as names and values.
func newElement(a atom.Atom, text string, attrs ...string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: a.String(), DataAtom: a}
	for i := 0; i < len(attrs); i += 2 {
		n.Attr = append(n.Attr, html.Attribute{Key: attrs[i], Val: attrs[i+1]})
	}
	if text != "" {
		n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
	}
	return n
}

// attrOf returns the value of an attribute; "" if there is none.
func attrOf(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// isHidden reports whether a node is the element of a hidden part, which only the server makes.
func isHidden(n *html.Node) bool { return n.Type == html.ElementNode && attrOf(n, "data-hidden") != "" }

// parseText parses the rendered text of a card into a node.
func parseText(rendered string) (*html.Node, error) {
	root := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(strings.NewReader(rendered), root)
	for _, n := range nodes {
		root.AppendChild(n)
	}
	return root, err
}

// renderInner returns the HTML of the nodes in a node.
func renderInner(n *html.Node) (string, error) {
	var b strings.Builder
	for c := range n.ChildNodes() {
		if err := html.Render(&b, c); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// withoutHidden returns a rendered text without its hidden parts.
func withoutHidden(rendered string) (string, error) {
	if !strings.Contains(rendered, "data-hidden=") {
		return rendered, nil
	}
	root, err := parseText(rendered)
	if err != nil {
		return "", err
	}
	var all []*html.Node
	for n := range root.Descendants() {
		if isHidden(n) {
			all = append(all, n)
		}
	}
	for _, n := range all {
		n.Parent.RemoveChild(n)
	}
	return renderInner(root)
}

// partTexts returns the HTML of the hidden parts of a card's rendered text, by id.
func partTexts(c card, f frame) (map[string]string, error) {
	texts := map[string]string{}
	root, err := parseText(c.Content)
	if err != nil {
		return nil, err
	}
	for n := range root.Descendants() {
		if !isHidden(n) || attrOf(n, "data-card") != c.ID {
			continue
		}
		inner, err := renderInner(n)
		if err != nil {
			return nil, err
		}
		if texts[attrOf(n, "data-part")], err = showText(inner, c.Name, f, func(string) bool { return false }); err != nil {
			return nil, err
		}
	}
	return texts, nil
}
