package archive

import (
	"context"
	"encoding/json"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func cardWrites(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "create_card",
			Asked: []string{
				"new page", "start an article", "write an entry about somebody", "add a note",
				"write down something new", "found a page", "begin a new entry with this text",
				"set up an article about something", "write a new entry", "add a page that does not exist yet",
				"found a page with this text",
			},
			Title: "Create a card",
			Doc: "Create a card, optionally with child cards. A name that a card of the same level already has is refused; use update_card for that card. " +
				"For a compound name such as Games+Hero, missing parents are created too. Existing child cards are updated. " +
				"Without a level, a text that lists hidden cards is written at the level of the most hidden of them.",
			Route: "POST /api/mcp/cards", Status: 201, Target: "name",
			Examples: []op.Example{
				{Title: "A RichText card from Markdown",
					Input: `{"name": "Rent Quay", "markdown_content": "Where the [[Lease]] is paid."}`},
				{Title: "A typed card with tags and a note for the GM",
					Input: `{"name": "Oda Tarn", "type": "Character", "content": "<p>Founder.</p>", "fields": {"role": "founder", "+tags": {"type": "Pointer", "content": "[[founder]]"}, "+GM": "<p>She lied.</p>"}}`},
			},
		}, createCard),
		defineWrite(d, op.Spec{
			Name: "update_card",
			Asked: []string{
				"edit a page", "alter an article's fields or kind", "put something into a field",
				"rewrite the text", "correct an entry", "label a page", "put a label on a page", "alter a page",
				"tag a page", "attach a label to a page besides those that it has",
				"give a page another keyword", "fix a mistake in the text", "add a line",
				"fill in a blank of a page", "set the kind of an entry", "change the wording of an article",
				"add a sentence to a page", "rewrite an entry", "correct a mistake on a page",
				"set the text anew",
			},
			Title: "Change a card",
			Doc: "Change a card's content, fields or type. To change part of a long card, send a patch instead of the whole content. " +
				"if_match is the etag from get_card: the change is refused if the card was changed since. An agent must send it with new content or markdown_content, from a read that was not cut.",
			Route: "PATCH /api/mcp/cards/{name}", Target: "name",
			Examples: []op.Example{
				{Title: "Replace the content",
					Input: `{"name": "Rent Quay", "markdown_content": "Wet.", "if_match": "whole-4mVqk1nWbB0hC3rJ8yTzUQ"}`},
				{Title: "Replace one section",
					Input: `{"name": "Rent Quay", "patch": {"mode": "section", "heading": "History", "content": "<p>None.</p>"}}`},
				{Title: "Set a field, remove another", Input: `{"name": "Oda Tarn", "fields": {"age": 61, "rank": null}}`},
				{Title: "Preview a regex",
					Input: `{"name": "Annals", "patch": {"mode": "regex", "pattern": "colou?r", "replacement": "color", "dry_run": true}}`},
			},
		}, updateCard),
	}
}

type createIn struct {
	Name string `json:"name" minlen:"1" maxlen:"1020" jsonschema:"Name of the new card; + joins the parts of a compound name."`
	cardIn
	Children []childIn `json:"children,omitzero" maxitems:"100" jsonschema:"Cards to write below it, nested at most 5 deep."`
	op.Answers
	EnsureParents bool    `json:"ensure_parents,omitzero" default:"true" jsonschema:"Create missing parents of a compound name, as empty cards."`
	Codename      *string `json:"codename,omitzero" maxlen:"100" jsonschema:"Stable id of the card: a-z, 0-9, '-', '_' and '.'."`
	DryRun        bool    `json:"dry_run,omitzero" jsonschema:"Only check, and show who would read which part of the text."`
}

func createCard(ctx context.Context, d *deps, c *op.Call, in createIn) (writtenCard, error) {
	var p problems
	p.checkNewName("name", in.Name)
	s := p.readSheet("", in.Name, in.cardIn, in.Children)
	s.codename, s.orphan = in.Codename, !in.EnsureParents
	if err := p.Err(); err != nil {
		return writtenCard{}, err
	}
	return surface.Commit(ctx, d.Kit, c, surface.Change[writtenCard]{
		Check: checkNames(s.nameArgs()...),
		Plan: func(p *canon.Plan) error {
			w := newWriter(ctx, d, c, p)
			card, err := w.createCard(&s, in.Name)
			w.setTargets(card)
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (writtenCard, error) {
			out, err := replyWritten(ctx, l, c, r)
			if err != nil {
				return out, err
			}
			if c.Reply.Location, err = cardLocation(ctx, l, out.summary); err != nil {
				return out, err
			}
			return out, d.tagWritten(ctx, l, r, &out)
		},
	})
}

type updateIn struct {
	namedCard
	Type string `json:"type,omitzero" maxlen:"255" jsonschema:"New type; list_types lists all types."`
	textIn
	Fields map[string]json.RawMessage `json:"fields,omitzero" jsonschema:"Values by name, merged into the card's; null removes one. A name that begins with * or + is a child card instead: its value is the content, or {type, content or markdown_content, level}."`
	Patch  *patchIn                   `json:"patch,omitzero" jsonschema:"A change of part of the content, in one mode."`
	op.Answers
	Codename *string    `json:"codename,omitzero" maxlen:"100" jsonschema:"New stable id; empty removes it."`
	IfMatch  op.ReadTag `json:"if_match,omitzero" jsonschema:"The etag that get_card gave, or the number of the version that the change is meant for; another one is refused."`
	DryRun   bool       `json:"dry_run,omitzero" jsonschema:"Only check, and show who would read which part of the text."`
}

func updateCard(ctx context.Context, d *deps, c *op.Call, in updateIn) (writtenCard, error) {
	var p problems
	s := p.readSheet("", in.Name, cardIn{Type: in.Type, textIn: in.textIn, Fields: in.Fields}, nil)
	s.patch, s.codename, s.ifMatch = in.Patch, in.Codename, in.IfMatch
	p.checkPatch("patch", in.Patch, in.textIn)
	if err := p.Err(); err != nil {
		return writtenCard{}, err
	}
	var patched markup.Result
	change := surface.Change[writtenCard]{
		Check: checkNames(s.nameArgs()...),
		Plan: func(p *canon.Plan) error {
			w := newWriter(ctx, d, c, p)
			card, err := onlyCard(ctx, p, in.Name)
			if err != nil {
				return err
			}
			card, err = w.updateCard(&s, card)
			patched = w.patched
			w.setTargets(card)
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (writtenCard, error) {
			out, err := replyWritten(ctx, l, c, r)
			if patched.DryRun { // else a repeated call would answer differently from the first
				out.Matches, out.Diff, out.DryRun = patched.Matches, patched.Diff, true
			}
			if err == nil && in.hasContent() {
				err = d.tagWritten(ctx, l, r, &out)
			}
			return out, err
		},
	}
	if in.Patch != nil && in.Patch.DryRun {
		change.Grant = c.Grant.DryRun()
	}
	return surface.Commit(ctx, d.Kit, c, change)
}

// tagWritten sets the tag of content that was written as a whole, so that its author need not read
// it again.
func (d *deps) tagWritten(ctx context.Context, l *canon.Snapshot, r canon.Receipt, out *writtenCard) error {
	if r.DryRun {
		return nil
	}
	card, err := targetCard(ctx, l, r, 0)
	if err != nil {
		return err
	}
	held, _, err := heldText(ctx, l, card)
	out.ETag = d.tags.Whole(held)
	return err
}
