package archive

import (
	"context"
	"slices"
	"strings"
	"time"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

// maxTagRenames is the number of cards in which one call renames a tag at most. Each of them is
// read and written in the one commit.
const maxTagRenames = 500

func tagWrites(d *deps) []*op.Operation {
	return []*op.Operation{defineWrite(d, op.Spec{
		Name: "rename_tag",
		Asked: []string{
			"merge two labels", "call a label something else on all pages", "change a keyword everywhere",
			"unify categories", "use one label in place of another", "respell a label",
			"the label shall read otherwise", "two labels become one", "call a label something else",
			"merge two keywords", "label spelt wrong", "swap one keyword for another on every page",
		},
		Title: "Rename a tag in all cards",
		Doc: "Replace one tag by another on every card that has it and that you may see, in one change. " +
			"A card that has both tags keeps the new one. By default it only shows which cards would change; " +
			"with dry_run false it changes all of them or none. undo_change takes the change back.",
		Route: "POST /api/mcp/tags/rename", Idempotent: true, Timeout: time.Minute,
		Examples: []op.Example{
			{Title: "See which cards would change", Input: `{"from": "history", "to": "chronicle"}`},
			{Title: "Rename the tag", Input: `{"from": "landmark", "to": "sight", "dry_run": false}`},
			{Title: "Only on some cards", Input: `{"from": "rumour", "to": "gossip", "prefix": "The ", "dry_run": false}`},
		},
	}, renameTag)}
}

type renameTagIn struct {
	From   string `json:"from" minlen:"1" maxlen:"255" jsonschema:"The tag to replace. Case, and singular or plural, make no difference."`
	To     string `json:"to" minlen:"1" maxlen:"255" jsonschema:"The tag that takes its place, as it should be written."`
	Prefix string `json:"prefix,omitzero" maxlen:"1020" jsonschema:"Only on cards whose names begin with this."`
	DryRun bool   `json:"dry_run,omitzero" default:"true" jsonschema:"Only show which cards would change."`
}

type renameTagOut struct {
	Cards    []childName `json:"cards" jsonschema:"The cards whose tag was renamed, by name; at most 100."`
	Count    int         `json:"count" jsonschema:"The number of cards whose tag was renamed."`
	DryRun   bool        `json:"dry_run,omitzero" jsonschema:"Nothing was changed."`
	ChangeID string      `json:"change_id,omitzero" jsonschema:"The change; undo_change takes it back. Absent if nothing changed."`
}

// checkTags checks both tags, and removes needless spaces from the new one.
func (in *renameTagIn) checkTags() error {
	var p problems
	in.To = strings.Join(strings.Fields(in.To), " ")
	if markup.KeyOf(in.From) == "" {
		p.Add("from", "must contain a letter or a digit; get_tags lists the tags")
	}
	if p.checkNewName("to", in.To); strings.ContainsAny(in.To, "[]{}|") {
		p.Add("to", "must not contain brackets, braces or bars; write the tag as get_tags shows it")
	}
	if in.Prefix != "" && strings.Trim(in.Prefix, "+ ") == "" {
		p.Add("prefix", "must contain more than plus signs; leave it out to rename the tag on all cards")
	}
	return p.Err()
}

// renameTag changes every tag list that is visible to the caller and contains the tag. The targets
// of its commit are the cards above these lists.
func renameTag(ctx context.Context, d *deps, c *op.Call, in renameTagIn) (renameTagOut, error) {
	if err := in.checkTags(); err != nil {
		return renameTagOut{}, err
	}
	return surface.Commit(ctx, d.Kit, c, surface.Change[renameTagOut]{
		Plan: func(p *canon.Plan) error { return in.planAll(ctx, p) },
		Reply: func(l *canon.Snapshot, r canon.Receipt) (renameTagOut, error) {
			var renamed []canon.Card
			for _, id := range r.Targets {
				card, ok, err := l.ByID(ctx, id)
				if err != nil {
					return renameTagOut{}, err
				}
				if ok { // a repeated call may find that a card is gone
					renamed = append(renamed, card)
				}
			}
			return renameTagOut{Cards: childNames(renamed), Count: len(renamed), DryRun: in.DryRun, ChangeID: changeID(r)}, nil
		},
	})
}

// planAll plans the change of all cards that have the tag.
func (in renameTagIn) planAll(ctx context.Context, p *canon.Plan) error {
	starts, below := prefixOf(in.Prefix)
	filter := canon.Filter{Tag: in.From, NameStarts: starts, Prefix: below, Sort: canon.SortName}
	tagged, _, err := p.Cards(ctx, filter, canon.Page{Limit: maxTagRenames + 1})
	if err != nil {
		return err
	}
	if len(tagged) > maxTagRenames {
		return fault.BadField("from",
			"more than %d cards have this tag; rename it on a part of them at a time, with prefix",
			maxTagRenames)
	}
	for _, card := range tagged {
		changed, err := in.planCard(ctx, p, card)
		if err != nil {
			return err
		}
		if changed {
			p.Target(card.ID)
		}
	}
	return nil
}

// planCard plans the change of the tag lists of one card, of which there may be one per level. It
// reports whether any of them changes.
func (in renameTagIn) planCard(ctx context.Context, p *canon.Plan, card canon.Card) (changed bool, err error) {
	lists, err := p.Homonyms(ctx, card.Key+"+"+canon.TagPart)
	if err != nil {
		return false, err
	}
	for _, list := range lists {
		if list.Parent != card.ID {
			continue
		}
		before, err := p.Content(ctx, list)
		if err != nil {
			return false, err
		}
		after := in.renameIn(before)
		if after == before {
			continue
		}
		if _, err := p.Update(list, canon.Edit{Content: &after}); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// renameIn returns the content of a tag list with the tag renamed. Tags are compared by key, so the
// spelling of a tag can be changed too; a list that already has the new spelling stays as it is.
func (in renameTagIn) renameIn(content string) string {
	from := markup.KeyOf(in.From)
	isOld := func(item string) bool { return markup.KeyOf(item) == from && item != in.To }
	if !slices.ContainsFunc(markup.Items(content), isOld) {
		return content
	}
	return markup.AddItems(content, []string{in.To}, []string{in.From})
}
