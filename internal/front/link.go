package front

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/op"
)

type linkIn struct {
	From     string `json:"from" minlen:"1" maxlen:"1020" jsonschema:"Name of the card that the link is on."`
	To       string `json:"to,omitzero" maxlen:"1020" jsonschema:"Name of the other one; without it, links are suggested for from's text."`
	Type     string `json:"type,omitzero" maxlen:"100" jsonschema:"Relationship from from's side, such as ally of (game masters); without it, a link in the text."`
	Tone     string `json:"tone,omitzero" enum:"friendly,hostile,neutral,romantic,professional,fearful,respectful,unknown" jsonschema:"Of a relationship."`
	Strength int    `json:"strength,omitzero" min:"1" max:"10" jsonschema:"Of a relationship."`
	Secret   bool   `json:"secret,omitzero" jsonschema:"Hide the relationship from players."`
	DryRun   bool   `json:"dry_run,omitzero" jsonschema:"Only check."`
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
		Doc: "Connect one thing of the world with another: how two people or factions are related, or a reference in " +
			"a page's text; or suggest which names in a page could be linked.",
		Examples: []op.Example{{Title: "Suggestions", Input: `{"from": "Rent Quay"}`}},
	}, f.link)
}

func (f *Front) link(ctx context.Context, c *op.Call, in linkIn) (out linkOut, err error) {
	if in.To == "" {
		found, err := invoke[linkOut](ctx, f, c, "auto_link", args{"name": in.From})
		found.Did = "suggested; write or link makes them"
		if len(found.Suggestions) == 0 {
			found.Did = "nothing to link: every name in the text is a link, or names no card"
		}
		return found, err
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
