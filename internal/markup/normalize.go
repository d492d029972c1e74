package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// normalizer gives documents with the same meaning the same tree, so that HTML survives conversion
// to Markdown and back. A line break within a heading becomes a space. A list is tight unless an
// item contains more than a paragraph and lists. Comments that form a block of their own are
// dropped unless keepComments is set.
type normalizer struct{ keepComments bool }

// Transform implements parser.ASTTransformer.
func (n normalizer) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	var drop []ast.Node
	_ = ast.Walk(doc, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Text:
			if node.SoftLineBreak() && !node.HardLineBreak() && isInHeading(node) {
				node.SetSoftLineBreak(false)
				node.Parent().InsertAfter(node.Parent(), node, ast.NewString([]byte(" ")))
			}
		case *ast.List:
			if !node.IsTight && canBeTight(node) {
				tightenList(node)
			}
		case *ast.HTMLBlock:
			if !n.keepComments && node.HTMLBlockType == ast.HTMLBlockType2 && isOnlyComment(node, reader.Source()) {
				drop = append(drop, node)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, node := range drop {
		node.Parent().RemoveChild(node.Parent(), node)
	}
}

func isInHeading(node ast.Node) bool {
	for node != nil && node.Type() == ast.TypeInline {
		node = node.Parent()
	}
	return node != nil && node.Kind() == ast.KindHeading
}

// canBeTight reports whether each item of a list contains at most one paragraph, followed only by
// lists.
func canBeTight(list *ast.List) bool {
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		for c := item.FirstChild(); c != nil; c = c.NextSibling() {
			switch c.Kind() {
			case ast.KindList:
			case ast.KindParagraph, ast.KindTextBlock:
				if c != item.FirstChild() {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}

// tightenList removes the paragraphs around the texts of the items.
func tightenList(list *ast.List) {
	list.IsTight = true
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		p, ok := item.FirstChild().(*ast.Paragraph)
		if !ok {
			continue
		}
		block := ast.NewTextBlock()
		block.SetLines(p.Lines())
		for c := p.FirstChild(); c != nil; c = p.FirstChild() {
			block.AppendChild(block, c)
		}
		item.ReplaceChild(item, p, block)
	}
}

func isOnlyComment(b *ast.HTMLBlock, source []byte) bool {
	raw := b.Lines().Value(source)
	if b.HasClosure() {
		raw = append(raw, b.ClosureLine.Value(source)...)
	}
	raw = bytes.TrimSpace(raw)
	return bytes.HasPrefix(raw, []byte("<!--")) && bytes.Index(raw, []byte("-->")) == len(raw)-len("-->")
}
