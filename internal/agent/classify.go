package agent

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/op"
	"loregate/internal/usage"
)

// Operations are the classification tools, on the surfaces named.
func (a *Agents) Operations(surfaces ...string) []*op.Operation {
	spec := func(s op.Spec, id string) op.Spec {
		s.Surfaces, s.Effect, s.Least, s.Meta = surfaces, access.Read, access.RoleUser, map[string]any{"toolId": id}
		return s
	}
	return []*op.Operation{
		op.Define(spec(op.Spec{
			Name: "classify-intent", Title: "Classify an utterance", Route: "POST /api/classification/intent",
			Doc:      "Tell what an utterance of a player's wants, such as move, look or talk, and how sure that is. To read a whole command, with what it acts on, use parse-command.",
			Examples: []op.Example{{Title: "A step", Input: `{"utterance": "go north"}`}},
		}, "Classification-classifyIntent"), a.classify),
		op.Define(spec(op.Spec{
			Name: "moderate-content", Title: "Moderate a text", Route: "POST /api/classification/moderation",
			Doc:      "Tell whether a text would be blocked or flagged in this world, and for what. Proposals are judged by the same policy.",
			Examples: []op.Example{{Title: "A harmless line", Input: `{"text": "The tide comes in."}`}},
		}, "Classification-moderateContent"), a.moderate),
	}
}

type classifyIn struct {
	Utterance string `json:"utterance" maxlen:"2000" jsonschema:"What was said or typed."`
}

type classifyOut struct {
	Intent     string  `json:"intent" jsonschema:"What it wants; unknown where no rule takes it."`
	Confidence float64 `json:"confidence" jsonschema:"From 0 to 1."`
}

func (a *Agents) classify(_ context.Context, c *op.Call, in classifyIn) (classifyOut, error) {
	started := a.cfg.Now()
	out := classifyOut{Intent: "unknown"}
	if a.cfg.Intents != nil {
		if intent, sure := a.cfg.Intents(in.Utterance); intent != "" {
			out = classifyOut{intent, sure}
		}
	}
	a.record(c.Grant.World(), usage.Event{Name: usage.IntentClassified, Purpose: "classification", Model: "rules", LatencyMS: milliseconds(a.cfg.Now().Sub(started))})
	return out, nil
}

type moderateIn struct {
	Text string `json:"text" maxlen:"100000" jsonschema:"The text."`
}

type moderateOut struct {
	Flagged       bool     `json:"flagged" jsonschema:"Whether it would be blocked or flagged."`
	Categories    []string `json:"categories" jsonschema:"For what."`
	PolicyVersion string   `json:"policyVersion"`
}

func (a *Agents) moderate(ctx context.Context, c *op.Call, in moderateIn) (moderateOut, error) {
	started := a.cfg.Now()
	profile := ""
	if a.cfg.Profile != nil {
		var err error
		if profile, err = a.cfg.Profile(ctx, c.Grant); err != nil {
			return moderateOut{}, err
		}
	}
	j := a.cfg.Policy.Judge(profile, in.Text)
	a.record(c.Grant.World(), usage.Event{Name: usage.ContentModerated, Purpose: "classification", Model: a.cfg.Policy.Version, Flagged: j.Flagged(),
		LatencyMS: milliseconds(a.cfg.Now().Sub(started))})
	return moderateOut{j.Flagged(), j.Categories, a.cfg.Policy.Version}, nil
}
