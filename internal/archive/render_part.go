package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/lazyregexp"
	"loregate/internal/marked"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// apart has the hidden parts of a rendered page. While the text around them is rendered, a word stands in the place of
// each. Then put replaces the words by elements:
//
//	<div data-hidden="gm" data-part="ID" data-card="ID" data-told="ada ben">…</div>
//
// or a span within a paragraph. data-hidden is the lowest level that reads the part, data-part its id, and
// data-told the subjects who read it by name. A mark within a part, which hides once the part is open, gives an
// element without data-part. The element is made after the text was sanitised, so that no text can contain one.
type apart struct {
	mark  string   // begins the words; the text cannot contain it
	parts []string // the elements' HTML, safe
}

func newApart(c canon.Card) *apart {
	sum := sha256.Sum256([]byte("hidden part " + c.ID.String() + " " + hex.EncodeToString(c.Content[:])))
	return &apart{mark: "x" + hex.EncodeToString(sum[:12]) + "p"}
}

// passage is a part of a text that is set apart.
type passage struct {
	text  string
	level access.Level
	part  string // id; "" for a mark within a part
	told  []access.Subject
}

// setApart returns a card's text with a word in the place of each hidden part.
func (r *renderer) setApart(ctx context.Context, c canon.Card, text string) (string, error) {
	parts, whole, err := r.l.Parts(ctx, c)
	if err != nil || len(parts) == 0 {
		return text, err
	}
	var b strings.Builder
	at := 0
	for _, p := range parts {
		b.WriteString(whole[at:p.At])
		at = p.At + len(p.Text)
		if err := r.setPassage(ctx, c, &b, passage{p.Text, p.Label.Level, p.ID, p.Label.Subjects}, whole[at:]); err != nil {
			return "", err
		}
	}
	return markup.Clean(b.String() + whole[at:]), nil
}

// head matches the signs at the beginning of a line that make it an item of a list or a row of a table.
var head = lazyregexp.New(`^(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|^\|`)

// callout matches the sign of a callout and its title.
var callout = lazyregexp.New(`^((?:>[ \t]*)+)\[![^\]\n]*\][+-]?[ \t]*([^\n]*)`)

// showCallout returns a text that begins with a callout with the callout's title in bold, without its sign.
func showCallout(text string) string {
	m := callout.FindStringSubmatch(text)
	switch {
	case m == nil:
		return text
	case m[2] == "":
		return m[1] + text[len(m[0]):]
	}
	return m[1] + "**" + m[2] + "**\n" + m[1] + text[len(m[0]):]
}

// setPassage adds the word for a passage to the text before it. A passage of whole lines becomes a block of its
// own, or stays an item of its list or a row of its table.
func (r *renderer) setPassage(ctx context.Context, c canon.Card, before *strings.Builder, p passage,
	after string) error {
	core := strings.TrimSpace(p.text)
	lead := p.text[:strings.Index(p.text, core)]
	trail := p.text[len(lead)+len(core):]
	if core == "" {
		before.WriteString(p.text)
		return nil
	}
	above := before.String() + lead
	starts := strings.TrimRight(above, " \t") == "" || strings.HasSuffix(strings.TrimRight(above, " \t"), "\n")
	ends := strings.Trim(trail+after, " \t") == "" || strings.HasPrefix(strings.TrimLeft(trail+after, " \t"), "\n")
	first, last := "", ""
	if starts && ends && c.TextKind() != canon.TextHTML {
		if first = head.FindString(core); first == "|" {
			core, last = strings.TrimSpace(strings.Trim(core, "|")), " |"
		} else if first != "" && !strings.Contains(core, "\n") {
			core = core[len(first):]
		} else if first == "" {
			first, last = "\n", "\n"
		}
	}
	word, err := r.renderPassage(ctx, c, p, core)
	if err != nil {
		return err
	}
	before.WriteString(lead + first + word + last + trail)
	return nil
}

