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

// Model is a language model that may propose plans. What it writes is believed no more
// than what a stranger writes: it is a plan only where rules could execute it.
type Model interface {
	// Name is the model's own.
	Name() string
	// Plan asks for a plan. Its error is [ErrOverBudget], fault.RateLimited, what Accept
	// said of the answer, or that the model gave none.
	Plan(ctx context.Context, w access.WorldID, a ModelAsk) (string, error)
}

// ModelAsk is what a model is asked: everything in it may be read by the caller, at the
// level of the plan's audience.
type ModelAsk struct {
	Wanted string // JSON: what is wanted, and the places and programs that there are
	Tools  string // JSON: the tools, with their inputs
	Budget Budget // of which Tokens and Money bound the question
	// Accept gives what of an answer is used, or an error that quotes nothing of it.
	Accept func(text string) (string, error)
}

// ErrOverBudget is the error of a question that a plan's own budget does not allow.
var ErrOverBudget = errors.New("studio: the plan's budget allows no question to a model")

// errNoPlan is what logs are told of an answer that is no plan.
var errNoPlan = fault.New(fault.Rule, "the model gave no plan that could be executed")

// Where a plan comes from.
const (
	byRules = "rules"
	byModel = "model:" // and its name
)

// Why a model's plan does not stand.
const (
	skippedLimited     = "rate_limited"
	skippedBudget      = "over_budget"
	skippedUnavailable = "unavailable"
	skippedUnusable    = "unusable"
	skippedNoPlan      = "no_plan"
)

// skipReasonAfterQuestion says why the rules' plan stands in a round whose question was put before: had the
// model's stood, there would have been none.
func (s *Studio) skipReasonAfterQuestion() string {
	if s.model == nil {
		return ""
	}
	return skippedNoPlan
}

// suggestPlan asks the model, where there is one, and gives its plan in the place of the
// rules' where it stands. The error is only that of a call that has ended.
func (s *Studio) suggestPlan(ctx context.Context, role access.Role, g access.Grant, in planRequest, rules draft) (draft, error) {
	if s.model == nil {
		return rules, nil
	}
	ask, err := s.modelAsk(ctx, g, in, planCard(rules.Plan))
	if err != nil {
		return rules, err
	}
	var wrong error
	ask.Accept = func(text string) (string, error) {
		if _, wrong = s.modelPlan(ctx, role, g, in, text); wrong != nil {
			return "", errNoPlan
		}
		return text, nil
	}
	text, err := s.model.Plan(ctx, g.World(), ask)
	if ctx.Err() != nil {
		return rules, ctx.Err()
	}
	var p Plan
	if err == nil { // it may be remembered from a time when other places were there
		p, wrong = s.modelPlan(ctx, role, g, in, text)
	}
	switch {
	case wrong != nil:
		rules.skipped, rules.fault = skippedUnusable, clipText(failureOf(wrong).Message, maxFault)
	case errors.Is(err, ErrOverBudget):
		rules.skipped = skippedBudget
	case fault.KindOf(err) == fault.RateLimited:
		rules.skipped = skippedLimited
	case err != nil:
		rules.skipped = skippedUnavailable
	default:
		return draft{Plan: p}, nil
	}
	return rules, nil
}

// maxFault bounds what is said of a model's plan, which quotes it.
const maxFault = 400

