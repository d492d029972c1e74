package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/proposal"
	"loregate/internal/usage"
	"loregate/internal/wait"
)

// Order is the subject of a run of an agent. Each role reads some of the fields.
type Order struct {
	Location  string // where it works; "" for the place where players begin
	Player    string
	NPC       string // who speaks; "" for anybody at the place of the player
	Direction string // of a pending exit; "" for the first of the place
	Opposite  func(direction string) string
	Text      string // to read or to judge
	Quest     QuestWish
	// GM has the planner see the world as a game master does.
	GM bool
	// DryRun judges the drafts, and proposes nothing.
	DryRun bool
}

// Report is the result of a run.
type Report struct {
	Run    string `json:"run"` // the correlation id of its calls
	Role   string `json:"role"`
	DryRun bool   `json:"dryRun,omitempty"`
	// Status is skipped, done, or that of the latest proposal. In a dry run it is passed or refused.
	Status    string            `json:"status"`
	Why       string            `json:"why,omitempty"`
	Calls     int               `json:"calls"` // reads
	Spent     int               `json:"tokensSpent,omitempty"`
	Proposals []proposal.Result `json:"proposals,omitempty"`
	Result    any               `json:"result,omitempty"` // such as the opinions of a committee
}

// The statuses of a run beside those of proposals.
const (
	Skipped = "skipped" // there was nothing to do
	Done    = "done"    // it proposed nothing
	Passed  = "passed"  // the gates for texts would let the draft through
	Refused = "refused"
)

// pipelines has the work of each role.
var pipelines = map[string]func(context.Context, *task, Order) (Report, error){
	"aggregator":   runAggregator,
	"canonicality": runAudit,
	"encounter":    runEncounter,
	"intent":       runIntent,
	"narrator":     runNarrator,
	"npc":          runNPC,
	"planner":      runPlanner,
	"safety":       runSafety,
	"world":        runWorld,
}

// errSwitchedOff ends a run whose agent was switched off.
var errSwitchedOff = fault.New(fault.Rule,
	"the agent is switched off in this world; loregate agent switch turns it on")

// Run runs an agent once. It acts as the caller of the role: with its tools, in the view of its audience, and within its
// budget. If the agent is switched off meanwhile, the run ends.
func (a *Agents) Run(ctx context.Context, w access.WorldID, name string, o Order, run string) (Report, error) {
	role, err := FindRole(name)
	if err != nil {
		return Report{}, err
	}
	ctx, stop, err := a.untilSwitchedOff(ctx, w, role)
	if err != nil {
		return Report{}, err
	}
	defer stop()
	t := &task{agents: a, caller: role.callerFor(o.GM), world: w, id: run, role: name, dry: o.DryRun,
		began: a.cfg.Now(), trace: []usage.RunCall{}}
	out, err := pipelines[name](ctx, t, o)
	if cause := context.Cause(ctx); errors.Is(cause, errSwitchedOff) {
		err = cause
	}
	out.Run, out.Role, out.DryRun, out.Calls, out.Spent, out.Proposals = run, name, o.DryRun, t.calls, t.spent, t.proposed
	t.recordRun(ctx, out, err)
	return out, err
}

// switchEvery is the time between two looks at an agent's switch.
const switchEvery = 250 * time.Millisecond

// Refuse refuses a call in a world of an agent that is switched off there, for [op.Config]: of a run in this process, or
// of one elsewhere that has a key of the agent.
func (a *Agents) Refuse(ctx context.Context, c access.Caller, w access.WorldID) error {
	role, _, ok := roleOf(c.Subject)
	if !ok || w == (access.WorldID{}) {
		return nil
	}
	return a.checkSwitch(ctx, w, role)
}

// checkSwitch returns errSwitchedOff if a role is switched off in a world.
func (a *Agents) checkSwitch(ctx context.Context, w access.WorldID, r Role) error {
	off, err := a.cfg.SwitchedOff(ctx, w, r.Name)
	if err == nil && off {
		err = errSwitchedOff
	}
	return err
}

// untilSwitchedOff returns a context that ends when the role is switched off in a world, with errSwitchedOff as cause.
func (a *Agents) untilSwitchedOff(ctx context.Context, w access.WorldID, r Role) (context.Context, func(), error) {
	if err := a.checkSwitch(ctx, w, r); err != nil {
		return ctx, nil, err
	}
	ctx, end := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for wait.For(ctx, switchEvery) {
			if errors.Is(a.checkSwitch(ctx, w, r), errSwitchedOff) {
				end(errSwitchedOff)
			}
		}
	}()
	return ctx, func() { end(context.Canceled); <-watched }, nil
}

