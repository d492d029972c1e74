package studio

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"loregate/internal/access"
	"loregate/internal/blob"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

type planCreateIn struct {
	Intent   string `json:"intent" minlen:"3" maxlen:"1000" jsonschema:"The task, in a sentence: build the tavern of Mosswell with ten barrels and export it to glb."`
	Card     string `json:"card,omitzero" maxlen:"255" jsonschema:"The place, if the words do not name it."`
	Target   string `json:"target,omitzero" maxlen:"60" jsonschema:"Target of the scene, such as blender:tavern."`
	Audience string `json:"audience,omitzero" enum:"user,gm" default:"gm" jsonschema:"Who may see the plan and its runs."`
	Seed     int64  `json:"seed,omitzero" min:"0" max:"9007199254740991" jsonschema:"Seed of all random choices."`
	Budget   Budget `json:"budget,omitzero" jsonschema:"Upper bounds for its execution."`
}

type planOut struct {
	Plan      Plan     `json:"plan"`
	Source    string   `json:"source,omitzero" jsonschema:"Source of the plan: rules, or model: and the model's name. Absent from plans that a caller wrote."`
	Assumed   []string `json:"assumptions" jsonschema:"Assumptions where the words leave something open."`
	Questions []string `json:"questions" jsonschema:"Questions that must be answered before it can be executed; empty if it can be executed."`
	Valid     bool     `json:"valid"`
	Problems  []string `json:"problems"`
}

// createdOut is a new plan, with the way it came about.
type createdOut struct {
	planOut
	Asked      string `json:"asked,omitzero" jsonschema:"Outcome of the questions if your client could ask a person: answered, declined or unanswered. Absent if it could not, or if there were no questions."`
	Skipped    string `json:"model_skipped,omitzero" jsonschema:"Reason why the plan comes from the rules and not from a model: rate_limited (the model's budget is used up), over_budget (the plan's own budget does not allow a call to the model), unavailable, unusable (its proposal was not an executable plan), or no_plan (it proposed none before the questions were asked). Otherwise absent."`
	ModelFault string `json:"model_fault,omitzero" jsonschema:"The error in the model's plan."`
}

type planIDIn struct {
	Plan string `json:"plan_id" maxlen:"60" jsonschema:"The plan."`
}

type planCheckIn struct {
	Plan Plan `json:"plan" jsonschema:"Id of a plan, from plan_create."`
}

type planRunIn struct {
	Plan      string `json:"plan_id,omitzero" maxlen:"60" jsonschema:"Id of a plan from plan_create. Required unless plan is given."`
	Given     *Plan  `json:"plan,omitzero" jsonschema:"The plan to execute."`
	DryRun    bool   `json:"dry_run,omitzero" jsonschema:"Try every call on the target and leave the target unchanged. Calls that need files of earlier steps cannot be tried and are left out, with a warning."`
	Confirm   bool   `json:"confirm,omitzero" jsonschema:"Confirm that the plan may overwrite existing content and replace scenes."`
	RequestID string `json:"request_id,omitzero" maxlen:"120" jsonschema:"A text of your choice: the same text with the same plan returns the first run."`
}

// stepOut is the result of one call of a plan.
type stepOut struct {
	Tool      string     `json:"tool_name"`
	Target    TargetInfo `json:"target"`
	Result    any        `json:"result"`
	Artifacts []string   `json:"artifacts"`
}

type planRunOut struct {
	Steps []stepOut `json:"steps"`
}

