package studio

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// Model is a language model that may propose plans. Its output is untrusted: a plan of the model is
// used only if it passes the same checks as any other plan.
type Model interface {
	// Name returns the model's name.
	Name() string
	// Plan asks for a plan. Its error is [ErrOverBudget], fault.RateLimited, the error that Accept
	// returned for the answer, or an error that there was no answer.
	Plan(ctx context.Context, w access.WorldID, a ModelAsk) (string, error)
}

// ModelAsk is a question to a model. The caller may read everything in it, at the level of the
// plan's audience.
type ModelAsk struct {
	Wanted string // JSON: the request, and the available places and programs
	Tools  string // JSON: the tools with their inputs
	Budget Budget // its Tokens and Money bound the question
	// Accept returns the part of an answer that is used, or an error that quotes nothing of the
	// answer.
	Accept func(text string) (string, error)
}

// ErrOverBudget is the error of a question that the plan's own budget does not allow.
var ErrOverBudget = errors.New("studio: the plan's budget allows no question to a model")

// errNoPlan is the error logged for an answer that is not a usable plan.
var errNoPlan = fault.New(fault.Rule, "the model gave no plan that could be executed")

// The sources of a plan.
const (
	byRules = "rules"
	byModel = "model:" // followed by the model's name
)

// The reasons why a model's plan is not used.
const (
	skippedLimited     = "rate_limited"
	skippedBudget      = "over_budget"
	skippedUnavailable = "unavailable"
	skippedUnusable    = "unusable"
	skippedNoPlan      = "no_plan"
)

// skipReasonAfterQuestion returns the reason why the rules' plan is used after a person has answered
// a question. A question is asked only if the model proposed no usable plan.
func (s *Studio) skipReasonAfterQuestion() string {
	if s.model == nil {
		return ""
	}
	return skippedNoPlan
}

// suggestPlan asks the model, if one is configured and the rules are unsure, and returns its plan or its questions if
// they are usable, else the rules' plan. It fails if the canon cannot be read, ctx has ended, or the model refuses.
func (s *Studio) suggestPlan(ctx context.Context, role access.Role, g access.Grant, in planRequest,
	rules draft) (draft, error) {
	if s.model == nil || !rules.unsure {
		return rules, nil
	}
	ask, err := s.modelAsk(ctx, g, in, planCard(rules.Plan))
	if err != nil {
		return rules, err
	}
	var wrong error
	ask.Accept = func(text string) (string, error) {
		if _, wrong = s.readSuggestion(ctx, role, g, in, rules, text); wrong != nil {
			return "", errNoPlan
		}
		return text, nil
	}
	text, err := s.model.Plan(ctx, g.World(), ask)
	if ctx.Err() != nil {
		return rules, ctx.Err()
	}
	var d draft
	if err == nil { // the answer may be cached from a time with other places
		d, wrong = s.readSuggestion(ctx, role, g, in, rules, text)
	}
	switch {
	case wrong != nil:
		rules.skipped, rules.fault = skippedUnusable, markup.Shorten(failureOf(wrong).Message, maxFault)
	case errors.Is(err, ErrOverBudget):
		rules.skipped = skippedBudget
	case fault.KindOf(err) == fault.RateLimited:
		rules.skipped = skippedLimited
	case err != nil:
		rules.skipped = skippedUnavailable
	case d.refusal != "":
		return d, Fail(NotSupported, "%s cannot plan this: %s", s.model.Name(), d.refusal)
	default:
		return d, nil
	}
	return rules, nil
}

// suggestion is a model's answer if it is no plan.
type suggestion struct {
	Questions     []string `json:"questions"`
	Refusal       string   `json:"refusal"`
	NotUnderstood []string `json:"not_understood"`
}

// Bounds of the texts of a model in a plan.
const (
	maxSuggestedQuestions = 3
	maxNotUnderstood      = 20
)

// readSuggestion reads a model's answer: a plan, questions or a refusal.
func (s *Studio) readSuggestion(ctx context.Context, role access.Role, g access.Grant, in planRequest, rules draft,
	text string) (draft, error) {
	text = trimFence(text)
	var said suggestion
	var plain map[string]any
	if json.Unmarshal([]byte(text), &said) == nil && json.Unmarshal([]byte(text), &plain) == nil {
		delete(plain, "not_understood")
		if b, err := json.Marshal(plain); err == nil {
			text = string(b)
		}
	}
	if said.Refusal != "" {
		return draft{refusal: markup.Shorten(markup.OneLine(said.Refusal), maxFault)}, nil
	}
	d := draft{Plan: Plan{Name: rules.Name, Intent: in.Intent, Seed: in.Seed, Audience: in.Audience, Budget: in.Budget,
		Source: byModel + s.model.Name()}}
	for _, q := range said.Questions[:min(len(said.Questions), maxSuggestedQuestions)] {
		d.addQuestion(question{topic: topicIntent, text: markup.Shorten(markup.OneLine(q), maxFault)})
	}
	if len(d.open) > 0 {
		return d, nil
	}
	p, err := s.modelPlan(ctx, role, g, in, text)
	if err != nil {
		return draft{}, err
	}
	for i, c := range p.Calls {
		if replaces, _ := c.With["replace"].(bool); replaces && !rules.replace {
			return draft{}, Fail(Validation, "calls[%d].with.replace: the request does not say that the scene is replaced", i)
		}
	}
	p.DryRun = rules.DryRun
	for _, words := range said.NotUnderstood[:min(len(said.NotUnderstood), maxNotUnderstood)] {
		p.Ignored = append(p.Ignored, markup.Shorten(markup.OneLine(words), maxFault))
	}
	return draft{Plan: p}, nil
}

