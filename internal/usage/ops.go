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
		Name: "get-ai-usage", Title: "What models cost and how they did", Surfaces: []string{surface}, Effect: access.Read,
		MinRole: access.RoleGM, NoTool: true,
		Route: "GET /api/telemetry/ai-usage",
		Doc: "Count the calls to models and moderation in a time, by purpose, model, hour or day: tokens, cost, latency, what was rejected and flagged, cache hits, how varied the texts are. " +
			"Aggregates only: no content is kept of a call.",
		Examples: []op.Example{{Title: "By purpose", Input: `{"groupBy": "purpose"}`},
			{Title: "What was judged of dialogue",
				Input: `{"purpose": "npc_dialogue", "eventType": "AI.Proposal.Judged", "groupBy": "day"}`}},
	}, r.getUsage)}
}

type usageIn struct {
	Since     time.Time `json:"since,omitzero" jsonschema:"From when on; a day ago where it is not said."`
	Until     time.Time `json:"until,omitzero" jsonschema:"Until when; now where it is not said."`
	Purpose   string    `json:"purpose,omitzero" enum:"ambience,npc_dialogue,quest_seed,narration,classification,retrieval,planning" jsonschema:"Only calls of a purpose."`
	EventType string    `json:"eventType,omitzero" enum:"AI.Model.Called,AI.Cache.Answered,AI.Proposal.Judged,AI.Content.Moderated,AI.Intent.Classified,AI.Lore.Retrieved,AI.Budget.Warned,AI.Budget.Refused" jsonschema:"Only events of a name."`
	GroupBy   string    `json:"groupBy,omitzero" enum:"purpose,model,hour,day" jsonschema:"What to count apart."`
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
			return usageOut{}, fault.BadField("eventType", "is no event; there are the names that the schema lists")
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