func (s *Studio) planOps() []*op.Operation {
	read := func(name, title, doc, route string, asked ...string) op.Spec {
		return op.Spec{Name: name, Title: title, Doc: doc, Surfaces: []string{Surface}, Effect: access.Read,
			MinRole: access.RoleUser, Route: route, Asked: asked}
	}
	create := read(
		"plan_create",
		"Plan a scene",
		"Turn a sentence into a plan of a 3D model, a draft of tool calls: build, furnish, render, export, import. Nothing is executed; check the plan, then execute it. "+
			"If something is missing, it asks the person behind your client, or returns questions. A configured model may propose the plan; source names its author.",
		"POST /api/studio/plans",
		"draft how a place would be modelled",
		"propose steps for a 3D build without doing them",
		"how would you construct it",
		"outline the work",
		"sketch the steps",
		"how would you model it, without doing so",
		"only a draft of the 3D work",
		"draft of how to build it",
		"sketch steps without doing them",
		"outline a build from a sentence",
		"propose how to model a place",
		"think it through first",
	)
	create.Effect, create.MinRole, create.Status = access.Write, access.RoleGM, 201
	create.Interactive, create.Waits = true, true
	create.Examples = []op.Example{{Title: "A place",
		Input: `{"intent": "build The Dry Anchor at dusk with ten barrels and export it to glb"}`}}
	validate := read("plan_validate", "Check a plan",
		"Check a plan against the tools' schemas, the policy and the budget, without storing or executing it.",
		"POST /api/studio/plans/validate",
		"is the draft sound", "would the steps be allowed", "check a draft before it is carried out",
		"would this plan work", "test a plan of a build",
		"would the draft be accepted", "proofread a plan")
	validate.MinRole = access.RoleGM
	validate.Examples = []op.Example{{Title: "One call",
		Input: `{"plan": {"name": "A cube", "seed": 1, "calls": [{"tool": "add_object", "with": {"object_type": "cube", "location": [0, 0, 1]}}]}}`}}
	run := read("plan_execute", "Execute a plan",
		"Execute a plan as one run: all of its calls or none. With dry_run it returns the changes.",
		"POST /api/studio/plans/execute",
		"carry out the draft", "do the planned steps", "go ahead and build it",
		"now do was planned", "build according to the plan",
		"carry the plan out", "now really build it", "do as drafted")
	run.Effect, run.MinRole, run.Timeout = access.Destroy, access.RoleGM, toolLimit
	run.Interactive, run.Waits = true, true
	run.Destroys = planDestroys
	run.Examples = []op.Example{{Title: "Rehearse",
		Input: `{"plan_id": "0190d0a0-0000-7000-8000-000000000000", "dry_run": true}`}}
	get := read("plan_get", "Show a plan", "Get a plan that was made, with its questions.",
		"GET /api/studio/plans/{plan_id}",
		"show the draft again", "steps that were drafted", "the plan from before", "we plan to build",
		"read the draft", "which steps did we plan", "questions of a plan")
	get.Examples = []op.Example{{Title: "A plan", Input: `{"plan_id": "0190d0a0-0000-7000-8000-000000000000"}`}}
	return []*op.Operation{op.Define(create, s.planCreate), op.Define(validate, s.planValidate),
		op.Define(run, s.planExecute), op.Define(get, s.planGet)}
}

func (s *Studio) planCreate(ctx context.Context, c *op.Call, in planCreateIn) (createdOut, error) {
	level, _ := access.ParseLevel(in.Audience)
	d, err := s.draftPlan(ctx, c, c.Grant.As(level), in)
	if err != nil {
		return createdOut{}, faultWithoutRun(err)
	}
	d.ID = s.newID().String()
	out := createdOut{planOut: s.checkPlan(d.Plan, c.Grant.Role()), Asked: string(d.asked), Skipped: d.skipped,
		ModelFault: d.fault}
	c.Reply.Location = "/api/studio/plans/" + d.ID
	return out, s.recordEvent(ctx, c.Grant, d.ID, eventPlan, level, d.Plan)
}

// checkPlan checks whether a plan could be executed and lists its problems.
func (s *Studio) checkPlan(p Plan, role access.Role) planOut {
	out := planOut{Plan: p, Source: p.Source, Assumed: p.Assumed, Questions: p.Questions, Problems: []string{}}
	if _, err := s.requestFromPlan(p, role); err != nil && len(p.Questions) == 0 {
		failed := failureOf(err)
		out.Problems = append(out.Problems, string(failed.Code)+": "+failed.Message)
	}
	out.Valid = len(out.Questions) == 0 && len(out.Problems) == 0
	return out
}

func (s *Studio) planValidate(_ context.Context, c *op.Call, in planCheckIn) (planOut, error) {
	return s.checkPlan(in.Plan, c.Grant.Role()), nil
}

func (s *Studio) planGet(ctx context.Context, c *op.Call, in planIDIn) (planOut, error) {
	p, err := s.findPlan(ctx, c.Grant, in.Plan)
	if err != nil {
		return planOut{}, err
	}
	return s.checkPlan(p, access.RoleGM), nil
}

func (s *Studio) findPlan(ctx context.Context, g access.Grant, id string) (Plan, error) {
	b, err := s.lockBook(ctx, g)
	if err != nil {
		return Plan{}, err
	}
	defer b.mu.Unlock()
	e, ok := b.plans[id]
	if !ok || e.audience > g.View().Level {
		return Plan{}, fault.New(fault.NotFound, "there is no plan %q; make one with plan_create",
			markup.Shorten(id, 60))
	}
	return e.plan, nil
}

