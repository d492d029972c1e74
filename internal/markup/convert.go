package markup

import (
	"bytes"
	"cmp"
	"errors"
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
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
)

// MaxConvert is the longest text that is converted, in bytes.
const MaxConvert = 2 << 20

// ErrTooLong, ErrTooDeep and ErrTooDense are what a conversion refuses.
var (
	ErrTooLong  = errors.New("the text is longer than 2 MiB: convert it in pieces")
	ErrTooDeep  = errors.New("the text is nested too deeply: take out lists or quotes inside one another")
	ErrTooDense = errors.New("a paragraph has too many brackets or stars for its length: part it with blank lines")
)

// maxNesting bounds the block nesting of Markdown, which the parser pays for with
// the square.
const maxNesting = 100

// maxIndent bounds the spaces before a line, which nested lists are made with.
const maxIndent = 1000

// ToHTML converts GitHub-flavoured Markdown (tables, strikethrough, task lists,
// bare addresses) to HTML that a RichText card may hold: raw HTML is let in, and
// then all of it is sanitised, see Sanitize. Links, nests and their escapes stay
// byte for byte, in table cells and code too. It fails with ErrTooLong, ErrTooDeep
// or ErrTooDense.
func ToHTML(markdown string) (string, error) {
	out, err := toHTML(Clean(markdown), markdownParser())
	if err != nil {
		return "", err
	}
	return Sanitize(out), nil
}

// ToHTMLTrusted is ToHTML without sanitising, for authors who may write scripts.
func ToHTMLTrusted(markdown string) (string, error) {
	return toHTML(markdown, trustedParser())
}

func toHTML(markdown string, converter goldmark.Markdown) (string, error) {
	if len(markdown) > MaxConvert {
		return "", ErrTooLong
	}
	if tooDeep(markdown) {
		return "", ErrTooDeep
	}
	p := protect(markdown)
	if tooDense(p.text) {
		return "", ErrTooDense
	}
	var b bytes.Buffer
	if err := converter.Convert([]byte(p.text), &b); err != nil {
		return "", fmt.Errorf("convert Markdown: %w", err)
	}
	return strings.TrimRight(p.restoreHTML(b.String(), asRestored), "\n"), nil
}

// ToMarkdown converts HTML to GitHub-flavoured Markdown. Links, nests and their
// escapes stay as they are, unescaped, in tables too. Scripts, styles and comments
// go. For Markdown m of ordinary documents, HTML made from ToMarkdown(ToHTML(m))
// equals ToHTML(m). It fails with ErrTooLong or ErrTooDeep.
func ToMarkdown(content string) (string, error) {
	if len(content) > MaxConvert {
		return "", ErrTooLong
	}
	p := protect(content)
	bracket := ""
	if strings.Count(p.text, "[")*len(p.text) > maxEscaping {
		bracket = cmp.Or(unheld(p.text), p.mark+"b")
		p.text = strings.ReplaceAll(p.text, "[", bracket)
	}
	out, err := markdownWriter().ConvertString(p.text)
	if err != nil {
		return "", fmt.Errorf("%w (%w)", ErrTooDeep, err)
	}
	if bracket != "" { // an address has it in the form of addresses
		out = strings.NewReplacer(bracket, `\[`, url.PathEscape(bracket), `\[`).Replace(out)
	}
	return strings.TrimSpace(p.restore(out, asIs)), nil
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
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(n, 500))),
		goldmark.WithRendererOptions(gmhtml.WithUnsafe()),
	)
}

// maxEscaping bounds brackets times length of HTML, the steps in which the writer
// finds out which brackets need a backslash. Beyond it, which takes a thousand
// lone brackets in 128 KiB, all of them get one, in code too.
const maxEscaping = 128 << 20

// markdownWriter returns the one writer, which holds no state between texts.
var markdownWriter = sync.OnceValue(func() *converter.Converter {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
	c.Register.RendererFor("input", converter.TagTypeInline, writeCheckBox, converter.PriorityEarly)
	return c
})

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

// maxDense bounds, summed over paragraphs, signs times length: the steps that the
// parser takes at worst over signs that might open something. Measured, the most
// costly signs take about a second for this many.
const maxDense = 1 << 31

// tooDense tells of paragraphs that would take the square of their length.
func tooDense(markdown string) bool {
	work := 0
	for block := range strings.SplitSeq(markdown, "\n\n") {
		signs := 4 * strings.Count(block, "](")
		for _, c := range []byte(block) {
			switch c {
			case '[', ']', '*', '_', '~', '`', '<', '!', '&', ':':
				signs++
			}
		}
		work += signs * len(block)
	}
	return work > maxDense
}
