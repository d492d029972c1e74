package front

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

type proposeIn struct {
	Kind    string         `json:"kind" enum:"change,ambience,dialogue,quest,event,action" jsonschema:"Subject of the proposal."`
	Details map[string]any `json:"details" jsonschema:"change: op {name, arguments}, reason. ambience: locationId, layerType, text. dialogue: npcId, playerId, draftText. quest: seedSpec. event: type, payload. action: playerId, actionEnvelope. Names do for ids."`
	Ref     string         `json:"contextRef,omitzero" maxlen:"2048" jsonschema:"From context, if the text rests on it."`
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
	a := args{}
	for name, v := range in.Details {
		text, isText := v.(string)
		if !isText || !strings.HasSuffix(name, "Id") || uuid.Validate(text) == nil {
			a[name] = v
			continue
		}
		card, err := f.findCard(ctx, c, text)
		switch {
		case err == nil:
			a[name] = card.ID
		case fault.KindOf(err) == fault.NotFound:
			a[name] = v // it may be a codename; the proposal's own check answers
		default:
			return out, err
		}
	}
	set(a, "contextRef", in.Ref)
	return invoke[proposed](ctx, f, c, proposals[in.Kind], a)
}

// proposalOf returns the proposal that a write with an advisory key became.
func proposalOf(a *op.Answer) (p proposed, err error) { return p, decode(a.Output, &p) }

func (p proposed) did() string { return "proposed, not done: " + p.Status }
