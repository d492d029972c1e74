package agent

import (
	"loregate/internal/access"
	"loregate/internal/op"
)

// Operations returns the classification tools for the given surfaces.
func (a *Agents) Operations(surfaces ...string) []*op.Operation {
	spec := func(s op.Spec, id string) op.Spec {
		s.Surfaces, s.Effect, s.MinRole, s.Meta = surfaces, access.Read, access.RoleUser, map[string]any{"toolId": id}
		return s
	}
	return []*op.Operation{
		op.Define(spec(op.Spec{
			Name: "classify-intent", Title: "Classify an utterance", Route: "POST /api/classification/intent",
			Doc: "Classify the intent of a player's utterance, such as move, look or talk, with a confidence. To parse " +
				"a whole command with its objects, use parse-command.",
			Examples: []op.Example{{Title: "A step", Input: `{"utterance": "go north"}`}},
		}, "Classification-classifyIntent"), a.classifyIntent),
		op.Define(spec(op.Spec{
			Name: "moderate-content", Title: "Moderate a text", Route: "POST /api/classification/moderation",
			Doc: "Check if a text would be blocked or flagged in this world, and by which categories. Proposals are " +
				"judged by the same policy.",
			Examples: []op.Example{{Title: "A harmless line", Input: `{"text": "The tide comes in."}`}},
		}, "Classification-moderateContent"), a.moderateContent),
	}
}