// renderPassage renders the text of a passage and returns the word that stands for it; "" if the text shows nothing.
func (r *renderer) renderPassage(ctx context.Context, c canon.Card, p passage, text string) (word string, err error) {
	if text, err = r.setInner(ctx, c, p, text); err != nil {
		return "", err
	}
	body, err := r.textHTML(ctx, c, showCallout(text), nil)
	if err != nil {
		return "", err
	}
	if body, err = markup.Sanitize(ctx, body); err != nil {
		return "", err
	}
	if strings.TrimSpace(markup.Text(body)) == "" && !strings.Contains(body, "<img") {
		return "", nil // nothing of it is ever shown, such as a script
	}
	r.apart.parts = append(r.apart.parts, r.apart.element(c, p, r.apart.put(body)))
	return r.apart.mark + strconv.Itoa(len(r.apart.parts)-1) + "e", nil
}

// setInner returns the text of a passage without the signs of a comment, and with words in the place of marks in it.
func (r *renderer) setInner(ctx context.Context, c canon.Card, p passage, text string) (string, error) {
	in := marked.ReadInner(text, formsOfMarks[c.TextKind()])
	if len(in.Parts) == 0 {
		return in.Text, nil
	}
	var b strings.Builder
	b.WriteString(in.Text[:in.From])
	at, tail := 0, in.Text[in.To:]
	for _, x := range in.Parts {
		b.WriteString(in.Open[at:x.At])
		at = x.At
		if err := r.setPassage(ctx, c, &b, passage{text: x.Text, level: p.level}, in.Open[at:]+tail); err != nil {
			return "", err
		}
	}
	return b.String() + in.Open[at:] + tail, nil
}

// formsOfMarks are the forms in which the marks of texts are read.
var formsOfMarks = map[canon.TextKind]marked.Form{canon.TextHTML: marked.HTML, canon.TextMarkdown: marked.Markdown,
	canon.TextPlain: marked.Plain}

// onlyParagraph matches HTML that is one paragraph, of which only the content is needed within another one.
var onlyParagraph = lazyregexp.New(`(?s)^<p>(.*)</p>$`)

// blockTag matches an element that cannot stand in a paragraph.
var blockTag = lazyregexp.New(`(?i)<(p|div|ul|ol|table|blockquote|pre|h[1-6]|hr|section|article|aside|details|` +
	`figure|header|footer)\b`)

func (a *apart) element(c canon.Card, p passage, body string) string {
	name := "div"
	body = strings.TrimSpace(body)
	if m := onlyParagraph.FindStringSubmatch(body); m != nil && !blockTag.MatchString(m[1]) {
		body = m[1]
	}
	if !blockTag.MatchString(body) {
		name = "span"
	}
	attrs := fmt.Sprintf(` data-hidden="%s"`, p.level)
	if p.part != "" {
		attrs += fmt.Sprintf(` data-part="%s" data-card="%s"`, html.EscapeString(p.part), c.ID)
	}
	if len(p.told) > 0 {
		names := slicesx.Map(p.told, func(s access.Subject) string { return string(s) })
		attrs += ` data-told="` + html.EscapeString(strings.Join(names, " ")) + `"`
	}
	return "<" + name + attrs + ">" + body + "</" + name + ">"
}

// put replaces the words in a text by their elements. A word that is a paragraph of its own becomes a block.
func (a *apart) put(text string) string {
	if !strings.Contains(text, a.mark) {
		return text
	}
	word := regexp.MustCompile(`(<p>)?` + a.mark + `(\d+)e(</p>)?`)
	return word.ReplaceAllStringFunc(text, func(found string) string {
		m := word.FindStringSubmatch(found)
		n, err := strconv.Atoi(m[2])
		if err != nil || n >= len(a.parts) {
			return found
		}
		e := a.parts[n]
		if m[1] == "" || m[3] == "" {
			return m[1] + e + m[3]
		}
		if inner, isSpan := strings.CutPrefix(e, "<span"); isSpan {
			open, body, _ := strings.Cut(strings.TrimSuffix(inner, "</span>"), ">")
			return "<div" + open + "><p>" + body + "</p></div>"
		}
		return e
	})
}
