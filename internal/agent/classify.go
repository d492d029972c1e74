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
			Doc:      "Tell what an utterance of a player's wants, such as move, look or talk, and how sure that is. To read a whole command, with what it acts on, use parse-command.",
			Examples: []op.Example{{Title: "A step", Input: `{"utterance": "go north"}`}},
		}, "Classification-classifyIntent"), a.classifyIntent),
		op.Define(spec(op.Spec{
			Name: "moderate-content", Title: "Moderate a text", Route: "POST /api/classification/moderation",
			Doc:      "Tell whether a text would be blocked or flagged in this world, and for what. Proposals are judged by the same policy.",
			Examples: []op.Example{{Title: "A harmless line", Input: `{"text": "The tide comes in."}`}},
		}, "Classification-moderateContent"), a.moderateContent),
	}
}
