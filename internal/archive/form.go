package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"

	"github.com/maypok86/otter/v2"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/marked"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// formOf returns the format of content of a kind; ok is false if it is no running text.
func formOf(kind canon.TextKind) (f canon.TextFormat, ok bool) {
	switch kind {
	case canon.TextHTML:
		return canon.FormatHTML, true
	case canon.TextMarkdown:
		return canon.FormatMarkdown, true
	}
	return canon.FormatHTML, false
}

// viewOf returns the view that shows content of a format in the other one.
func viewOf(stored canon.TextFormat) markup.View {
	if stored == canon.FormatMarkdown {
		return marked.HTMLView
	}
	return marked.MarkdownView
}

// usualForm returns the form in which a call reads and writes content if it names none: the card's own.
// The card wiki's REST clients expect HTML, also of a card whose text is kept as Markdown.
func usualForm(c *op.Call, typ string, own canon.TextFormat) canon.TextFormat {
	if c.Transport == "rest" && canon.TextOf(typ) == canon.TextHTML {
		return canon.FormatHTML
	}
	return own
}

// formName returns the name of the format of content of a kind; "" if it is no running text.
func formName(kind canon.TextKind) string {
	if f, ok := formOf(kind); ok {
		return f.String()
	}
	return ""
}

// formCache caches the other form of texts by their hash, which tells also of the hidden parts that a reader sees.
type formCache struct {
	texts *otter.Cache[formKey, string]
}

type formKey struct {
	text   [sha256.Size]byte
	stored canon.TextFormat
}

// formCacheBytes bounds the texts of a formCache.
const formCacheBytes = 16 << 20

func newFormCache() (*formCache, error) {
	texts, err := otter.New(&otter.Options[formKey, string]{MaximumWeight: formCacheBytes,
		Weigher: func(_ formKey, text string) uint32 { return uint32(len(text) + 128) }})
	return &formCache{texts}, err
}

// render returns a card's content, which is stored in a format, in the other one. Content that cannot be
// converted is returned as plain text.
func (f *formCache) render(ctx context.Context, stored canon.TextFormat, content string) (string, error) {
	key := formKey{sha256.Sum256([]byte(content)), stored}
	if text, ok := f.texts.GetIfPresent(key); ok {
		return text, nil
	}
	text, err := viewOf(stored).Render(ctx, content)
	switch {
	case markup.Refuses(err) && stored == canon.FormatMarkdown:
		return "<pre>" + escapeText(content) + "</pre>", nil
	case markup.Refuses(err):
		return markup.Text(content), nil
	case err != nil:
		return "", err
	}
	f.texts.Set(key, text)
	return text, nil
}

// formIn is the choice of forms in an operation that writes content.
type formIn struct {
	Format     string `json:"format,omitzero" enum:"html,markdown" jsonschema:"Form of the given content or patch, if it is not the card's text_format; it is converted."`
	TextFormat string `json:"text_format,omitzero" enum:"html,markdown" jsonschema:"Form in which the card keeps its text from now on; present text is converted."`
}

// givenForm returns the form of the content or patch of a call. own is the form of the card.
func (t textIn) givenForm(c *op.Call, typ string, own canon.TextFormat) canon.TextFormat {
	switch f, given := canon.ParseFormat(t.Format); {
	case t.MarkdownContent != nil:
		return canon.FormatMarkdown
	case given:
		return f
	}
	if f, given := canon.ParseFormat(t.TextFormat); given && f == canon.FormatMarkdown {
		return f
	}
	return usualForm(c, typ, own)
}

// setFormat sets the format in which a card keeps its text, if the input names one.
func (t textIn) setFormat(c *canon.Card) error {
	f, given := canon.ParseFormat(t.TextFormat)
	if !given {
		return nil
	}
	if canon.TextOf(c.Type) != canon.TextHTML {
		if own, ok := formOf(c.TextKind()); ok && own == f {
			return nil
		}
		return fault.BrokenRule("text_format", "cards of type %s have a form of their own; choose another type", c.Type)
	}
	c.Format = f
	return nil
}

