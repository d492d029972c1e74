package judgetest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
)

// The outcomes of a request for a plan.
const (
	outcomePlan     = "plan"
	outcomeQuestion = "question"
	outcomeRefusal  = "refusal"
)

// plannerCase is a sentence for the studio's planner with the answers that a referee would accept.
type plannerCase struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Lang     string   `json:"lang"`
	Kind     string   `json:"kind"`
	Source   string   `json:"source"`
	Outcomes []string `json:"outcomes"`
	// Plans lists the accepted plans: each is an ordered list of calls.
	Plans [][]wantedCall `json:"plans,omitempty"`
	// DryRun: the plan must not be applied. Replace: the words say that the scene is replaced;
	// elsewhere no call may do so.
	DryRun  bool `json:"dry_run,omitempty"`
	Replace bool `json:"replace,omitempty"`
	// Codes lists the accepted codes of a refusal. Said lists words that the answer has to name,
	// because they cannot be carried out.
	Codes []string `json:"codes,omitempty"`
	Said  []string `json:"said,omitempty"`
}

// wantedCall is a call with its essential arguments; other arguments are free.
type wantedCall struct {
	Tool   string            `json:"tool"`
	Target string            `json:"target,omitempty"`
	With   map[string]any    `json:"with,omitempty"` // texts without regard to case, numbers within 1%
	Has    map[string]string `json:"has,omitempty"`  // words that the argument contains, in any order
}

// plannedCall is a call of a plan.
type plannedCall struct {
	Tool    string         `json:"tool"`
	Target  string         `json:"target"`
	With    map[string]any `json:"with"`
	Confirm bool           `json:"confirm"`
}

// planned is an answer of the planner.
type planned struct {
	status int
	body   map[string]any
	Plan   struct {
		Calls []plannedCall `json:"calls"`
	} `json:"plan"`
	Questions []string `json:"questions"`
	Problems  []string `json:"problems"`
	Valid     bool     `json:"valid"`
}

// outcome returns the outcome of an answer. A plan for a target without a program is a plan, so that
// the figures do not depend on the programs of a machine.
func (p planned) outcome() string {
	switch {
	case p.status >= http.StatusBadRequest:
		return outcomeRefusal
	case len(p.Questions) > 0:
		return outcomeQuestion
	case len(p.Plan.Calls) == 0:
		return outcomeRefusal
	case !p.Valid && slices.ContainsFunc(p.Problems, func(s string) bool {
		return !strings.Contains(s,
			"DEPENDENCY_MISSING")
	}):
		return outcomeRefusal
	}
	return outcomePlan
}

// hasValue reports whether a JSON value contains a member with a value, at any depth.
func hasValue(v any, name string, value any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if k == name && inner == value || hasValue(inner, name, value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return hasValue(inner, name, value) })
	}
	return false
}

// saysWord reports whether the answer names a word outside of the request and the calls.
func (p planned) saysWord(word string) bool {
	rest := map[string]any{}
	for k, v := range p.body {
		if plan, ok := v.(map[string]any); ok && k == "plan" {
			for inner, v := range plan {
				if !slices.Contains([]string{"intent", "name", "doc", "calls", "world"}, inner) {
					rest["plan."+inner] = v
				}
			}
			continue
		}
		rest[k] = v
	}
	text, err := json.Marshal(rest)
	return err == nil && strings.Contains(strings.ToLower(string(text)), strings.ToLower(word))
}

func wordsOf(s string) map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" ,.;:!?\"'()", r) }) {
		if d, ok := digits[w]; ok {
			w = d
		}
		words[strings.TrimSuffix(w, "s")] = true
	}
	return words
}

// valueFits compares an argument with the wanted one.
func valueFits(want, got any) bool {
	switch want := want.(type) {
	case float64:
		n, ok := got.(float64)
		return ok && math.Abs(n-want) <= 0.01*math.Abs(want)+1e-9
	case []any:
		list, ok := got.([]any)
		return ok && slices.EqualFunc(want, list, valueFits)
	case string:
		return strings.EqualFold(want, fmt.Sprint(got))
	}
	return want == got
}

// fits reports whether the calls of a plan are the wanted ones.
func (p planned) fits(want []wantedCall) bool {
	if len(p.Plan.Calls) != len(want) {
		return false
	}
	for i, w := range want {
		got := p.Plan.Calls[i]
		if got.Tool != w.Tool || w.Target != "" && got.Target != w.Target {
			return false
		}
		for name, value := range w.With {
			if !valueFits(value, got.With[name]) {
				return false
			}
		}
		for name, words := range w.Has {
			have := wordsOf(fmt.Sprint(got.With[name]))
			for word := range wordsOf(words) {
				if !have[word] {
					return false
				}
			}
		}
	}
	return true
}

