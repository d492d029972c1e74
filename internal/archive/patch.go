package archive

import (
	"context"
	"errors"

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

// applyTo applies the patch to content of a kind of card c.
func (in patchIn) applyTo(ctx context.Context, c canon.Card, kind canon.TextKind,
	content string) (markup.Result, error) {
	switch {
	case kind == canon.TextFile:
		return markup.Result{},
			fault.BrokenRule("patch", "cards of type %s contain a file, not text; replace it with upload_attachment", c.Type)
	case in.Mode == markup.ItemsMode && kind != canon.TextItems && markup.PartKey(markup.Right(c.Name)) != "tag":
		return markup.Result{},
			fault.BrokenRule("patch.mode", "only Pointer and List cards and tags have items; %q is of type %s",
				c.Name, c.Type)
	case kind == canon.TextMarkdown:
		r, err := in.ApplyToMarkdown(ctx, content)
		return r, patchFault(err)
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
