package archive

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func renderReads(d *deps) []*op.Operation {
	return []*op.Operation{
		surface.DefineRead(d.Kit, op.Spec{
			Name: "render_snippet",
			Asked: []string{
				"page as plain text for a chat", "print an article without markup",
				"read aloud text with inserted pages", "readable version without markup",
				"text ready to paste into a message", "strip the formatting of a page",
				"clean copy to read aloud", "plain words without brackets", "page with its insertions filled in",
				"paste an article elsewhere",
			},
			Title: "Show a card in a chat",
			Doc: "Convert a card, or HTML, to Markdown or plain text that can be shown to a person. " +
				"Nested cards are shown in place, as far as you may see them; [[links]] stay as written.",
			Route:  "POST /api/mcp/render",
			Target: "name",
			Examples: []op.Example{
				{Title: "A card as Markdown", Input: `{"name": "Rent Quay", "max_length": 2000}`},
				{Title: "HTML as plain text", Input: `{"html": "<p>The <b>lamp</b> of [[Oda Tarn]]</p>", "mode": "text"}`},
			},
		}, renderSnippet),
		surface.DefineRead(d.Kit, op.Spec{
			Name: "render_markdown",
			Asked: []string{
				"turn Markdown into HTML", "how would this text be stored", "convert formatting",
				"preview formatted text", "asterisks into bold", "make web code of plain markup",
				"see how my draft will be displayed",
			},
			Title: "Convert Markdown to card HTML",
			Doc: "Convert Markdown to the HTML of a RichText card, to see the form in which markdown_content is stored. " +
				"[[links]] and {{nests}} stay unchanged; scripts and event handlers are removed. For admins, mode trusted keeps them.",
			Route:    "POST /api/mcp/render/markdown",
			Examples: []op.Example{{Title: "A heading and a link", Input: `{"markdown": "## The lamp\n\nSee [[Oda Tarn]]."}`}},
		}, renderGivenMarkdown),
	}
}

type snippetIn struct {
	Name      string `json:"name,omitzero" maxlen:"1020" jsonschema:"Name of the card to show; or give html."`
	HTML      string `json:"html,omitzero" alias:"content" maxlen:"1048576" jsonschema:"HTML to convert, in place of a card."`
	Mode      string `json:"mode,omitzero" enum:"markdown,text" default:"markdown" jsonschema:"Form of the answer."`
	MaxLength int    `json:"max_length,omitzero" min:"1" max:"1048576" jsonschema:"Most characters to give; default 8000, and over REST all."`
	Offset    int    `json:"offset,omitzero" default:"0" min:"0" jsonschema:"Characters of the converted text to skip."`
}

type snippetOut struct {
	Markdown  string            `json:"markdown" jsonschema:"The converted text."`
	Format    string            `json:"format" jsonschema:"gfm or text."`
	Truncated bool              `json:"truncated"`
	Next      *surface.NextCall `json:"next,omitzero"`

	goOn func(offset int) *surface.NextCall
	from int
}

// Cut shortens the text.
func (o snippetOut) Cut(budget int) (any, map[string]any, bool) {
	part, end, cut := surface.CutText(o.Markdown, o.from, budget)
	if !cut {
		return o, nil, false
	}
	o.Markdown, o.Truncated, o.Next = part, true, o.goOn(end)
	return o, o.Next.Arguments, true
}

func renderSnippet(ctx context.Context, l *canon.Snapshot, c *op.Call, in snippetIn) (snippetOut, error) {
	if in.MaxLength == 0 {
		in.MaxLength = defaultContent
		if c.Transport == "rest" {
			in.MaxLength = 1 << 20
		}
	}
	if (in.Name == "") == (in.HTML == "") {
		return snippetOut{}, fault.BadField("name", "give either name or html")
	}
	body, err := snippetBody(ctx, l, in)
	if err != nil {
		return snippetOut{}, err
	}
	out := snippetOut{Format: "gfm", from: in.Offset}
	text := ""
	if in.Mode == "text" {
		out.Format, text = "text", markup.Text(body)
	} else if text, err = snippetMarkdown(ctx, in, body); err != nil {
		return snippetOut{}, err
	}
	out.goOn = func(offset int) *surface.NextCall { return surface.CallOn(l, "render_snippet", in.nextArgs(offset)) }
	part, end, more := surface.TextPart(text, in.Offset, in.MaxLength)
	if out.Markdown, out.Truncated = part, more; more {
		out.Next = out.goOn(end)
	}
	return out, nil
}

// snippetMarkdown converts body to Markdown. If that is impossible, HTML from the caller is refused
// and a stored card is returned as plain text.
func snippetMarkdown(ctx context.Context, in snippetIn, body string) (string, error) {
	text, err := markup.ToMarkdown(ctx, body)
	if in.Name != "" && markup.Refuses(err) {
		return markup.Text(body), nil
	}
	return markup.Clean(text), conversionFault("html", err)
}

// nextArgs returns the input of the call that continues at offset.
func (in snippetIn) nextArgs(offset int) map[string]any {
	args := map[string]any{"mode": in.Mode, "max_length": in.MaxLength, "offset": offset}
	if in.Name != "" {
		args["name"] = in.Name
	} else {
		args["html"] = in.HTML
	}
	return args
}

func snippetBody(ctx context.Context, l *canon.Snapshot, in snippetIn) (string, error) {
	if in.Name == "" {
		return renderHTML(ctx, l, in.HTML)
	}
	c, err := findCard(ctx, l, in.Name)
	if err != nil {
		return "", err
	}
	return renderCard(ctx, l, c)
}

type markdownIn struct {
	Markdown string `json:"markdown" alias:"content" maxlen:"1048576" jsonschema:"The Markdown (GFM)."`
	Mode     string `json:"mode,omitzero" enum:"sanitize,trusted" default:"sanitize" jsonschema:"trusted leaves raw HTML as it is; admins only."`
}

type markdownOut struct {
	HTML   string `json:"html"`
	Format string `json:"format"`
}

func renderGivenMarkdown(ctx context.Context, _ *canon.Snapshot, c *op.Call, in markdownIn) (markdownOut, error) {
	convert := markup.ToHTML
	if in.Mode == "trusted" {
		if c.Grant.Role() < access.RoleAdmin {
			return markdownOut{},
				fault.New(fault.Denied, "mode trusted is for admins; use mode sanitize, or a key of that role").
					With("required_role", access.RoleAdmin.String())
		}
		convert = markup.ToHTMLTrusted
	}
	text, err := convert(ctx, markup.Clean(in.Markdown))
	if err != nil {
		return markdownOut{}, conversionFault("markdown", err)
	}
	return markdownOut{HTML: text, Format: "html"}, nil
}
