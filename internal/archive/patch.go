package archive

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// patchIn is a patch in an operation's input.
type patchIn struct{ markup.Patch }

// Schema adds the list of modes.
func (patchIn) Schema(s *jsonschema.Schema) {
	mode := *s.Properties["mode"]
	for _, m := range []markup.PatchMode{markup.ReplaceBetween, markup.Section, markup.FindReplace, markup.Append,
		markup.Prepend, markup.ItemsMode, markup.Regex} {
		mode.Enum = append(mode.Enum, string(m))
	}
	s.Properties["mode"] = &mode
}

// applyTo applies the patch to the content of card c.
func (in patchIn) applyTo(ctx context.Context, c canon.Card, content string) (markup.Result, error) {
	kind := c.TextKind()
	switch {
	case kind == canon.TextFile:
		return markup.Result{},
			fault.BrokenRule("patch", "cards of type %s contain a file, not text; replace it with upload_attachment", c.Type)
	case in.Mode == markup.ItemsMode && kind != canon.TextItems && markup.PartKey(markup.Right(c.Name)) != "tag":
		return markup.Result{}, fault.BrokenRule("patch.mode", "only Pointer and List cards and tags have items; %q is of type %s",
			c.Name, c.Type)
	case in.Mode == markup.Section && kind == canon.TextMarkdown:
		return in.markdownSection(content)
	}
	r, err := in.Apply(ctx, content)
	return r, patchFault(err)
}

// patchFault converts a refusal of the patch engine to a fault.
func patchFault(err error) error {
	var p *markup.PatchError
	if !errors.As(err, &p) {
		return err
	}
	return fault.BadField("patch."+p.Field, "%s", p.Message)
}

// markdownSection is the mode section for Markdown, whose headings begin with '#'. It replaces the
// text under the heading up to the next heading or, with IncludeNested, up to the next heading of
// the same or a higher level. If the new content begins with the same heading, the heading is
// replaced too.
func (in patchIn) markdownSection(content string) (markup.Result, error) {
	// Applying to an empty text reports a misplaced or missing field; that the heading is missing
	// is not an error here.
	if _, err := in.Apply(context.Background(), ""); err != nil {
		var p *markup.PatchError
		if errors.As(err, &p) && (p.Field != "heading" || strings.TrimSpace(in.Heading) == "") {
			return markup.Result{}, patchFault(err)
		}
	}
	all, at := markdownHeadings(content), -1
	for i, h := range all {
		if markup.Fold(h.Text) != markup.Fold(strings.TrimSpace(in.Heading)) {
			continue
		}
		if at >= 0 {
			return markup.Result{}, fault.BadField("patch.heading", "several headings have this text; use replace_between")
		}
		at = i
	}
	if at < 0 {
		return markup.Result{}, fault.BadField("patch.heading", "no heading has this text; get_card_outline lists the headings")
	}
	h := all[at]
	from := len(markup.Clip(content, h.Offset))
	to, start := len(content), from
	for _, next := range all[at+1:] {
		if !in.IncludeNested || next.Level <= h.Level {
			to = len(markup.Clip(content, next.Offset))
			break
		}
	}
	if line := strings.IndexByte(content[from:to], '\n'); line >= 0 {
		start = from + line + 1
	} else {
		start = to
	}
	own := markdownHeadings(in.Content)
	if len(own) > 0 && own[0].Offset == 0 && markup.Fold(own[0].Text) == markup.Fold(h.Text) {
		start = from
	}
	head := content[:start]
	if in.Content != "" && head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return markup.Result{Content: head + endParagraph(in.Content, content[to:]) + content[to:], Matches: 1}, nil
}

// endParagraph returns text with a blank line appended if that is needed for next to begin on a new
// line.
func endParagraph(text, next string) string {
	if r, _ := utf8.DecodeLastRuneInString(text); text == "" || r == '\n' || next == "" {
		return text
	}
	return text + "\n\n"
}
