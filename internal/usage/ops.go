package usage

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Operations returns the operation that serves the aggregates over REST, on the given surface.
func (r *Recorder) Operations(surface string) []*op.Operation {
	return []*op.Operation{op.Define(op.Spec{
		Name: "get-ai-usage", Title: "Costs and results of models", Surfaces: []string{surface}, Effect: access.Read,
		Asked: []string{
			"the models cost", "money and tokens spent on AI", "how often was AI asked", "bill", "been spent",
			"how much did the language models use", "the AI cost", "expenses of models",
			"how many tokens did we use", "how much did we pay since yesterday", "money spent on models",
			"bill for the machines", "tokens used", "costs by day", "how expensive was the AI",
		},
		MinRole: access.RoleGM, NoTool: true, ByDoor: true,
		Route: "GET /api/telemetry/ai-usage",
		Doc: "Count the calls to models and moderation in a period, by purpose, model, hour or day: tokens, cost, " +
			"latency, rejections, flags, cache hits and variety of the texts. " +
			"Only aggregates: the content of calls is not stored.",
		Examples: []op.Example{{Title: "By purpose", Input: `{"groupBy": "purpose"}`},
			{Title: "Verdicts on dialogue by day",
				Input: `{"purpose": "npc_dialogue", "eventType": "AI.Proposal.Judged", "groupBy": "day"}`}},
	}, r.getUsage)}
}

type usageIn struct {
	Since     time.Time `json:"since,omitzero" jsonschema:"Start of the period; default a day ago."`
	Until     time.Time `json:"until,omitzero" jsonschema:"End of the period; default now."`
	Purpose   string    `json:"purpose,omitzero" enum:"ambience,npc_dialogue,quest_seed,narration,classification,retrieval,planning" jsonschema:"Only calls with this purpose."`
	EventType string    `json:"eventType,omitzero" enum:"AI.Model.Called,AI.Cache.Answered,AI.Proposal.Judged,AI.Content.Moderated,AI.Intent.Classified,AI.Lore.Retrieved,AI.Budget.Warned,AI.Budget.Refused" jsonschema:"Only events with this name."`
	GroupBy   string    `json:"groupBy,omitzero" enum:"purpose,model,hour,day" jsonschema:"Count each value of this separately."`
}

type usageOut struct {
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	Total  Group     `json:"total"`
	Groups []Group   `json:"groups"`
}

func (r *Recorder) getUsage(ctx context.Context, c *op.Call, in usageIn) (usageOut, error) {
	now := r.cfg.Now().UTC()
	q := Query{Since: in.Since.UTC(), Until: in.Until.UTC(), Purpose: in.Purpose, GroupBy: in.GroupBy}
	if in.Until.IsZero() {
		q.Until = now
	}
	if in.Since.IsZero() {
		q.Since = q.Until.Add(-24 * time.Hour)
	}
	if !q.Since.Before(q.Until) {
		return usageOut{}, fault.BadField("since", "must come before until")
	}
	if in.EventType != "" {
		if err := q.Name.UnmarshalText([]byte(in.EventType)); err != nil {
			return usageOut{}, fault.BadField("eventType", "is not an event; the schema lists the names of events")
		}
	}
	if in.Until.IsZero() {
		q.Until = time.Time{} // also count events of the time of counting
	}
	total, groups, err := r.Aggregate(ctx, c.Grant, q)
	if q.Until.IsZero() {
		q.Until = now
	}
	return usageOut{q.Since, q.Until, total, groups}, err
}
