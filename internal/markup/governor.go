package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The Markdown parser takes the square of its input in several places. The types here
// stand in its way and count steps before it takes them.

// budgetKey is where a parser's context holds the budget.
var budgetKey = parser.NewContextKey()

func budgetOf(pc parser.Context) *budget { return pc.Get(budgetKey).(*budget) }

// meteredReader is the source of a text. The parser looks at a line once for each block
// that is open there.
type meteredReader struct {
	text.Reader
	budget *budget
}

// lineCost is the steps of one block on one line. The parser also keeps 24 bytes for each.
const lineCost = 200

// PeekLine implements text.Reader.
func (r *meteredReader) PeekLine() ([]byte, text.Segment) {
	r.budget.spend(lineCost)
	return r.Reader.PeekLine()
}

// tableGovernor counts the cells of a paragraph that may be a table, before the
// transformer makes them.
type tableGovernor struct{}

// Transform implements parser.ParagraphTransformer.
func (tableGovernor) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	b, lines := budgetOf(pc), node.Lines()
	for i := 1; i < lines.Len(); i++ {
		seg := lines.At(i)
		columns := delimiterColumns(seg.Value(reader.Source()))
		if columns == 0 {
			continue
		}
		b.addTable(columns, lines.Len()-i)
		// Each code span is compared with each escaped bar of all tables.
		rest := reader.Source()[seg.Start:lines.At(lines.Len()-1).Stop]
		b.spend(8 * bytes.Count(rest, []byte(`\|`)) * bytes.Count(rest, []byte("`")))
		return
	}
}

// delimiterColumns is how many columns a table has by its second line; 0 where the line
// is none.
func delimiterColumns(line []byte) int {
	if len(bytes.Trim(line, "|:- \t\r\n")) > 0 || bytes.IndexByte(line, '-') < 0 {
		return 0
	}
	return bytes.Count(line, []byte("|")) + 1
}

// maxDelimiters bounds the runs of stars and the like in one paragraph, which the parser
// compares with each other in one go.
const maxDelimiters = 4000

// signGovernor counts steps at each sign that the parser looks ahead or back from. It
// parses nothing itself.
type signGovernor struct{}

// block is the paragraph, cell or heading whose signs are being counted.
type block struct {
	node       ast.Node
	end        int // of its text in the source
	signs      int
	delimiters int
}

var blockKey = parser.NewContextKey()

// Trigger implements parser.InlineParser: all signs that another parser has.
func (signGovernor) Trigger() []byte { return []byte(" ![]`<*_~(") }

// nearby is how far ahead the end of a construct is looked for before the rest of its
// paragraph is counted.
const nearby = 512

// Parse implements parser.InlineParser.
func (signGovernor) Parse(parent ast.Node, reader text.Reader, pc parser.Context) ast.Node {
	b := budgetOf(pc)
	k, _ := pc.Get(blockKey).(*block)
	if k == nil || k.node != parent {
		k = &block{node: parent}
		if lines := parent.Lines(); lines != nil && lines.Len() > 0 {
			k.end = lines.At(lines.Len() - 1).Stop
		}
		pc.Set(blockKey, k)
	}
	k.signs++
	line, seg := reader.PeekLine()
	rest := reader.Source()[seg.Start:max(seg.Start, k.end)]
	switch line[0] {
	case '*', '_', '~':
		if k.delimiters++; k.delimiters > maxDelimiters {
			panic(halt{ErrTooDense})
		}
		b.spend(4*k.delimiters + wordLength(line))
	case '`':
		run := line[:len(line)-len(bytes.TrimLeft(line, "`"))]
		b.spend(distance(rest[len(run):], run))
	case '<':
		b.spend(4 * distance(rest, []byte(">")))
	case ']':
		b.spend(8 * k.signs) // the nodes since the opening bracket
		if len(rest) > 1 && rest[1] == '(' {
			b.spend(distance(rest, []byte(")")))
		} else if len(rest) > 1 && rest[1] == '[' {
			b.spend(distance(rest[1:], []byte("]")))
		}
	default:
		b.spend(16 + wordLength(line))
	}
	return nil
}

// wordLength is how far a mail address could reach.
func wordLength(line []byte) int {
	if n := bytes.IndexByte(line[1:], ' '); n >= 0 {
		return n
	}
	return len(line)
}

// distance is how far a search for an end goes: all of the rest unless the end is near.
func distance(rest, end []byte) int {
	if n := bytes.Index(rest[:min(len(rest), nearby)], end); n >= 0 {
		return n
	}
	return len(rest)
}