// maxFault bounds the error text about a model's plan, because it quotes the plan.
const maxFault = 400

// modelPlan parses a model's answer like a plan file. It sets the caller's seed, audience and
// budget, checks the plan as before an execution, and checks that the audience may see the named
// places. A plan with a confirmation is refused: only a person confirms.
func (s *Studio) modelPlan(ctx context.Context, role access.Role, g access.Grant, in planRequest,
	text string) (Plan, error) {
	p, err := ParsePlan([]byte(text))
	if err != nil {
		return p, err
	}
	p = Plan{Name: markup.Shorten(markup.OneLine(p.Name), 60), Doc: markup.Shorten(markup.OneLine(p.Doc), maxFault),
		Intent: in.Intent,
		Seed:   in.Seed, Audience: in.Audience, Budget: in.Budget,
		Calls: p.Calls, Source: byModel + s.model.Name()}
	for i, c := range p.Calls {
		if c.Confirm {
			return p, Fail(Validation, "calls[%d].confirm: only a person may confirm", i)
		}
		if kind, _, _ := strings.Cut(in.Target, ":"); in.Target != "" && slices.Contains([]string{"", kind}, c.Target) {
			if _, _, err := s.resolveTarget(toolOrEmpty(c.Tool), in.Target); err == nil {
				p.Calls[i].Target = in.Target
			}
		}
	}
	if _, err := s.requestFromPlan(p, role); err != nil {
		return p, err
	}
	return p, s.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		for i, c := range p.Calls {
			name, _ := c.With["card"].(string)
			if name == "" {
				continue
			}
			if _, err := findBuildable(ctx, snap, name); err != nil {
				return Fail(Validation, "calls[%d].with.card: there is no place %q", i, markup.Shorten(name, 60))
			}
		}
		return nil
	})
}

// trimFence removes the code fence that models often put around JSON.
func trimFence(text string) string {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		rest, _, _ = strings.Cut(rest, "\n```")
		return rest
	}
	return text
}

// Bounds of the canon data in a question to a model.
const (
	maxPlaces = 40
	maxFound  = 12
)

// modelAsk makes the question to a model: the request, and the tools and places that are available
// to the audience.
func (s *Studio) modelAsk(ctx context.Context, g access.Grant, in planRequest, card string) (ModelAsk, error) {
	places, err := s.listPlaces(ctx, g, in.Intent, card)
	if err != nil {
		return ModelAsk{}, err
	}
	type program struct {
		Kind  string   `json:"kind"`
		Tools []string `json:"tools"`
	}
	programs := []program{}
	for _, a := range s.adapters {
		p := program{Kind: a.Kind(), Tools: []string{}}
		for _, t := range tools {
			if a.Tools()[t.Name].Does {
				p.Tools = append(p.Tools, t.Name)
			}
		}
		programs = append(programs, p)
	}
	most := s.policy.callLimit()
	if in.Budget.Calls > 0 {
		most = min(most, in.Budget.Calls)
	}
	wanted, err := json.Marshal(map[string]any{"intent": in.Intent, "card": card, "target": in.Target, "places": places,
		"programs": programs, "calls_at_most": most})
	if err != nil {
		return ModelAsk{}, err
	}
	described, err := json.Marshal(s.describeTools())
	return ModelAsk{Wanted: string(wanted), Tools: string(described), Budget: in.Budget}, err
}

// planCard returns the name of the card that a plan builds, or "".
func planCard(p Plan) string {
	for _, c := range p.Calls {
		if name, _ := c.With["card"].(string); name != "" {
			return name
		}
	}
	return ""
}

// listPlaces returns names of places that the intent may refer to: the one that the rules found,
// those similar to the intent, and then the first ones of the canon.
func (s *Studio) listPlaces(ctx context.Context, g access.Grant, intent, card string) (names []string, err error) {
	add := func(c canon.Card) {
		if len(names) < maxPlaces && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if card != "" {
		names = append(names, card)
	}
	only := canon.Filter{Type: "Location"}
	err = s.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		near, err := snap.NearCards(ctx, intent, only, maxFound)
		if err != nil {
			return err
		}
		for _, h := range near {
			add(h.Card)
		}
		cards, _, err := snap.Cards(ctx, only, canon.Page{Limit: maxPlaces})
		for _, c := range cards {
			add(c)
		}
		return err
	})
	return names, err
}

// toolDoc is the description of a tool in a question to a model.
type toolDoc struct {
	Tool string              `json:"tool"`
	Does string              `json:"does"`
	With map[string]fieldDoc `json:"with"`
}

type fieldDoc struct {
	Type   string `json:"type"`
	Needed bool   `json:"needed,omitempty"`
	OneOf  []any  `json:"one_of,omitempty"`
	Is     string `json:"is,omitempty"`
}

// hiddenFields are the input fields that the plan or a person sets, not a single call.
var hiddenFields = append([]string{"target", "audience", "timeout_s", "path", "overwrite"}, optionFields...)

// describeTools returns the tools with the fields that a call of a plan may have.
func (s *Studio) describeTools() []toolDoc {
	told := make([]toolDoc, 0, len(tools))
	for _, t := range tools {
		one := toolDoc{Tool: t.Name, Does: t.Doc, With: map[string]fieldDoc{}}
		o, _ := s.ops[t.Name].(*op.Operation)
		if o == nil {
			continue
		}
		for name, p := range o.In().Properties {
			if !slices.Contains(hiddenFields, name) {
				one.With[name] = fieldDoc{Type: p.Type, Needed: slices.Contains(o.In().Required, name), OneOf: p.Enum,
					Is: p.Description}
			}
		}
		told = append(told, one)
	}
	return told
}
