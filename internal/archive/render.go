package archive

import (
	"context"
	"errors"
	"html"
	"net/url"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Bounds of one rendering. Beyond them a nest is rendered as a link to its card.
const (
	maxDepth    = 5       // depth of nests inside nests
	maxNests    = 500     // number of nests
	maxRendered = 1 << 20 // bytes of content
)

// renderer renders one page for one reader. It resolves nests first and sanitises the result last,
// so nested content is sanitised by the same rules as the page. A nest of a hidden card and a nest
// of a missing card both render as nothing.
type renderer struct {
	l     *canon.Snapshot
	main  string         // name of the page
	open  []canon.CardID // cards being rendered, outermost first
	nests int
	size  int

	apart *apart // sets hidden parts apart; nil: they stand in the text as any other part of it
}

// renderCard returns a card's content as safe HTML, with nests shown in place and links left as
// they are written.
func renderCard(ctx context.Context, l *canon.Snapshot, c canon.Card) (string, error) {
	r := &renderer{l: l, main: c.Name}
	body, err := r.cardHTML(ctx, c, nil)
	if err != nil {
		return "", err
	}
	return markup.Sanitize(ctx, body)
}

// renderApart is renderCard with each hidden part that the reader sees in an element of its own; see apart.
func renderApart(ctx context.Context, l *canon.Snapshot, c canon.Card) (string, error) {
	if l.View().Level < access.LevelGM {
		return renderCard(ctx, l, c)
	}
	r := &renderer{l: l, main: c.Name, apart: newApart(c)}
	body, err := r.cardHTML(ctx, c, nil)
	if err != nil {
		return "", err
	}
	if body, err = markup.Sanitize(ctx, body); err != nil {
		return "", err
	}
	return r.apart.put(body), nil
}

// renderHTML does the same for HTML that does not belong to a card.
func renderHTML(ctx context.Context, l *canon.Snapshot, text string) (string, error) {
	r := &renderer{l: l}
	body, err := r.expandNests(ctx, text, "")
	if err != nil {
		return "", err
	}
	return markup.Sanitize(ctx, body)
}

// renderMarkdown is renderCard as Markdown. A stored card that cannot be converted is returned as
// plain text.
func renderMarkdown(ctx context.Context, l *canon.Snapshot, c canon.Card) (string, error) {
	body, err := renderCard(ctx, l, c)
	if err != nil {
		return "", err
	}
	text, err := markup.ToMarkdown(ctx, body)
	if markup.Refuses(err) {
		return markup.Text(body), nil
	}
	return markup.Clean(text), err
}

// conversionFault converts the error of a conversion to a fault for callers.
func conversionFault(field string, err error) error {
	switch {
	case errors.Is(err, markup.ErrTooLong), errors.Is(err, markup.ErrTooMuch):
		e := fault.BadField(field, "%v", err)
		e.Kind = fault.TooLarge
		return e
	case markup.Refuses(err):
		return fault.BadField(field, "%v", err)
	}
	return err
}

// cardHTML returns a card's content as HTML, with its nests in place. items tells how a list shows
// its items; if it is empty they are links.
func (r *renderer) cardHTML(ctx context.Context, c canon.Card, items []markup.NestLevel) (string, error) {
	text, err := contentOf(ctx, r.l, c)
	if err != nil {
		return "", err
	}
	r.size += len(text)
	r.open = append(r.open, c.ID)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	if r.apart != nil {
		if text, err = r.setApart(ctx, c, text); err != nil {
			return "", err
		}
	}
	return r.textHTML(ctx, c, text, items)
}

// textHTML is cardHTML of a text that the card may have.
func (r *renderer) textHTML(ctx context.Context, c canon.Card, text string, items []markup.NestLevel) (string, error) {
	switch c.TextKind() {
	case canon.TextFile:
		return fileLink(c), nil
	case canon.TextData:
		return "<pre>" + escapeText(text) + "</pre>", nil
	case canon.TextItems:
		return r.itemsHTML(ctx, c, markup.Items(text), items)
	case canon.TextPlain:
		return r.expandNests(ctx, paragraphsHTML(text), c.Name)
	case canon.TextMarkdown:
		text, err := r.l.ShowReferred(ctx, c, text)
		if err != nil {
			return "", err
		}
		body, err := markup.HTMLView.Render(ctx, text)
		if err != nil && !markup.Refuses(err) {
			return "", err
		}
		if err != nil {
			// Too long or too deeply nested to convert: shown as it is.
			return "<pre>" + escapeText(text) + "</pre>", nil
		}
		return r.expandNests(ctx, body, c.Name)
	}
	return r.expandNests(ctx, text, c.Name)
}

// expandNests replaces the nests in the HTML of the card self by the content that they show.
func (r *renderer) expandNests(ctx context.Context, text, self string) (string, error) {
	text = markup.DropComments(text)
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	var b strings.Builder
	done := 0
	for _, ref := range markup.Refs(text) {
		if ref.Kind != markup.NestRef {
			continue
		}
		shown, err := r.nestHTML(ctx, markup.ParseNest(text[ref.Start+2:ref.End-2]), self)
		if err != nil {
			return "", err
		}
		b.WriteString(text[done:ref.Start])
		b.WriteString(shown)
		done = ref.End
	}
	b.WriteString(text[done:])
	return b.String(), nil
}

// nestHTML returns the HTML that one nest shows.
func (r *renderer) nestHTML(ctx context.Context, n markup.Nest, self string) (string, error) {
	name := n.Name
	if !isHandle(name) {
		name = markup.Context{Self: self, Main: r.main}.Resolve(name)
	}
	if r.nests++; r.nests > maxNests {
		return asLink(name), nil
	}
	c, ok, err := r.l.Exists(ctx, name)
	if err != nil || !ok {
		return "", err
	}
	switch n.View {
	case "name":
		return escapeText(c.Name), nil
	case "link", "closed":
		return asLink(c.Name), nil
	}
	if len(r.open) > maxDepth || slices.Contains(r.open, c.ID) || r.size+c.Size > maxRendered {
		return asLink(c.Name), nil
	}
	body, err := r.cardHTML(ctx, c, n.Items)
	if err != nil {
		return "", err
	}
	if n.View == "titled" || n.View == "open" {
		title, given := n.Get("title")
		if !given {
			title = c.Name
		}
		return "<h3>" + escapeText(title) + "</h3>" + body, nil
	}
	return body, nil
}

// itemsHTML renders a list: its items as links, or in place if the nest asks for that.
func (r *renderer) itemsHTML(ctx context.Context, c canon.Card, items []string,
	levels []markup.NestLevel) (string, error) {
	level := markup.NestLevel{View: "link"}
	if markup.KeyOf(c.Type) == "nest_list" {
		level.View = "content"
	}
	var deeper []markup.NestLevel
	if len(levels) > 0 {
		level, deeper = levels[0], levels[1:]
	}
	var b strings.Builder
	b.WriteString("<ul>")
	for _, item := range items {
		shown := "[[" + item + "]]"
		if level.View != "link" {
			var err error
			if shown, err = r.nestHTML(ctx, markup.Nest{Name: item, NestLevel: level, Items: deeper}, c.Name); err != nil {
				return "", err
			}
		}
		if shown != "" {
			b.WriteString("<li>" + shown + "</li>")
		}
	}
	b.WriteString("</ul>")
	return b.String(), nil
}

func asLink(name string) string { return "[[" + name + "]]" }

// escapeText escapes &, < and > for HTML and leaves quotes as they are.
var escapeText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// paragraphsHTML returns plain text as HTML paragraphs.
func paragraphsHTML(text string) string {
	var b strings.Builder
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			b.WriteString("<p>" + strings.ReplaceAll(escapeText(p), "\n", "<br>") + "</p>")
		}
	}
	return b.String()
}

// fileLink returns the HTML that shows an attached file.
func fileLink(c canon.Card) string {
	at, name := html.EscapeString(filePath(c.Name)), html.EscapeString(c.Name)
	if markup.KeyOf(c.Type) == markup.KeyOf(canon.TypeImage) {
		return `<img src="` + at + `" alt="` + name + `">`
	}
	return `<a href="` + at + `">` + name + `</a>`
}

// cardPath returns a card's REST path, filePath that of its file.
func cardPath(name string) string { return "/api/mcp/cards/" + url.PathEscape(name) }
func filePath(name string) string { return cardPath(name) + "/file" }
