package agent

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/usage"
)

// State describes a role in a world.
type State struct {
	Name    string   `json:"name"`
	Does    string   `json:"does"`
	Trigger string   `json:"trigger"`
	On      bool     `json:"on" jsonschema:"Whether its triggers are on."`
	Sees    string   `json:"audience" jsonschema:"Role whose view it has."`
	Tools   []string `json:"tools" jsonschema:"Operations that it may call."`
	Use     string   `json:"use,omitempty" jsonschema:"Use of a model that the setting model.uses allows; empty for none."`
	Tier    string   `json:"tier,omitempty"`
	Model   string   `json:"model" jsonschema:"Model that writes or judges; rules if none does."`
	Hour    int      `json:"tokensHour" jsonschema:"Most tokens of its runs in an hour; 0 for no limit."`
	Day     int      `json:"tokensDay" jsonschema:"Most tokens of its runs in a day; 0 for no limit."`
	Calls   int      `json:"toolCalls" jsonschema:"Most reads of a run."`
}

type statesOut struct {
	Agents  []State       `json:"agents"`
	Budgets []usage.Spent `json:"budgets" jsonschema:"Budgets of tokens that have a limit, with their use: of agents, of tiers of models, and of purposes."`
}

type runsIn struct {
	Agent string `json:"agent,omitzero" jsonschema:"Only runs of this agent."`
	Limit int    `json:"limit,omitzero" min:"1" max:"50" default:"20" numeric:"string" jsonschema:"Most runs."`
}

type runsOut struct {
	Runs []usage.Run `json:"runs" jsonschema:"Newest first."`
}

type switchIn struct {
	Agent string `json:"agent" jsonschema:"Name of the agent."`
	On    bool   `json:"on" jsonschema:"Whether its triggers are on from now."`
}

type switchOut struct {
	Agent string `json:"agent"`
	On    bool   `json:"on"`
}

// ManageOperations returns the operations that list the agents of a world and their runs, and switch them.
func (a *Agents) ManageOperations(surface string) []*op.Operation {
	spec := func(role access.Role, effect access.Effect, s op.Spec) op.Spec {
		s.Surfaces, s.MinRole, s.Effect, s.NoTool, s.ByDoor = []string{surface}, role, effect, true, true
		return s
	}
	return []*op.Operation{
		op.Define(spec(access.RoleGM, access.Read, op.Spec{
			Name: "list-agents", Title: "List the agents of the world", Route: "GET /api/world/agents",
			Asked: []string{
				"the helpers that work here by themselves", "is the narrator switched on", "tokens left for the planner",
				"the world's own AIs", "limits of tokens and their use", "do characters speak on their own",
			},
			Doc: "List the agents that work in the world: what sets each off, whether it is on, its tools, its model and its " +
				"limits, with the use of all budgets of tokens in this hour and day.",
			Examples: []op.Example{{Title: "All", Input: `{}`}},
		}), a.listStates),
		op.Define(spec(access.RoleGM, access.Read, op.Spec{
			Name: "list-agent-runs", Title: "List runs of agents", Route: "GET /api/world/agents/runs",
			Asked: []string{
				"the agents did last night", "trace of a run", "why the narrator proposed nothing", "latest work of the planner",
				"calls that an agent made", "tokens of each run",
			},
			Doc: "List the latest runs of the world's agents in the last week, with their traces: the operations that each " +
				"called, its questions to a model, the verdicts on its proposals, and the tokens spent. Texts are not kept here; " +
				"get-proposal shows those of a proposal.",
			Examples: []op.Example{{Title: "Of the narrator", Input: `{"agent": "narrator", "limit": 5}`}},
		}), a.listRuns),
		op.Define(spec(access.RoleAdmin, access.Write, op.Spec{
			Name: "switch-agent", Title: "Switch an agent on or off", Route: "POST /api/world/agents/switch",
			Asked: []string{
				"stop the narrator", "let characters speak to players who arrive", "turn an agent off", "silence the planner",
				"start the world's builder of places again",
			},
			Doc: "Switch an agent of the world on or off. If it is switched off, its triggers do nothing, and its runs end within " +
				"a second, and no call with a key of it is answered.",
			Examples: []op.Example{{Title: "Silence the people at places", Input: `{"agent": "npc", "on": false}`}},
		}), a.switchAgent),
	}
}

func (a *Agents) listStates(ctx context.Context, c *op.Call, _ struct{}) (out statesOut, err error) {
	if out.Agents, err = a.cfg.States(ctx, c.Grant.World()); err != nil {
		return out, err
	}
	out.Budgets, err = a.cfg.Usage.Spending(ctx, c.Grant)
	return out, err
}

func (a *Agents) listRuns(ctx context.Context, c *op.Call, in runsIn) (out runsOut, err error) {
	if in.Agent != "" {
		if _, err := FindRole(in.Agent); err != nil {
			return out, fault.BadField("agent", "is no agent; list-agents names them")
		}
	}
	if in.Limit == 0 {
		in.Limit = 20
	}
	out.Runs, err = a.cfg.Usage.Runs(ctx, c.Grant, in.Agent, in.Limit)
	return out, err
}

func (a *Agents) switchAgent(ctx context.Context, c *op.Call, in switchIn) (switchOut, error) {
	if _, err := FindRole(in.Agent); err != nil {
		return switchOut{}, fault.BadField("agent", "is no agent; list-agents names them")
	}
	return switchOut(in), a.cfg.Switch(ctx, c.Grant, in.Agent, in.On)
}

// recordRun writes a run that has ended to the world's ledger, also if its context has ended.
func (t *task) recordRun(ctx context.Context, r Report, err error) {
	if t.dry || t.agents.cfg.Usage == nil {
		return
	}
	run := usage.Run{ID: t.id, Agent: t.role, At: t.began.UTC(), TookMS: toMilliseconds(t.agents.cfg.Now().Sub(t.began)),
		Status: r.Status, Tokens: t.spent, Calls: t.trace, Proposals: []usage.RunProposal{}}
	if err != nil {
		run.Status = fault.KindOf(err).Code()
	}
	for _, p := range t.proposed {
		one := usage.RunProposal{ID: p.ProposalID, Status: string(p.Status)}
		if p.Rejection != nil {
			one.Gate = string(p.Rejection.Gate)
		}
		run.Proposals = append(run.Proposals, one)
	}
	if err := t.agents.cfg.Usage.RecordRun(context.WithoutCancel(ctx), t.world, run); err != nil {
		t.agents.cfg.Logger.ErrorContext(ctx, "a run of an agent was not recorded", "run", t.id, "error", err)
	}
}

// traceCall adds a call to the trace of a run.
func (t *task) traceCall(operation string, took float64, bytes, tokens int, err error) {
	one := usage.RunCall{Operation: operation, Outcome: "ok", TookMS: took, Bytes: bytes, Tokens: tokens}
	if err != nil {
		one.Outcome = fault.KindOf(err).Code()
	}
	if len(t.trace) < maxTraced {
		t.trace = append(t.trace, one)
	}
}

// maxTraced is the most calls that the trace of a run holds.
const maxTraced = 100