// reportOf returns the report of a proposal.
func (t *task) reportOf(r proposal.Result) Report {
	out := Report{Status: string(r.Status)}
	if r.Rejection != nil {
		out.Why = r.Rejection.Message
	}
	return out
}

// draft is a payload for a kind of proposal.
type draft struct {
	kind, tool string
	payload    map[string]any
	provenance proposal.Provenance
}

// submitDraft proposes a draft. In a dry run the gates for texts judge it, and nothing is recorded.
func (t *task) submitDraft(ctx context.Context, d draft) (r proposal.Result, err error) {
	if t.dry {
		r, err = t.assessDraft(ctx, d)
	} else {
		d.payload["provenance"] = d.provenance
		r, err = t.submitProposal(ctx, d.tool, d.payload)
	}
	if err == nil {
		t.proposed = append(t.proposed, r)
	}
	return r, err
}

func (t *task) assessDraft(ctx context.Context, d draft) (r proposal.Result, err error) {
	payload, err := json.Marshal(d.payload)
	if err != nil {
		return r, err
	}
	judged, err := t.assess(ctx, d.kind, payload)
	r.Status = Passed
	for _, one := range judged {
		if !one.Passed && r.Rejection == nil {
			r.Status, r.Rejection = Refused, &proposal.Rejection{Gate: one.Gate, Message: one.Why}
		}
	}
	return r, err
}

// assess judges a payload that is not proposed.
func (t *task) assess(ctx context.Context, kind string, payload json.RawMessage) ([]proposal.Assessment, error) {
	began := t.agents.cfg.Now()
	judged, err := t.agents.cfg.Assess(ctx, t.caller, t.world, t.id, kind, payload)
	t.traceCall("assess_draft", toMilliseconds(t.agents.cfg.Now().Sub(began)), 0, 0, err)
	return judged, err
}

// readOutput calls an operation and returns its answer.
func (t *task) readOutput(ctx context.Context, tool string, input any) (json.RawMessage, error) {
	if t.calls++; t.calls > MaxToolCalls {
		return nil, errTooManyCalls
	}
	answer, err := t.invokeTool(ctx, tool, input)
	if err != nil {
		return nil, err
	}
	return answer.Output, nil
}

func runNarrator(ctx context.Context, t *task, o Order) (Report, error) {
	done, err := t.keepAmbience(ctx, o.Location)
	return Report{Status: done.Status, Why: done.Why, Result: done}, err
}

func runWorld(ctx context.Context, t *task, o Order) (Report, error) {
	r, err := t.draftPlace(ctx, PlaceWish{Location: o.Location, Direction: o.Direction, Player: o.Player,
		Opposite: o.Opposite})
	out := t.reportOf(r)
	if r.Status == Skipped {
		out.Why = "no exit is pending there"
	}
	return out, err
}

func runPlanner(ctx context.Context, t *task, o Order) (Report, error) {
	done, err := t.proposeQuest(ctx, o.Quest)
	return Report{Status: done.Status, Why: done.Why, Result: done}, err
}

// runAggregator has drafts judged and picks one, as at the end of a committee.
func runAggregator(ctx context.Context, t *task, o Order) (Report, error) {
	done, err := t.holdCommittee(ctx, o.Quest)
	out := Report{Status: Done, Why: done.Why, Result: done}
	if done.Chosen == 0 {
		out.Status = Skipped
	}
	return out, err
}

// errNoText asks for the text that a role reads.
var errNoText = fault.BadField("text", "is missing; give the text to read")

// runIntent reads a text by the rules, and by the model if they are unsure. With a player, it proposes the act.
func runIntent(ctx context.Context, t *task, o Order) (out Report, err error) {
	if o.Text == "" {
		return out, errNoText
	}
	parsed, err := t.readOutput(ctx, "parse-command", map[string]any{"text": o.Text})
	if err != nil {
		return out, err
	}
	intent, err := t.readOutput(ctx, "classify-intent", map[string]any{"utterance": o.Text})
	if err != nil {
		return out, err
	}
	out = Report{Status: Done, Result: map[string]any{"parsed": parsed, "intent": intent}}
	if o.Player == "" {
		return out, nil
	}
	r, err := t.submitDraft(ctx, draft{"player_action", "propose-action",
		map[string]any{"playerId": o.Player, "actionEnvelope": parsed}, proposal.Provenance{Model: "rules"}})
	result := out.Result
	out = t.reportOf(r)
	out.Result = result
	return out, err
}

// runSafety judges a text by the policy, or without one all that is kept in the world.
func runSafety(ctx context.Context, t *task, o Order) (Report, error) {
	if o.Text == "" {
		return runAudit(ctx, t, o)
	}
	judged, err := t.readOutput(ctx, "moderate-content", map[string]any{"text": o.Text})
	return Report{Status: Done, Result: judged}, err
}
