package archive

import (
	"context"
	"slices"
	"strconv"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/surface"
)

func partWrites(d *deps) []*op.Operation {
	return []*op.Operation{
		defineWrite(d, op.Spec{
			Name: "reveal_part",
			Asked: []string{
				"let players read a hidden passage", "show one secret of a page", "open a hidden paragraph to everybody",
				"one player may read the secret sentence", "uncover a part of a text",
			},
			Title: "Reveal a hidden part of a text",
			Doc: "Show hidden parts of a card's text to all who see the card, or only to named subjects. " +
				"get_card lists the parts with their ids under hidden. " +
				"A part that is marked as secret inside a revealed one stays hidden, unless it is named too. " +
				"dry_run lists everything that would become readable.",
			Route: "POST /api/mcp/cards/{name}/reveal", Target: "name", MinRole: access.RoleGM, Idempotent: true,
			Examples: []op.Example{
				{Title: "List everything that it would show",
					Input: `{"name": "Rent Quay", "parts": ["8f3a01c2d4"], "dry_run": true}`},
				{Title: "Show it to one player",
					Input: `{"name": "Rent Quay", "parts": ["8f3a01c2d4"], "to": ["alice"]}`},
			},
		}, revealPart),
		defineWrite(d, op.Spec{
			Name: "hide_part",
			Asked: []string{
				"hide a sentence of a page", "make one paragraph secret", "players should not read this passage",
				"take back a revealed passage", "hide part of a text",
			},
			Title: "Hide a part of a text",
			Doc: "Hide passages of a card's text from players, or take hidden parts back from named subjects. " +
				"The earlier versions of the card are hidden too, unless keep_history is set. " +
				"Nobody forgets a text that they have read: seen_by lists those who had.",
			Route: "POST /api/mcp/cards/{name}/hide", Target: "name", MinRole: access.RoleGM, Idempotent: true,
			Examples: []op.Example{
				{Title: "Hide a sentence",
					Input: `{"name": "Rent Quay", "text": ["The harbour master is in debt."]}`},
				{Title: "Take a part back from those who were told",
					Input: `{"name": "Rent Quay", "parts": ["8f3a01c2d4"]}`},
			},
		}, hidePart),
	}
}

// hiding lists the hidden parts of a text and the data that a write opened.
type hiding struct {
	Hidden  []surface.HiddenPart `json:"hidden,omitzero" jsonschema:"For game masters: parts of the text that players do not read."`
	Ignored []string             `json:"marks_ignored,omitzero" jsonschema:"Marks of secrecy that hide nothing, because only game masters hide, or because they were opened: everybody reads these texts."`
	Removed []string             `json:"hidden_removed,omitzero" jsonschema:"For game masters: the beginnings of hidden parts that the new text does not have any more."`
	Opens   []surface.OpenedData `json:"opens,omitzero" jsonschema:"Everything that more readers see after the change."`
}

func hidingOf(ctx context.Context, l *canon.Snapshot, card canon.Card, r canon.Receipt) (h hiding, err error) {
	if h.Hidden, err = surface.HiddenParts(ctx, l, card); err != nil {
		return h, err
	}
	h.Ignored, h.Removed = r.IgnoredMarks, r.RemovedParts
	h.Opens, err = surface.OpenedBy(ctx, l, r)
	return h, err
}

type revealPartIn struct {
	namedCard
	Parts  []string         `json:"parts" minitems:"1" maxitems:"100" minlen:"1" maxlen:"40" jsonschema:"Ids of hidden parts."`
	To     []access.Subject `json:"to,omitzero" maxitems:"100" minlen:"1" maxlen:"100" jsonschema:"Subjects who shall read the parts; without it everybody who sees the card."`
	DryRun bool             `json:"dry_run,omitzero" jsonschema:"Only list everything that would be shown."`
}

