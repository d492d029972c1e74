package front

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/op"
)

type proposeIn struct {
	Kind    string `json:"kind" enum:"change,ambience,dialogue,quest,event,action" jsonschema:"Subject of the proposal."`
	Details args   `json:"details" jsonschema:"change: op {name, arguments}, reason. ambience: locationId, layerType, text. dialogue: npcId, playerId, draftText. quest: seedSpec. event: type, payload. action: playerId, actionEnvelope. Names do for ids."`
	Ref     string `json:"contextRef,omitzero" maxlen:"2048" jsonschema:"From context, if the text rests on it."`
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
		Doc: "Suggest something that the world's rules, and where needed a person, accept or reject: a sound or smell of " +
			"a place, what a character says, a quest, an event, what a player does, or any edit that you may not make yourself.",
		Examples: []op.Example{{Title: "A sound",
			Input: `{"kind": "ambience", "details": {"locationId": "Rent Quay", "layerType": "ambient", "text": "Ropes creak."}}`}},
	}, f.propose)
}

func (f *Front) propose(ctx context.Context, c *op.Call, in proposeIn) (out proposed, err error) {
	a, err := f.withIDs(ctx, c, in.Details)
	if err != nil {
		return out, err
	}
	set(a, "contextRef", in.Ref)
	return invoke[proposed](ctx, f, c, proposals[in.Kind], a)
}

// withIDs returns arguments with the id of a card where an argument that takes an id has the card's
// name.
func (f *Front) withIDs(ctx context.Context, c *op.Call, in args) (args, error) {
	a := maps.Clone(in)
	for name, v := range in {
		text, isText := v.(string)
		if !isText || text == "" || !strings.HasSuffix(name, "Id") || uuid.Validate(text) == nil {
			continue
		}
		card, err := f.findCard(ctx, c, text)
		switch {
		case err == nil:
			a[name] = card.ID
		case !isAbsent(err): // else it may be a codename; the operation answers
			return nil, err
		}
	}
	return a, nil
}

// proposalOf returns the proposal that a write with an advisory key became.
func proposalOf(a *op.Answer) (p proposed, err error) { return p, decode(a.Output, &p) }

func (p proposed) did() string { return "proposed, not done: " + p.Status }