// storedContent returns the whole content of an input in the form in which a card stores it, nil if there
// is none. before is the card's present source.
func (w *writer) storedContent(t textIn, c canon.Card, before string) (*string, error) {
	given := cmp.Or(t.Content, t.MarkdownContent)
	own, running := formOf(c.TextKind())
	switch {
	case given == nil:
		return nil, nil
	case c.TextKind() == canon.TextFile:
		return nil, fault.BrokenRule("content", "cards of type %s contain a file; send it with upload_attachment", c.Type)
	case !running && t.Format != "":
		return nil, fault.BrokenRule("format", "cards of type %s contain neither HTML nor Markdown; leave format out", c.Type)
	case !running || t.givenForm(w.call, c.Type, own) == own:
		return given, nil
	}
	field := "content"
	if t.MarkdownContent != nil {
		field = "markdown_content"
	}
	var was func() (string, error)
	if before != "" {
		was = func() (string, error) { return viewOf(own).Render(w.ctx, before) }
	}
	settled, err := w.settle(c, field, was, *given, t.givenForm(w.call, c.Type, own))
	if err != nil {
		return nil, err
	}
	given = &settled
	if own == canon.FormatMarkdown && before != "" {
		// Only the blocks that differ are written anew.
		text, err := viewOf(own).MapEdit(w.ctx, before, *given)
		text = canon.Settled(text)
		if err == nil || !errors.Is(err, markup.ErrNotExact) && !markup.Refuses(err) {
			return &text, err
		}
	}
	text, err := viewOf(own).Source(w.ctx, *given)
	if err != nil {
		return nil, conversionFault(field, err)
	}
	text = canon.Settled(text)
	return &text, nil
}

// settle settles the marks of a text that is given in another form than its card keeps.
func (w *writer) settle(c canon.Card, field string, was func() (string, error), text string,
	form canon.TextFormat) (string, error) {
	if c.Label.Level >= access.LevelGM {
		return text, nil
	}
	return canon.Settle(w.plan.Grant(), field, was, text, canon.KindOf(canon.TypeRichText, form))
}

// convertStored returns the source of a card in the format that it is going to have; nil if that is the
// present one.
func (w *writer) convertStored(was, is canon.Card, before string) (*string, error) {
	from, _ := formOf(was.TextKind())
	to, running := formOf(is.TextKind())
	if was.Format == is.Format || !running || from == to || before == "" {
		return nil, nil
	}
	text, err := viewOf(from).Render(w.ctx, before)
	return &text, conversionFault("text_format", err)
}

// patchedContent applies a patch to a card's source. A patch in the other form is applied to the text in
// that form, and the difference is mapped onto the source.
func (w *writer) patchedContent(s *sheet, c canon.Card, before string) (*string, error) {
	kind := c.TextKind()
	own, running := formOf(kind)
	given := own
	if running && s.patch.Mode != markup.ItemsMode {
		given = s.text.givenForm(w.call, c.Type, own)
	}
	if given == own {
		r, err := s.patch.applyTo(w.ctx, c, kind, before)
		w.patched = r
		return &r.Content, err
	}
	shown, err := viewOf(own).Render(w.ctx, before)
	if err != nil {
		return nil, conversionFault("format", err)
	}
	other, fit := canon.TextMarkdown, marked.FitMarkdown
	if given == canon.FormatHTML {
		other, fit = canon.TextHTML, marked.FitHTML
	}
	r, err := s.patch.applyTo(w.ctx, c, other, shown)
	if err != nil {
		return nil, err
	}
	settled, err := w.settle(c, "patch", func() (string, error) { return shown, nil }, r.Content, given)
	if err != nil {
		return nil, err
	}
	after, err := fit(w.ctx, settled)
	if err == nil {
		after, err = viewOf(own).MapEdit(w.ctx, before, after)
		after = canon.Settled(after)
	}
	if errors.Is(err, markup.ErrNotExact) {
		e := fault.New(fault.Conflict, "the text of %q is kept as %s, and this change of its %s form cannot be made there without rewriting more; "+
			"read the card with format %[2]s and send the patch in that form, with format %[2]s", c.Name, own, given)
		e.Fields = []fault.Field{{Field: "patch", Error: "cannot be mapped exactly"}}
		return nil, e.With("text_format", own.String())
	}
	if err != nil {
		return nil, conversionFault("patch", err)
	}
	if r.DryRun {
		r.Diff = markup.Diff(before, after)
	}
	r.Content = after
	w.patched = r
	return &after, nil
}