// modelPlan reads a model's answer as the plan that it would be: parsed as a plan file is,
// with the caller's seed, audience and budget, checked as plans are before they are
// executed, and of places that the audience sees. It confirms nothing: that is for people.
func (s *Studio) modelPlan(ctx context.Context, role access.Role, g access.Grant, in planRequest, text string) (Plan, error) {
	p, err := ParsePlan([]byte(trimFence(text)))
	if err != nil {
		return p, err
	}
	p = Plan{Name: clipText(markup.OneLine(p.Name), 60), Doc: clipText(markup.OneLine(p.Doc), maxFault), Intent: in.Intent, Seed: in.Seed, Audience: in.Audience, Budget: in.Budget,
		Calls: p.Calls, Source: byModel + s.model.Name()}
	for i, c := range p.Calls {
		if c.Confirm {
			return p, Fail(Validation, "calls[%d].confirm: only a person confirms", i)
		}
		if kind, _, _ := strings.Cut(in.Target, ":"); in.Target != "" && slices.Contains([]string{"", kind}, c.Target) {
			if _, _, err := s.resolveTarget(toolOfCall(c), in.Target); err == nil {
				p.Calls[i].Target = in.Target
			}
		}
	}
	if _, err := s.requestFromPlan(p, role); err != nil {
		return p, err
	}
	return p, s.canon.Read(ctx, g, func(l *canon.Snapshot) error {
		for i, c := range p.Calls {
			name, _ := c.With["card"].(string)
			if name == "" {
				continue
			}
			if _, err := findBuildable(ctx, l, name); err != nil {
				return Fail(Validation, "calls[%d].with.card: there is no place %q", i, clipText(name, 60))
			}
		}
		return nil
	})
}

// toolOfCall is a call's tool; an empty one where there is none, which nothing carries out.
func toolOfCall(c PlanCall) *Tool {
	if t, ok := toolNamed(c.Tool); ok {
		return t
	}
	return &Tool{Name: c.Tool}
}

// trimFence takes away the fence of a block of code, which models like to put about JSON.
func trimFence(text string) string {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		rest, _, _ = strings.Cut(rest, "\n```")
		return rest
	}
	return text
}

// Bounds of what a model is told of the canon.
const (
	maxPlaces = 40
	maxFound  = 12
)

// modelAsk is the question to a model: what is wanted, and what there is to do it with,
// as the audience may know it.
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
	wanted, err := json.Marshal(map[string]any{"intent": in.Intent, "card": card, "target": in.Target, "places": places, "programs": programs, "calls_at_most": most})
	if err != nil {
		return ModelAsk{}, err
	}
	described, err := json.Marshal(s.describeTools())
	return ModelAsk{Wanted: string(wanted), Tools: string(described), Budget: in.Budget}, err
}

// planCard is the place that a plan builds; "" for none.
func planCard(p Plan) string {
	for _, c := range p.Calls {
		if name, _ := c.With["card"].(string); name != "" {
			return name
		}
	}
	return ""
}

// listPlaces are names of places that may be meant: the one that the rules found, those that
// the words resemble, and the first there are.
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
	err = s.canon.Read(ctx, g, func(l *canon.Snapshot) error {
		near, err := l.NearCards(ctx, intent, only, maxFound)
		if err != nil {
			return err
		}
		for _, h := range near {
			add(h.Card)
		}
		cards, _, err := l.Cards(ctx, only, canon.Page{Limit: maxPlaces})
		for _, c := range cards {
			add(c)
		}
		return err
	})
	return names, err
}

// toolDoc is a tool as a model is told of it.
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

// hiddenFields are the fields that a plan or a person says, not a call.
var hiddenFields = append([]string{"target", "audience", "timeout_s", "path", "overwrite"}, optionFields...)

// describeTools are the tools with the fields that a call of a plan may have.
func (s *Studio) describeTools() []toolDoc {
	told := make([]toolDoc, 0, len(tools))
	for _, t := range tools {
		one := toolDoc{Tool: t.Name, Does: t.Doc, With: map[string]fieldDoc{}}
		o, _ := s.ops[t.Name].(*op.Operation)
		if o == nil {
			continue
		}
		for name, p := range o.In.Properties {
			if !slices.Contains(hiddenFields, name) {
				one.With[name] = fieldDoc{Type: p.Type, Needed: slices.Contains(o.In.Required, name), OneOf: p.Enum, Is: p.Description}
			}
		}
		told = append(told, one)
	}
	return told
}
