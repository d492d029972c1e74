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

// maxNesting is the maximum block nesting of Markdown. The cost of parsing is quadratic in the
// nesting.
const maxNesting = 100

// maxIndent is the maximum number of spaces before a line. Indentation makes nested lists.
const maxIndent = 1000

// ToHTML converts GitHub-flavoured Markdown (tables, strikethrough, task lists, bare addresses) to
// HTML that a RichText card may contain. Raw HTML is allowed, and the whole result is sanitised,
// see Sanitize. Links, nests and their escapes are preserved byte for byte, also in table cells and
// code. It fails with ErrTooLong, ErrTooDeep, ErrTooDense, ErrTooWide or ErrTooMuch, see Refuses,
// or soon after ctx ends with the error of ctx.
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
	if isTooDeep(markdown) {
		return "", ErrTooDeep
	}
	defer recoverHalt(&err)
	p := protectSyntax(markdown)
	source, b := []byte(p.text), newBudget(ctx)
	b.checkContext()
	pc := parser.NewContext()
	pc.Set(budgetKey, b)
	doc := converter.Parser().Parse(&meteredReader{text.NewReader(source), b}, parser.WithContext(pc))
	var buf bytes.Buffer
	if err := converter.Renderer().Render(&boundedWriter{Writer: &buf, budget: b}, source, doc); err != nil {
		return "", fmt.Errorf("convert Markdown: %w", err)
	}
	b.checkContext()
	return strings.TrimRight(p.restoreHTML(ctx, buf.String(), keepTag), "\n"), ctx.Err()
}

// ToMarkdown converts HTML to GitHub-flavoured Markdown. Links, nests and their escapes are
// preserved without further escaping, also in tables. Scripts, styles and comments are dropped. For
// Markdown m of ordinary documents, ToHTML(ToMarkdown(ToHTML(m))) equals ToHTML(m). A block longer
// than 16 KiB may be split. The errors are those of ToHTML.
func ToMarkdown(ctx context.Context, content string) (md string, err error) {
	if len(content) > MaxConvert {
		return "", ErrTooLong
	}
	defer recoverHalt(&err)
	p := protectSyntax(content)
	bracket := ""
	if strings.Count(p.text, "[")*min(len(p.text), pieceSize) > maxEscaping {
		bracket = cmp.Or(unusedRune(p.text), p.mark+"b")
		p.text = strings.ReplaceAll(p.text, "[", bracket)
	}
	out, err := writeMarkdown(p.text, newBudget(ctx))
	if err != nil {
		return "", err
	}
	if bracket != "" { // addresses contain the placeholder in its escaped form
		out = strings.NewReplacer(bracket, `\[`, url.PathEscape(bracket), `\[`).Replace(out)
	}
	return strings.TrimSpace(p.restorePieces(out, keepPiece)), nil
}

// writeMarkdown converts HTML without wiki syntax to Markdown, piece by piece.
func writeMarkdown(content string, b *budget) (string, error) {
	root := buildTree(content, b)
	lineEnd := unusedRune(content)
	if lineEnd != "" {
		markBreaks(root, lineEnd)
	}
	countTables(root, b)
	countNesting(root, 0, b)
	var out strings.Builder
	for _, piece := range piecesOf(root) {
		b.checkContext()
		md, err := markdownWriter().ConvertNode(piece.node, converter.WithContext(b.ctx))
		if err != nil {
			return "", fmt.Errorf("convert HTML: %w", err)
		}
		b.checkContext()
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

// unusedRune returns a private-use character that the text does not contain in any encoding, to
// serve as a short placeholder in texts and addresses. It returns "" if there is none.
func unusedRune(text string) string {
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

// The private-use characters of plane 15.
const firstPrivate, lastPrivate = 0xf0000, 0xffffd

// markdownParser and trustedParser return the shared parsers. They keep no state between texts.
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
			parser.WithParagraphTransformers(util.Prioritized(definitionSplitter{}, 50), // before link references
				util.Prioritized(tableGovernor{}, 150)), // after them, before tables
			parser.WithInlineParsers(util.Prioritized(signGovernor{}, 0))),
		goldmark.WithRendererOptions(gmhtml.WithUnsafe()),
	)
}

// maxEscaping limits the number of brackets multiplied by the length of a piece of HTML. The writer
// needs that many steps to decide which brackets need a backslash. Above the limit, reached by
// about four thousand brackets, every bracket gets one, even in code.
const maxEscaping = 64 << 20

// markdownWriter returns the shared writer. It keeps no state between texts.
var markdownWriter = sync.OnceValue(func() *converter.Converter {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
	c.Register.RendererFor("input", converter.TagTypeInline, writeCheckBox, converter.PriorityEarly)
	c.Register.Renderer(skipIfDone, -1)
	return c
})

// skipIfDone makes the writer skip all further nodes once the context has ended.
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

// isTooDeep reports whether a line opens more nested blocks than ordinary documents have.
func isTooDeep(markdown string) bool {
	for line := range strings.Lines(markdown) {
		if len(line) <= maxNesting {
			continue
		}
		opening := line[:len(line)-len(strings.TrimLeft(line, " \t>-*+.)0123456789"))]
		quotes := strings.Count(opening, ">")
		items := len(strings.FieldsFunc(opening, func(r rune) bool { return r == ' ' || r == '\t' || r == '>' }))
		rule := strings.Trim(line, "-* \t\r\n") == ""
		if quotes > maxNesting || !rule && items > maxNesting ||
			len(opening)-len(strings.TrimLeft(opening, " \t")) > maxIndent {
			return true
		}
	}
	return false
}
