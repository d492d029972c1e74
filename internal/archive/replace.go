package archive

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func replaceWrites(d *deps) []*op.Operation {
	return []*op.Operation{defineWrite(d, op.Spec{
		Name: "replace_everywhere",
		Asked: []string{
			"swap a word on all pages", "change a spelling across the whole wiki", "correct a name throughout",
			"substitute a phrase in every article", "search and replace",
			"everywhere it says one word, write another", "all over the wiki", "respell it on each page",
			"wherever it is written, spell it otherwise", "alter one expression throughout",
			"change every occurrence of a word", "no matter in which page, put this instead",
			"from the first page to the last, substitute", "exchange a word throughout the wiki",
			"correct a spelling on all pages", "find and replace", "one name for another in every article",
			"same misspelling all over",
		},
		Title: "Find and replace in many cards",
		Doc: "Replace a text, or the matches of a regular expression, in all cards that you may see and change and that pass the filters. " +
			"By default it only shows the changes; with dry_run false it makes all of them or none. undo_change reverts them.",
		Route: "POST /api/mcp/replace", Idempotent: true, Timeout: time.Minute,
		Examples: []op.Example{
			{Title: "Preview the changes", Input: `{"find": "Rent Quay", "replace": "Lease Quay", "type": "Character"}`},
			{Title: "Change it", Input: `{"find": "Rent Quay", "replace": "Lease Quay", "dry_run": false}`},
		},
	}, replaceEverywhere)}
}

// Bounds of one replacement: the cards and the bytes of content that it reads, and the cards that
// it changes.
const (
	replaceScan  = 20_000
	replaceBytes = 64 << 20
	replaceCards = 100
)

type replaceIn struct {
	Find          string `json:"find" alias:"search_pattern,pattern" minlen:"1" maxlen:"500" jsonschema:"The text to find; with regex an RE2 pattern."`
	Replace       string `json:"replace" alias:"replace_with,replacement" maxlen:"10000" jsonschema:"The replacement; with regex, $1 stands for a group."`
	Regex         bool   `json:"regex,omitzero" jsonschema:"find is a regular expression."`
	CaseSensitive bool   `json:"case_sensitive,omitzero" default:"true" jsonschema:"Match upper and lower case exactly."`
	filters
	Limit  int  `json:"limit,omitzero" default:"50" min:"1" max:"100" jsonschema:"Maximum number of cards to change; if more match, the call is refused."`
	DryRun bool `json:"dry_run,omitzero" default:"true" jsonschema:"Only show the changes."`
	op.Answers
}

type replacedCard struct {
	Name    string `json:"name"`
	Matches int    `json:"matches"`
	Diff    string `json:"diff,omitzero" jsonschema:"Of a dry run: the diff."`
}

type replaceOut struct {
	Cards    []replacedCard `json:"cards"`
	Matches  int            `json:"matches"`
	Looked   int            `json:"looked_through" jsonschema:"Cards that were searched."`
	DryRun   bool           `json:"dry_run,omitzero" jsonschema:"Nothing was changed."`
	ChangeID string         `json:"change_id,omitzero" jsonschema:"Id of the change; undo_change reverts it."`
}

// toPatch returns the replacement as a patch of one card.
func (in replaceIn) toPatch() markup.Patch {
	p := markup.Patch{Mode: markup.Regex, Pattern: in.Find, Replacement: in.Replace}
	switch {
	case !in.Regex && in.CaseSensitive:
		return markup.Patch{Mode: markup.FindReplace, Find: in.Find, Replace: in.Replace, Occurrence: markup.AllOccurrences}
	case !in.Regex:
		p.Pattern, p.Replacement = regexp.QuoteMeta(in.Find), strings.ReplaceAll(in.Replace, "$", "$$")
	}
	if !in.CaseSensitive {
		p.Pattern = "(?i)" + p.Pattern
	}
	return p
}

func replaceEverywhere(ctx context.Context, d *deps, c *op.Call, in replaceIn) (replaceOut, error) {
	if err := in.checkFilters(); err != nil {
		return replaceOut{}, err
	}
	patch := in.toPatch()
	has := func(text string) bool { return strings.Contains(text, patch.Find) }
	if patch.Mode == markup.Regex {
		re, err := regexp.Compile(patch.Pattern)
		if err != nil {
			return replaceOut{}, fault.BadField("find", "is not a valid RE2 pattern: %v", err)
		}
		has = re.MatchString
	}
	out := replaceOut{DryRun: in.DryRun, Cards: []replacedCard{}}
	return surface.Commit(ctx, d.Kit, c, surface.Change[replaceOut]{
		Plan: func(p *canon.Plan) error {
			out.Cards, out.Matches, out.Looked = []replacedCard{}, 0, 0
			return in.planAll(ctx, p, patch, has, &out)
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (replaceOut, error) {
			out.ChangeID = changeID(r)
			if !r.Replayed {
				return out, nil
			}
			for n := range r.Targets { // a repeated call makes no plan
				card, ok, err := surface.TargetCard(ctx, l, r, n)
				if err != nil {
					return out, err
				}
				if ok {
					out.Cards = append(out.Cards, replacedCard{Name: card.Name})
				}
			}
			return out, nil
		},
	})
}

// planAll plans the change of each card that contains the text.
func (in replaceIn) planAll(ctx context.Context, p *canon.Plan, patch markup.Patch,
	has func(string) bool, out *replaceOut) error {
	size := 0
	for c, err := range p.AllCards(ctx, in.filters.toCanonFilter("")) {
		if err != nil {
			return err
		}
		if out.Looked, size = out.Looked+1, size+c.Size; out.Looked > replaceScan || size > replaceBytes {
			return fault.BadField("find",
				"more than %d cards, or %d MiB, would have to be searched; narrow the search by prefix, type or tag", replaceScan,
				replaceBytes>>20)
		}
		if canon.TextOf(c.Type) == canon.TextFile || c.Length == 0 && c.Parts == canon.NoParts {
			continue
		}
		read := p.Content
		if c.HoldsParts() {
			read = p.Beside // the parts are in the text of the card above
		}
		before, err := read(ctx, c)
		if err == nil && has(before) {
			err = in.planCard(ctx, p, c, before, patch, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inCard names the card in a fault about its new text.
func inCard(c canon.Card, err error) error {
	f, ok := asFault(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	named := *f
	named.Message = fmt.Sprintf("in %q: %s", c.Name, f.Message)
	return &named
}

// planCard plans the change of one card that contains the text.
func (in replaceIn) planCard(ctx context.Context, p *canon.Plan, c canon.Card, before string, patch markup.Patch,
	out *replaceOut) error {
	r, err := patch.Apply(ctx, before)
	if f, ok := asFault(patchFault(err)); ok && len(f.Fields) > 0 {
		return fault.BadField("find", "in %q: %s", c.Name, f.Fields[0].Error)
	}
	if err != nil || r.Content == before {
		return err
	}
	if len(out.Cards) == in.Limit {
		return fault.BadField("limit",
			"more than %d cards have this text; narrow the search by prefix, type or tag, or give a higher limit, at most %d",
			in.Limit,
			replaceCards)
	}
	card, err := p.Update(c, canon.Edit{Content: &r.Content, Beside: c.HoldsParts()})
	if err != nil {
		return inCard(c, err)
	}
	p.Target(card.ID)
	row := replacedCard{Name: c.Name, Matches: r.Matches}
	if in.DryRun {
		row.Diff = markup.Clip(markup.Diff(before, r.Content), 2000)
	}
	out.Cards, out.Matches = append(out.Cards, row), out.Matches+r.Matches
	return nil
}
