package markup

import (
	"bytes"
	"context"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Block is a block of a Markdown text: a container, or a leaf that has lines of its own.
type Block struct {
	Kind     BlockKind
	From, To int    // offsets of the lines that it covers; To is after the last line's end
	Parent   int    // index of the block around it, or -1
	Quotes   int    // number of quotes around it, with itself
	Level    int    // of a heading
	Info     string // of a fence
	Ended    bool   // a fence has an end
	Lines    []Span // of a leaf: its text, line by line, without the signs of the blocks around it and line ends
}

// BlockKind is the kind of a block.
type BlockKind int

// The kinds. Those after FootnoteBlock are leaves.
const (
	QuoteBlock BlockKind = iota
	ListBlock
	ItemBlock
	FootnoteBlock
	ParagraphBlock
	HeadingBlock
	FenceBlock
	CodeBlock // indented
	HTMLBlock
	RuleBlock
)

// Span is a part of a text between two offsets; To is exclusive.
type Span struct{ From, To int }

// blockParser parses blocks alone. Definitions of links and tables are paragraphs.
var blockParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(append(parser.DefaultBlockParsers(),
		util.Prioritized(placedFootnote{extension.NewFootnoteBlockParser()}, 999))...))
})

// placedFootnote leaves footnotes where they stand.
type placedFootnote struct{ parser.BlockParser }

// Close implements parser.BlockParser.
func (placedFootnote) Close(ast.Node, text.Reader, parser.Context) {}

// The number of steps that reading the blocks of a text may take, and those for each of its bytes.
const (
	blocksBase = 64 << 20
	blocksByte = 100
)

// Blocks returns the blocks of a Markdown text in order, each before those in it. A line may end with CR, LF or both.
// It fails for texts that are nested too deeply, see Refuses.
func Blocks(markdown string) (blocks []Block, err error) {
	if isTooDeep(markdown) {
		return nil, ErrTooDeep
	}
	defer recoverHalt(&err)
	source, b := []byte(markdown), newBudget(context.Background())
	for i, c := range source {
		if c == '\r' && (i+1 == len(source) || source[i+1] != '\n') {
			source[i] = '\n'
		}
	}
	b.left = blocksBase + blocksByte*len(source)
	pc := parser.NewContext()
	pc.Set(budgetKey, b)
	doc := blockParser().Parse(&meteredReader{text.NewReader(source), b}, parser.WithContext(pc))
	o := blockReader{source: source, blocks: make([]Block, 0, doc.ChildCount())}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		o.add(n, -1, 0)
	}
	o.setEnds()
	return o.blocks, nil
}

type blockReader struct {
	source []byte
	blocks []Block
}

func (o *blockReader) add(n ast.Node, parent, quotes int) {
	b := Block{Parent: parent, Quotes: quotes}
	switch n := n.(type) {
	case *ast.Blockquote:
		b.Kind, b.Quotes = QuoteBlock, quotes+1
	case *ast.List:
		b.Kind = ListBlock
	case *ast.ListItem:
		b.Kind = ItemBlock
	case *extast.Footnote:
		b.Kind = FootnoteBlock
	case *ast.Heading:
		b.Kind, b.Level = HeadingBlock, n.Level
	case *ast.FencedCodeBlock:
		b.Kind = FenceBlock
		if n.Info != nil {
			b.Info = string(n.Info.Segment.Value(o.source))
		}
	case *ast.CodeBlock:
		b.Kind = CodeBlock
	case *ast.HTMLBlock:
		b.Kind = HTMLBlock
	case *ast.ThematicBreak:
		b.Kind = RuleBlock
	default:
		b.Kind = ParagraphBlock // also the text of an item
	}
	at := n.Pos()
	if b.Kind > FootnoteBlock {
		if lines := n.Lines(); lines != nil {
			for i := range lines.Len() {
				s := lines.At(i)
				b.Lines = append(b.Lines, Span{s.Start, s.Start + len(bytes.TrimRight(o.source[s.Start:s.Stop], "\r\n"))})
			}
		}
		if len(b.Lines) > 0 && (at < 0 || b.Lines[0].From < at) {
			at = b.Lines[0].From
		}
	}
	b.From = bytes.LastIndexByte(o.source[:max(at, 0)], '\n') + 1
	i := len(o.blocks)
	o.blocks = append(o.blocks, b)
	if b.Kind <= FootnoteBlock {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			o.add(c, i, b.Quotes)
		}
	}
}

// setEnds sets the ends of the blocks: each goes to the next one that is not in it, without the blank lines between.
func (o *blockReader) setEnds() {
	last := map[int]int{} // by block, the index of its last child so far
	for i, b := range o.blocks {
		if before, ok := last[b.Parent]; ok {
			o.blocks[before].To = b.From
		}
		last[b.Parent] = i
	}
	for i := range o.blocks {
		b := &o.blocks[i]
		if b.To == 0 {
			if b.To = len(o.source); b.Parent >= 0 {
				b.To = o.blocks[b.Parent].To
			}
		}
		b.To = o.withoutBlankLines(*b)
		if b.Kind == FenceBlock {
			content := b.From
			if n := len(b.Lines); n > 0 {
				content = b.Lines[n-1].From
			}
			b.Ended = bytes.LastIndexByte(o.source[:b.To-1], '\n') >= content
		}
	}
}

// withoutBlankLines returns the end of a block before the blank lines at its end. Those with the signs of a quote
// belong to the quote.
func (o *blockReader) withoutBlankLines(b Block) int {
	to := max(b.To, b.From+1)
	for to > b.From+1 {
		start := bytes.LastIndexByte(o.source[:to-1], '\n') + 1
		line := o.source[start:to]
		if start <= b.From || len(bytes.Trim(line, " \t\r\n>")) > 0 || b.Kind == QuoteBlock && bytes.Count(line,
			[]byte(">")) >= b.Quotes {
			break
		}
		to = start
	}
	return min(to, len(o.source))
}
