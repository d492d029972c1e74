package app

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/usage"
)

// AgentRoles returns the agents in the order of their names, as they are in a world.
func (a *App) AgentRoles(ctx context.Context, worldName string) (out []agent.State, err error) {
	w, err := a.resolveWorld(ctx, worldName)
	if err != nil {
		return nil, err
	}
	return a.agentStates(ctx, w)
}

func (a *App) agentStates(ctx context.Context, w access.WorldID) (out []agent.State, err error) {
	list, err := agent.Roles()
	for _, r := range list {
		one := agent.State{Name: r.Name, Does: r.Does, Trigger: r.Trigger, Sees: r.Audience, Tools: r.Tools, Use: r.Use,
			Tier: string(r.Tier), Model: "rules", Hour: r.TokensHour, Day: r.TokensDay, Calls: agent.MaxToolCalls}
		if r.Use != "" && a.modelFor(r.Use) {
			one.Model = a.model.ModelFor(usePurposes[r.Use])
		}
		if r.Every > 0 && a.Config.Agents.Audit > 0 {
			one.Trigger += "; every " + formatSpan(a.Config.Agents.Audit)
		}
		if one.On, err = a.isAgentOn(ctx, w, r); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, err
}

// usePurposes has the purposes of the uses of agents.
var usePurposes = map[string]string{useForAmbience: "ambience", useForClaims: "classification",
	useForCommands: "classification", useForGate: "classification", useForNarration: "narration",
	useForNPCs: "npc_dialogue", useForPlaces: "planning", useForQuests: "quest_seed"}

// formatSpan writes a span of time without zero parts: 24h.
func formatSpan(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// AgentTrace is a run of an agent, as far as the records of calls, proposals and costs hold it.
type AgentTrace struct {
	Run       string            `json:"run"`
	Calls     []TracedCall      `json:"calls"`     // the reads, the judgements and the proposals, oldest first
	Proposals []json.RawMessage `json:"proposals"` // as get-proposal shows them
	Spent     []usage.Group     `json:"spentMeanwhile"`
}

// TracedCall is a call of a run.
type TracedCall struct {
	At        time.Time      `json:"at"`
	Subject   access.Subject `json:"subject"`
	Operation string         `json:"operation"`
	Outcome   string         `json:"outcome"`
	Took      time.Duration  `json:"durationNs"`
	Bytes     int            `json:"bytes"`
}

// maxTraced is the number of access records among which the calls of a run are looked for.
const maxTraced = 100_000

// ExplainRun returns the trace of a run, by its correlation id. Costs are recorded without one: those of the whole world
// in the time of the run are counted.
func (a *App) ExplainRun(ctx context.Context, worldName, run string) (t AgentTrace, err error) {
	w, err := a.resolveWorld(ctx, worldName)
	if err != nil {
		return t, err
	}
	t = AgentTrace{Run: run, Calls: []TracedCall{}, Proposals: []json.RawMessage{}, Spent: []usage.Group{}}
	if err := a.log.Flush(ctx); err != nil {
		return t, err
	}
	for r, err := range a.AccessTail(ctx, access.TailOptions{Last: maxTraced}) {
		if err != nil {
			return t, err
		}
		if r.Correlation == run && r.World == w {
			t.Calls = append(t.Calls, TracedCall{r.At, r.Subject, r.Operation, r.Outcome, r.Duration, r.Bytes})
		}
	}
	if len(t.Calls) == 0 {
		return t, fault.New(fault.NotFound, "there is no run %q in this world; give the run that agent quest printed", run)
	}
	if err := a.FlushUsage(ctx); err != nil {
		return t, err
	}
	var ids []string
	err = a.runAsOperator(ctx, w, "explain_run", access.Read, func(g access.Grant) (err error) {
		last := t.Calls[len(t.Calls)-1]
		_, t.Spent, err = a.usage.Aggregate(ctx, g, usage.Query{Since: t.Calls[0].At.UTC(),
			Until: last.At.Add(last.Took + time.Second).UTC(), GroupBy: "purpose"})
		if err == nil {
			ids, err = a.Proposals.Correlated(ctx, g, run)
		}
		return err
	})
	for _, id := range ids {
		var answer *op.Answer
		if err == nil {
			answer, err = a.Ops.Invoke(ctx, Operator(), op.Request{Operation: "get-proposal", World: w.String(),
				Input: json.RawMessage(`{"proposalId":"` + id + `"}`), Transport: "cli"})
		}
		if err != nil {
			return t, err
		}
		t.Proposals = append(t.Proposals, answer.Output)
	}
	return t, err
}
