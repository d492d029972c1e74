package markup

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
)

// maxNesting bounds the block nesting of Markdown, which the parser pays for with
// the square.
const maxNesting = 100

// maxIndent bounds the spaces before a line, which nested lists are made with.
const maxIndent = 1000

// ToHTML converts GitHub-flavoured Markdown (tables, strikethrough, task lists,
// bare addresses) to HTML that a RichText card may hold: raw HTML is let in, and
// then all of it is sanitised, see Sanitize. Links, nests and their escapes stay
// byte for byte, in table cells and code too. It fails with ErrTooLong, ErrTooDeep,
// ErrTooDense, ErrTooWide or ErrTooMuch, see Refuses, and soon after ctx ends with its
// error.
func ToHTML(ctx context.Context, markdown string) (string, error) {
	out, err := toHTML(ctx, Clean(markdown), markdownParser())
	if err != nil {
		return "", err
	}
	return Sanitize(ctx, out)
}

// ToHTMLTrusted is ToHTML without sanitising, for authors who may write scripts.
func ToHTMLTrusted(ctx context.Context, markdown string) (string, error) {
	return toHTML(ctx, markdown, trustedParser())
}

func toHTML(ctx context.Context, markdown string, converter goldmark.Markdown) (out string, err error) {
	if len(markdown) > MaxConvert {
		return "", ErrTooLong
	}
	if tooDeep(markdown) {
		return "", ErrTooDeep
	}
	defer halted(&err)
	p := protect(markdown)
	source, b := []byte(p.text), newBudget(ctx)
	b.check()
	pc := parser.NewContext()
	pc.Set(budgetKey, b)
	doc := converter.Parser().Parse(&meteredReader{text.NewReader(source), b}, parser.WithContext(pc))
	var buf bytes.Buffer
	if err := converter.Renderer().Render(&boundedWriter{Writer: &buf, budget: b}, source, doc); err != nil {
		return "", fmt.Errorf("convert Markdown: %w", err)
	}
	b.check()
	return strings.TrimRight(p.restoreHTML(ctx, buf.String(), asRestored), "\n"), ctx.Err()
}

// ToMarkdown converts HTML to GitHub-flavoured Markdown. Links, nests and their
// escapes stay as they are, unescaped, in tables too. Scripts, styles and comments
// go. For Markdown m of ordinary documents, HTML made from ToMarkdown(ToHTML(m))
// equals ToHTML(m). A block longer than 16 KiB may be parted. It fails as ToHTML does.
func ToMarkdown(ctx context.Context, content string) (md string, err error) {
	if len(content) > MaxConvert {
		return "", ErrTooLong
	}
	defer halted(&err)
	p := protect(content)
	bracket := ""
	if strings.Count(p.text, "[")*min(len(p.text), pieceSize) > maxEscaping {
		bracket = cmp.Or(unheld(p.text), p.mark+"b")
		p.text = strings.ReplaceAll(p.text, "[", bracket)
	}
	out, err := writeMarkdown(p.text, newBudget(ctx))
	if err != nil {
		return "", err
	}
	if bracket != "" { // an address has it in the form of addresses
		out = strings.NewReplacer(bracket, `\[`, url.PathEscape(bracket), `\[`).Replace(out)
	}
	return strings.TrimSpace(p.restore(out, asIs)), nil
}

// writeMarkdown writes HTML without wiki syntax as Markdown, piece by piece.
func writeMarkdown(content string, b *budget) (string, error) {
	root := buildTree(content, b)
	lineEnd := unheld(content)
	if lineEnd != "" {
		markBreaks(root, lineEnd)
	}
	countTables(root, b)
	countNesting(root, 0, b)
	var out strings.Builder
	for _, piece := range piecesOf(root) {
		b.check()
		md, err := markdownWriter().ConvertNode(piece.node, converter.WithContext(b.ctx))
		if err != nil {
			return "", fmt.Errorf("convert HTML: %w", err)
		}
		b.check()
		switch {
		case out.Len() == 0 || len(md) == 0:
		case piece.joins:
			out.WriteByte('\n')
		default:
			out.WriteString("\n\n")
		}
		if out.Write(md); out.Len() > maxConverted {
			return "", ErrTooMuch
		}
	}
	if lineEnd == "" {
		return out.String(), nil
	}
	return writeBreaks(out.String(), lineEnd), nil
}

// unheld is a private character that HTML holds in no encoding, so that it can stand for
// another at little cost, in a text and in an address; "" where there is none.
func unheld(text string) string {
	held := map[rune]bool{}
	for _, r := range html.UnescapeString(text) {
		if r >= firstPrivate {
			held[r] = true
		}
	}
	for r := rune(firstPrivate); r <= lastPrivate; r++ {
		if one := string(r); !held[r] && !strings.Contains(text, url.PathEscape(one)) {
			return one
		}
	}
	return ""
}

// The private characters of plane 15.
const firstPrivate, lastPrivate = 0xf0000, 0xffffd

// markdownParser and trustedParser return the parsers, which hold no state between
// texts.
var (
	markdownParser = sync.OnceValue(func() goldmark.Markdown { return newParser(normalizer{}) })
	trustedParser  = sync.OnceValue(func() goldmark.Markdown { return newParser(normalizer{keepComments: true}) })
)

func newParser(n normalizer) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(
			parser.WithASTTransformers(util.Prioritized(n, 500)),
			parser.WithParagraphTransformers(util.Prioritized(tableGovernor{}, 150)), // after references, before tables
			parser.WithInlineParsers(util.Prioritized(signGovernor{}, 0))),
		goldmark.WithRendererOptions(gmhtml.WithUnsafe()),
	)
}

// maxEscaping bounds brackets times length of a piece of HTML, the steps in which the
// writer finds out which brackets need a backslash. Beyond it, which takes four thousand
// brackets, all of them get one, in code too.
const maxEscaping = 64 << 20

// markdownWriter returns the one writer, which holds no state between texts.
var markdownWriter = sync.OnceValue(func() *converter.Converter {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
	c.Register.RendererFor("input", converter.TagTypeInline, writeCheckBox, converter.PriorityEarly)
	c.Register.Renderer(skipIfDone, -1)
	return c
})

// skipIfDone writes nothing more once the caller has left.
func skipIfDone(ctx converter.Context, _ converter.Writer, _ *html.Node) converter.RenderStatus {
	if ctx.Err() != nil {
		return converter.RenderSuccess
	}
	return converter.RenderTryNext
}

// writeCheckBox writes the check box of a task list item.
func writeCheckBox(_ converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	box, kind := "[ ]", ""
	for _, a := range n.Attr {
		switch a.Key {
		case "type":
			kind = a.Val
		case "checked":
			box = "[x]"
		}
	}
	if !strings.EqualFold(kind, "checkbox") {
		return converter.RenderTryNext
	}
	_, _ = w.WriteString(box)
	return converter.RenderSuccess
}

// tooDeep tells of a line that opens more blocks than documents do.
func tooDeep(markdown string) bool {
	for line := range strings.Lines(markdown) {
		if len(line) <= maxNesting {
			continue
		}
		opening := line[:len(line)-len(strings.TrimLeft(line, " \t>-*+.)0123456789"))]
		quotes := strings.Count(opening, ">")
		items := len(strings.FieldsFunc(opening, func(r rune) bool { return r == ' ' || r == '\t' || r == '>' }))
		rule := strings.Trim(line, "-* \t\r\n") == ""
		if quotes > maxNesting || !rule && items > maxNesting || len(opening)-len(strings.TrimLeft(opening, " \t")) > maxIndent {
			return true
		}
	}
	return false
}
