package front

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"

	"loregate/internal/access"
	"loregate/internal/op"
)

type proposeIn struct {
	Kind    string `json:"kind,omitzero" enum:"change,ambience,dialogue,quest,event,action" jsonschema:"Subject of the proposal; by default the one that the details fit."`
	Details args   `json:"details" jsonschema:"change: name of a page, append (or find and replace), reason. ambience: place, text. dialogue: speaker, player, text. quest: title, hook, objectives. action: player, text. event: type, payload. Or the arguments of the operation itself."`
	Ref     string `json:"contextRef,omitzero" maxlen:"2048" jsonschema:"That of the answer of context which this rests on; with it, fewer proposals wait for a person."`
}

// proposals maps a kind to the operation that proposes it.
var proposals = map[string]string{
	"change": "propose-canon-change", "ambience": "propose-ambience", "dialogue": "propose-npc-dialogue",
	"quest": "propose-quest", "event": "enqueue-world-event", "action": "propose-action",
}

// proposed is the answer to a proposal.
type proposed struct {
	Status    string          `json:"status"`
	ID        string          `json:"proposalId,omitzero"`
	Event     string          `json:"eventId,omitzero"`
	Text      string          `json:"sanitizedText,omitzero"`
	Issues    json.RawMessage `json:"issues,omitzero"`
	Rejection json.RawMessage `json:"rejection,omitzero"`
}

func (f *Front) proposeOp() *op.Operation {
	return define(op.Spec{
		Name: "propose", Title: "Propose something", Effect: access.Propose,
		Asked: []string{"suggest something and let somebody in charge decide", "hand in a wish",
			"have her walk north", "let somebody go to another place", "offer a line, a mood or an errand", "may I change this page"},
		Doc: "Suggest something, hand it in or offer it, so that the world's rules, and where needed a person in " +
			"charge, decide: " +
			"accept or refuse it before anybody sees it. A sound, smell, mood or other impression of " +
			"a place, a line that a character says to a player, a quest or errand with its reward, an event, an " +
			"act of a player, or " +
			"any edit or correction of a page that you would like and may not make yourself.",
		Examples: []op.Example{{Title: "A sound",
			Input: `{"kind": "ambience", "details": {"locationId": "Rent Quay", "layerType": "ambient", "text": "Ropes creak."}}`}},
	}, f.propose)
}

func (f *Front) propose(ctx context.Context, c *op.Call, in proposeIn) (out proposed, err error) {
	kind := cmp.Or(in.Kind, kindOfDetails(in.Details))
	details, err := f.payload(ctx, c, kind, maps.Clone(in.Details))
	if err != nil {
		return out, err
	}
	a, err := f.withIDs(ctx, c, details)
	if err != nil {
		return out, err
	}
	set(a, "contextRef", in.Ref)
	return invoke[proposed](ctx, f, c, proposals[kind], a)
}

// proposalOf returns the proposal that a write with an advisory key became.
func proposalOf(a *op.Answer) (p proposed, err error) { return p, decode(a.Output, &p) }

func (p proposed) did() string { return "proposed, not done: " + p.Status }