func (s *Studio) planExecute(ctx context.Context, c *op.Call, in planRunIn) (e Envelope[planRunOut], err error) {
	var p Plan
	switch {
	case in.Given != nil && in.Plan == "":
		p = *in.Given
	case in.Plan != "" && in.Given == nil:
		if p, err = s.findPlan(ctx, c.Grant, in.Plan); err != nil {
			return e, err
		}
	default:
		return e, fault.BadField("plan_id", "give either plan_id or plan")
	}
	if len(p.Questions) > 0 {
		return e, fault.BadField("plan_id", "the plan has open questions: %s Create it again with the answers",
			p.Questions[0])
	}
	run, err := s.runPlan(ctx, c, p, in)
	if run == nil {
		return e, faultWithoutRun(err)
	}
	e.Head, e.Result.Steps = run.head(), []stepOut{}
	c.Reply.Meta = map[string]any{metaKey: e.Head}
	if err := cmp.Or(err, runError(run)); err != nil {
		return e, err
	}
	for _, st := range run.Steps {
		e.Result.Steps = append(e.Result.Steps, stepOut{st.Tool, st.Target, json.RawMessage(st.Result), st.Made})
	}
	s.attachPreview(ctx, c, run)
	return e, nil
}

// planDestroys reports whether an input of plan_execute may overwrite existing content: it confirms
// that, or has a call that overwrites or replaces. An input that cannot be decoded counts too.
func planDestroys(input raw) bool {
	in, err := readRaw[struct {
		Confirm bool `json:"confirm"`
		Plan    Plan `json:"plan"`
	}](input)
	return err != nil || in.Confirm || slices.ContainsFunc(in.Plan.Calls, func(c PlanCall) bool {
		overwrites, replaces := c.With["overwrite"], c.With["replace"]
		return c.Confirm || overwrites == true || replaces == true
	})
}

func (s *Studio) runPlan(ctx context.Context, c *op.Call, p Plan, in planRunIn) (*Run, error) {
	p.Calls = slices.Clone(p.Calls) // the recorded plan does not change: only this execution is confirmed
	for i := range p.Calls {
		p.Calls[i].Confirm = p.Calls[i].Confirm || in.Confirm
	}
	req, err := s.requestFromPlan(p, c.Grant.Role())
	if err != nil {
		return nil, err
	}
	req.DryRun, req.RequestID = in.DryRun || p.DryRun, in.RequestID
	var skipped []string
	if req.DryRun {
		req.calls, skipped = splitDryRunnable(req.calls)
	}
	if len(req.calls) == 0 {
		return nil, Fail(NotSupported, "no call of this plan can be tried before the others are done")
	}
	run, err := s.executeRequest(ctx, c.Grant, req, c.Progress)
	if run != nil && len(skipped) > 0 {
		run.Warnings = append(run.Warnings, skipped...)
	}
	return run, err
}

// splitDryRunnable returns the calls that a dry run can do. It skips each call that refers to the
// result of an earlier one, unless that is a scene, and all later calls on the same target.
func splitDryRunnable(calls []call) (keep []call, skipped []string) {
	lost := map[string]bool{}
	for i, c := range calls {
		var fields map[string]any
		_ = json.Unmarshal(c.input, &fields) // the input was checked before
		for _, v := range fields {
			if text, ok := v.(string); ok && reference.MatchString(text) && (len(skipped) > 0 ||
				!refersToScene(text, calls[:i])) {
				lost[c.target] = true
			}
		}
		if lost[c.target] {
			skipped = append(skipped,
				c.tool.Name+" on "+c.target+" was not tried: it needs the result of an earlier call")
			continue
		}
		keep = append(keep, c)
	}
	return keep, skipped
}

// refersToScene reports whether a reference is to a scene that an earlier call stores.
func refersToScene(text string, earlier []call) bool {
	m := reference.FindStringSubmatch(text)
	n := len(earlier)
	if m[1] != "last" {
		n, _ = strconv.Atoi(m[1]) // the pattern matches only digits
	}
	return m[2] == SpecKind && n >= 1 && n <= len(earlier) && slices.ContainsFunc(sceneTools, func(t Tool) bool {
		return t.Name == earlier[n-1].tool.Name
	})
}

// parseSum parses a hash; it returns the zero Sum if the text is not a hash.
func parseSum(text string) blob.Sum {
	s, _ := blob.ParseSum(text)
	return s
}