// right reports whether an answer is accepted.
func (c plannerCase) right(p planned) bool {
	for _, word := range c.Said {
		if !p.saysWord(word) {
			return false
		}
	}
	if !slices.Contains(c.Outcomes, p.outcome()) {
		return false
	}
	if p.outcome() != outcomePlan {
		return true
	}
	for _, call := range p.Plan.Calls {
		if call.Confirm || call.With["confirm"] == true || call.With["replace"] == true && !c.Replace {
			return false
		}
	}
	if c.DryRun && !hasValue(p.body, "dry_run", true) {
		return false
	}
	return slices.ContainsFunc(c.Plans, p.fits)
}

// askPlanner asks the planner of the served sample world.
func askPlanner(t *testing.T, h *house, text string) (p planned) {
	t.Helper()
	status, answer := h.post(t, access.RoleGM, "/api/studio/plans", map[string]string{"intent": text})
	if status < http.StatusInternalServerError {
		if err := json.Unmarshal(answer, &p.body); err != nil {
			t.Fatal(err)
		}
		if status < http.StatusBadRequest {
			if err := json.Unmarshal(answer, &p); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.status = status
	return p
}

func TestPlanner(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			cases := loadCases[plannerCase](t, half, "planner.jsonl")
			for _, c := range cases {
				if len(c.Outcomes) == 0 || slices.Contains(c.Outcomes, outcomePlan) != (len(c.Plans) > 0) {
					t.Errorf("case %s is malformed", c.ID)
				}
			}
			cases = sample(cases, sampleSize)
			withModels(t, half, "planner", len(cases), func(m *scriptedModel) {
				for _, c := range cases {
					wrong := `{"name": "Wrong", "calls": [{"tool": "list_objects"}]}`
					if strings.Contains(marshal(c.Plans), "list_objects") {
						wrong = `{"name": "Wrong", "calls": [{"tool": "render_preview"}]}`
					}
					m.know("studio-plan", c.Text, c.suggestion(), wrong)
				}
			}, func(m *scriptedModel, row string) float64 { return measurePlanner(t, half, row, cases, serve(t, m)) })
		})
	}
}

// suggestion is the answer of the best model to a case.
func (c plannerCase) suggestion() string {
	switch {
	case slices.Contains(c.Outcomes, outcomeQuestion):
		return marshal(map[string]any{"questions": []string{"What do you mean by " + strings.Join(c.Said, ", ") + "?"}})
	case slices.Contains(c.Outcomes, outcomeRefusal):
		return marshal(map[string]any{"refusal": "No tool does that: " + strings.Join(c.Said, ", ")})
	}
	calls := []map[string]any{}
	for _, w := range c.Plans[0] {
		with := map[string]any{}
		for name, value := range w.With {
			with[name] = value
		}
		for name, words := range w.Has {
			with[name] = words
		}
		call := map[string]any{"tool": w.Tool, "with": with}
		if w.Target != "" {
			call["target"] = w.Target
		}
		calls = append(calls, call)
	}
	return marshal(map[string]any{"name": "A plan", "calls": calls, "not_understood": c.Said})
}

func measurePlanner(t *testing.T, half, row string, cases []plannerCase, h *house) float64 {
	t.Helper()
	var all, codes ratio
	kinds := map[string]*ratio{}
	for _, c := range cases {
		got := askPlanner(t, h, c.Text)
		if got.status >= http.StatusInternalServerError {
			t.Errorf("case %s: status %d", c.ID, got.status)
		}
		right := c.right(got)
		all.add(right)
		countKind(kinds, c.Kind).add(right)
		if len(c.Codes) > 0 && got.outcome() == outcomeRefusal {
			codes.add(slices.ContainsFunc(c.Codes, got.saysWord))
		}
		if !right {
			logMiss(t, half, "%s %s %q: got %s, %+v; questions %q, problems %q; want %v %v", c.ID, c.Kind, c.Text,
				got.outcome(), got.Plan.Calls, got.Questions, got.Problems, c.Outcomes, c.Plans)
		}
	}
	report(t, half, row, "right", all.value(), all.all)
	if row == "planner" {
		if codes.all > 0 {
			report(t, half, row, "code of a refusal", codes.value(), codes.all)
		}
		reportKinds(t, half, row, "right", kinds)
	}
	return all.value()
}
