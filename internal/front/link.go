package front

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

type linkIn struct {
	From     string `json:"from" minlen:"1" maxlen:"1020" jsonschema:"Name of the page that the link is on."`
	To       string `json:"to,omitzero" maxlen:"1020" jsonschema:"Name of the other one; without it, the names in the text of from become links."`
	Type     string `json:"type,omitzero" maxlen:"100" jsonschema:"How from is related to the other, such as ally of (for game masters); without it, a link in the text."`
	Tone     string `json:"tone,omitzero" enum:"friendly,hostile,neutral,romantic,professional,fearful,respectful,unknown" jsonschema:"Of a relationship."`
	Strength int    `json:"strength,omitzero" min:"1" max:"10" jsonschema:"Of a relationship."`
	Secret   bool   `json:"secret,omitzero" jsonschema:"Hide the relationship from players."`
	DryRun   bool   `json:"dry_run,omitzero" jsonschema:"Only check, and change nothing."`
}

type linkOut struct {
	Did         string       `json:"did"`
	ID          string       `json:"id,omitzero"`
	Inverse     string       `json:"inverse,omitzero"`
	Suggestions []suggestion `json:"suggestions,omitempty"`
	Proposal    string       `json:"proposal,omitzero"`
}

type suggestion struct {
	Term   string `json:"term"`
	Target string `json:"target"`
	Count  int    `json:"count"`
}

func (f *Front) linkOp() *op.Operation {
	return define(op.Spec{
		Name: "link", Title: "Connect two things", Effect: access.Write, Target: "from",
		Asked: []string{"make names in a text clickable", "they are allies from now on", "refer from one page to another"},
		Doc: "Connect one thing of the world with another: how two people or factions are related (ally, enemy, " +
			"kin, married, " +
			"owes, works for, hates), or a reference, a cross-reference in a page's text. " +
			"With from alone: turn the names of other pages that a page mentions in plain words into clickable " +
			"links " +
			"(game masters; others get suggestions).",
		Examples: []op.Example{{Title: "Suggestions", Input: `{"from": "Rent Quay", "dry_run": true}`}},
	}, f.link)
}

func (f *Front) link(ctx context.Context, c *op.Call, in linkIn) (out linkOut, err error) {
	if in.To == "" {
		return f.linkNames(ctx, c, in)
	}
	from, err := f.findCard(ctx, c, in.From)
	if err != nil {
		return out, err
	}
	to, err := f.findCard(ctx, c, in.To)
	if err != nil {
		return out, err
	}
	if in.Type == "" {
		w, err := f.wrote(ctx, c, "update_card", "linked", args{"name": "~" + from.ID,
			"patch": args{"mode": "append", "content": "[[" + to.Name + "]]"}})
		return linkOut{Did: w.Did, Proposal: w.Proposal}, err
	}
	a := args{"source_id": from.ID, "target_id": to.ID, "type": in.Type}
	set(a, "tone", in.Tone)
	set(a, "strength", in.Strength)
	set(a, "secret", in.Secret)
	answer, err := f.invokeRaw(ctx, c, "relationship_create", a)
	if err != nil {
		return out, err
	}
	if answer.Reply.Diverted {
		p, err := proposalOf(answer)
		return linkOut{Did: p.did(), Proposal: p.ID}, err
	}
	err = json.Unmarshal(answer.Output, &out)
	out.Did = map[bool]string{false: "related", true: "would be related"}[c.Grant.Request().DryRun]
	return out, err
}

// linkNames links the names in the text of a card, or suggests links to callers who may not.
func (f *Front) linkNames(ctx context.Context, c *op.Call, in linkIn) (out linkOut, err error) {
	did := "linked"
	answer, err := f.invokeRaw(ctx, c, "auto_link", args{"name": in.From, "mode": "apply", "dry_run": in.DryRun})
	if fault.KindOf(err) == fault.Denied {
		answer, err = f.invokeRaw(ctx, c, "auto_link", args{"name": in.From})
		in.DryRun = true
	}
	if err != nil {
		return out, err
	}
	if answer.Reply.Diverted {
		p, err := proposalOf(answer)
		return linkOut{Did: p.did(), Proposal: p.ID}, err
	}
	err = decode(answer.Output, &out)
	if in.DryRun {
		did = "suggested; write or link makes them"
	}
	if out.Did = did; len(out.Suggestions) == 0 {
		out.Did = "nothing to link: every name in the text is a link, or names no card"
	}
	return out, err
}
