package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The Markdown parser is quadratic in its input in several places. The types here hook into the
// parser and count its steps before it takes them.

// budgetKey is the key of the budget in a parser's context.
var budgetKey = parser.NewContextKey()

func budgetOf(pc parser.Context) *budget { return pc.Get(budgetKey).(*budget) }

// meteredReader is the source of a text. The parser calls PeekLine once per line for each block
// that is open there.
type meteredReader struct {
	text.Reader
	budget *budget
}

// lineCost is the number of steps of one block on one line. The parser also keeps 24 bytes for
// each.
const lineCost = 200

// PeekLine implements text.Reader.
func (r *meteredReader) PeekLine() ([]byte, text.Segment) {
	r.budget.spend(lineCost)
	return r.Reader.PeekLine()
}

// tableGovernor counts the cells of a paragraph that may be a table, before the table transformer
// creates them.
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
		// The parser compares each code span with each escaped bar of all tables.
		rest := reader.Source()[seg.Start:lines.At(lines.Len()-1).Stop]
		b.spend(8 * bytes.Count(rest, []byte(`\|`)) * bytes.Count(rest, []byte("`")))
		return
	}
}

// delimiterColumns returns the number of columns that a delimiter line gives a table, or 0 if the
// line is not a delimiter line.
func delimiterColumns(line []byte) int {
	if len(bytes.Trim(line, "|:- \t\r\n")) > 0 || bytes.IndexByte(line, '-') < 0 {
		return 0
	}
	return bytes.Count(line, []byte("|")) + 1
}

// maxDelimiters is the maximum number of runs of '*', '_' or '~' in one paragraph. The parser
// compares them with each other without interruption.
const maxDelimiters = 4000

// signGovernor counts steps at each character where the parser looks ahead or back. It parses
// nothing itself.
type signGovernor struct{}

// block is the paragraph, cell or heading whose special characters are being counted.
type block struct {
	node       ast.Node
	end        int // end of its text in the source
	signs      int
	delimiters int
}

var blockKey = parser.NewContextKey()

// Trigger implements parser.InlineParser. It returns the characters that trigger the other parsers.
func (signGovernor) Trigger() []byte { return []byte(" ![]`<*_~(") }

// nearby is the maximum distance at which a construct's end counts as near. Farther ends cost as
// much as the rest of the paragraph.
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
		b.spend(searchDistance(rest[len(run):], run))
	case '<':
		b.spend(4 * searchDistance(rest, []byte(">")))
	case ']':
		b.spend(8 * k.signs) // the parser visits the nodes since the opening bracket
		if len(rest) > 1 && rest[1] == '(' {
			b.spend(searchDistance(rest, []byte(")")))
		} else if len(rest) > 1 && rest[1] == '[' {
			b.spend(searchDistance(rest[1:], []byte("]")))
		}
	default:
		b.spend(16 + wordLength(line))
	}
	return nil
}

// wordLength returns the maximum length of a mail address at the start of a line.
func wordLength(line []byte) int {
	if n := bytes.IndexByte(line[1:], ' '); n >= 0 {
		return n
	}
	return len(line)
}

// searchDistance returns the number of bytes that a search for end reads: up to all of rest, unless
// end is near.
func searchDistance(rest, end []byte) int {
	if n := bytes.Index(rest[:min(len(rest), nearby)], end); n >= 0 {
		return n
	}
	return len(rest)
}