func revealPart(ctx context.Context, d *deps, c *op.Call, in revealPartIn) (writtenCard, error) {
	var p problems
	if in.To != nil && len(in.To) == 0 {
		p.Add("to", "names nobody; give the subjects who shall read the parts, or leave it out for everybody")
	}
	for i, s := range in.To {
		if err := access.CheckSubject(s); err != nil {
			p.Add("to["+strconv.Itoa(i)+"]", "%v", err)
		}
	}
	if err := p.Err(); err != nil {
		return writtenCard{}, err
	}
	label := access.NewLabel(access.LevelUser)
	if len(in.To) > 0 {
		label = access.NewLabel(access.LevelGM, in.To...)
	}
	return commitParts(ctx, d, c, in.Name, func(p *canon.Plan, card canon.Card) error {
		_, err := p.LabelParts(card, in.Parts, label)
		return err
	})
}

type hidePartIn struct {
	namedCard
	Text        []string `json:"text,omitzero" maxitems:"100" minlen:"1" maxlen:"100000" jsonschema:"Passages of content, word by word."`
	Parts       []string `json:"parts,omitzero" maxitems:"100" minlen:"1" maxlen:"40" jsonschema:"Ids of parts that named subjects read, to take back from them, and of fields, such as field:name."`
	KeepHistory bool     `json:"keep_history,omitzero" jsonschema:"Leave the passages readable in earlier versions."`
	DryRun      bool     `json:"dry_run,omitzero" jsonschema:"Only check."`
}

type hidePartOut struct {
	writtenCard
	seenBefore
}

func hidePart(ctx context.Context, d *deps, c *op.Call, in hidePartIn) (hidePartOut, error) {
	if len(in.Text)+len(in.Parts) == 0 {
		var p problems
		p.Add("text", "nothing is named; give the passages to hide, or in parts the ids of parts to take back")
		return hidePartOut{}, p.Err()
	}
	var all []hidden
	out, err := commitParts(ctx, d, c, in.Name, func(p *canon.Plan, card canon.Card) (err error) {
		told, rest, err := p.TellingParts(card, in.Text)
		if err != nil {
			return err
		}
		in := in
		in.Parts, in.Text = append(slices.Clone(in.Parts), told...), rest
		if all, err = hiddenPassages(ctx, p, card, in); err != nil {
			return err
		}
		if len(in.Parts) > 0 {
			if card, err = p.HideParts(card, in.Parts, in.KeepHistory); err != nil {
				return err
			}
		}
		if len(in.Text) > 0 {
			_, err = p.HideText(card, in.Text, in.KeepHistory)
		}
		return err
	})
	if err != nil {
		return hidePartOut{}, err
	}
	return hidePartOut{out, d.findReaders(ctx, c, all)}, nil
}

// hiddenPassages returns the data that a call of hide_part hides, before it does.
func hiddenPassages(ctx context.Context, p *canon.Plan, card canon.Card, in hidePartIn) (all []hidden, err error) {
	gm := access.NewLabel(access.LevelGM)
	if len(in.Text) > 0 {
		since, err := readableSince(ctx, p.Snapshot, card, in.Text)
		if err != nil {
			return nil, err
		}
		all = append(all, hidden{card: card.ID, since: since, label: gm})
	}
	if slices.ContainsFunc(in.Parts, func(id string) bool { return p.IsOpenField(card, id) }) {
		all = append(all, hidden{card: card.ID, label: gm})
	}
	holders, err := p.Holders(card)
	for _, h := range holders {
		if len(h.Label.Subjects) > 0 && slices.ContainsFunc(in.Parts, h.Places.Holds) {
			all = append(all, hidden{card: h.ID, from: h.Label.Subjects, label: gm})
		}
	}
	return all, err
}

// commitParts commits a change of the hidden parts of a card.
func commitParts(ctx context.Context, d *deps, c *op.Call, name string,
	change func(*canon.Plan, canon.Card) error) (writtenCard, error) {
	return surface.Commit(ctx, d.Kit, c, surface.Change[writtenCard]{
		Check: checkNames(name),
		Plan: func(p *canon.Plan) error {
			card, err := onlyCard(ctx, p, name)
			if err != nil {
				return err
			}
			p.Target(card.ID)
			return change(p, card)
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (writtenCard, error) { return replyWritten(ctx, l, c, r) },
	})
}
