package markup

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// definitionLines is the least number of lines of a paragraph that are searched for link definitions at once. The
// parser's own search costs the square of the lines.
const definitionLines = 64

// definitionSplitter takes the link definitions from the beginning of a long paragraph, a few lines at a time. The
// parser's own transformer then finds none.
type definitionSplitter struct{}

// Transform implements parser.ParagraphTransformer.
func (definitionSplitter) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, above, done := node.Lines(), node.Parent(), 0
	if lines.Len() <= definitionLines {
		return
	}
	for done < lines.Len() {
		end := definitionsEnd(lines, done, reader.Source())
		part := ast.NewParagraph()
		part.SetBlankPreviousLines(done == 0 && node.HasBlankPreviousLines())
		for i := done; i < end; i++ {
			part.Lines().Append(lines.At(i))
		}
		above.InsertBefore(above, node, part)
		parser.LinkReferenceParagraphTransformer.Transform(part, reader, pc)
		rest := 0
		if part.Parent() != nil {
			rest = part.Lines().Len()
			above.RemoveChild(above, part)
		}
		if rest == end-done {
			break
		}
		done = end - rest
	}
	if done == lines.Len() {
		above.RemoveChild(above, node)
		return
	}
	left := text.NewSegments()
	left.AppendAll(lines.Sliced(done, lines.Len()))
	node.SetLines(left)
}

// definitionsEnd returns the line before which a search that begins at a line ends: one that may begin a definition,
// so that none is cut.
func definitionsEnd(lines *text.Segments, from int, source []byte) int {
	for i := from + definitionLines; i < lines.Len(); i++ {
		if line := lines.At(i); source[line.Start] == '[' {
			return i
		}
	}
	return lines.Len()
}
