package studio

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/studio/sentence"
	"loregate/internal/studio/spec"
)

// Plan is an ordered list of calls that can be reviewed before it is executed. As a file it is YAML
// with these names. A plan is untrusted, no matter who made it: it is checked against the tools'
// schemas and the policy each time.
type Plan struct {
	ID       string     `json:"plan_id,omitempty" yaml:"-"`
	Name     string     `json:"name" yaml:"name"`
	Doc      string     `json:"doc,omitempty" yaml:"doc,omitempty"`
	Intent   string     `json:"intent,omitempty" yaml:"intent,omitempty"`
	World    string     `json:"world,omitempty" yaml:"world,omitempty"` // for the command line
	Seed     int64      `json:"seed" yaml:"seed,omitempty"`             // default for calls without one
	Audience string     `json:"audience,omitempty" yaml:"audience,omitempty"`
	Budget   Budget     `json:"budget,omitzero" yaml:"budget,omitempty"`
	DryRun   bool       `json:"dry_run,omitempty" yaml:"dry_run,omitempty"` // executing it changes nothing
	Calls    []PlanCall `json:"calls" yaml:"calls"`
	// "rules", or "model:" and its name; "" for a plan that a person wrote
	Source    string   `json:"source,omitempty" yaml:"-"`
	Assumed   []string `json:"assumptions,omitempty" yaml:"-"`
	Ignored   []string `json:"not_understood,omitempty" yaml:"-"` // parts of the request that no call carries out
	Questions []string `json:"questions,omitempty" yaml:"-"`
	// the phrases of a description with their meaning
	Phrases []sentence.Phrase `json:"phrases,omitempty" yaml:"-"`
	// by "KIND VERSION": expected digest of the target after the calls
	Golden map[string]string `json:"golden,omitempty" yaml:"golden,omitempty"`
}

// PlanCall is one call of a plan.
type PlanCall struct {
	Tool    string         `json:"tool" yaml:"tool"`
	Target  string         `json:"target,omitempty" yaml:"target,omitempty"`
	With    map[string]any `json:"with,omitempty" yaml:"with,omitempty"`
	Confirm bool           `json:"confirm,omitempty" yaml:"confirm,omitempty"`
}

// Budget bounds the cost of executing a plan; 0 is the policy's bound.
type Budget struct {
	Calls   int     `json:"calls,omitempty" yaml:"calls,omitempty"`
	Seconds int     `json:"seconds,omitempty" yaml:"seconds,omitempty"`
	Tokens  int     `json:"tokens,omitempty" yaml:"tokens,omitempty"` // of a model; plans made by rules use no tokens
	Money   float64 `json:"money,omitempty" yaml:"money,omitempty"`
}

// maxPlan bounds the size of a plan file, in bytes.
const maxPlan = 1 << 20

// yamlErrorText removes Go type names from errors of the YAML decoder.
var yamlErrorText = strings.NewReplacer("into studio.PlanCall", "into a call", "into studio.Plan", "into a plan",
	"into studio.Budget", "into a budget", "in type studio.PlanCall", "in a call", "in type studio.Plan", "in a plan",
	"in type studio.Budget", "in a budget", "!!", "")

// ParsePlan parses a plan file, or a scene in the language of package spec: then the plan builds, renders
// and exports it in Blender. Unknown field names are refused.
func ParsePlan(data []byte) (Plan, error) {
	if len(data) > maxPlan {
		return Plan{}, Fail(Validation, "the plan is larger than %d bytes", maxPlan)
	}
	var top struct{ Parts, Calls yaml.Node }
	if yaml.Unmarshal(data, &top) == nil && !top.Parts.IsZero() && top.Calls.IsZero() {
		return planOfScene(data)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	var p Plan
	if err := d.Decode(&p); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		var all []string
		for _, found := range decoded.YAMLFaults(err) {
			all = append(all, yamlErrorText.Replace(found.String()))
		}
		return Plan{}, Fail(Validation, "the plan cannot be read: %s", strings.Join(all, "; "))
	}
	if p.Name == "" {
		return Plan{}, Fail(Validation, "name: a plan needs a name")
	}
	return p, nil
}

// planOfScene returns the plan that builds a scene.
func planOfScene(text []byte) (Plan, error) {
	s, err := spec.Parse(text)
	if err != nil {
		return Plan{}, err
	}
	design := map[string]any{"text": string(text)}
	if s.Card != "" {
		design["card"] = s.Card
	}
	target, built := "blender:"+s.Name, map[string]any{"spec": "$1.spec"}
	return Plan{Name: cmp.Or(s.Title, s.Name), Doc: s.Brief, Seed: s.Seed, Calls: []PlanCall{
		{Tool: "scene_spec", With: design},
		{Tool: "scene_check", With: built},
		{Tool: "generate_scene", Target: target, With: map[string]any{"spec": "$1.spec", "replace": true}},
		{Tool: "render_preview", Target: target, With: map[string]any{"width": 1280, "height": 720}},
		{Tool: "export_asset", Target: target, With: map[string]any{"format": "glb"}},
	}}, nil
}

// FormatPlan encodes a plan as a plan file.
func FormatPlan(p Plan) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(p); err != nil {
		return nil, fmt.Errorf("studio: plan: %w", err)
	}
	return b.Bytes(), e.Close()
}

// requestFromPlan checks a whole plan and returns the request that executes it. Its error names
// every wrong call.
func (s *Studio) requestFromPlan(p Plan, role access.Role) (request, error) {
	req := request{tool: "plan_execute", version: "1.0.0", plan: p.ID,
		common: common{Seed: p.Seed, Audience: p.Audience, Timeout: p.Budget.Seconds}}
	req.Audience = cmp.Or(req.Audience, "gm")
	if req.Timeout == 0 {
		req.Timeout = s.policy.secondsLimit()
	}
	most := s.policy.callLimit()
	if p.Budget.Calls > 0 {
		most = min(most, p.Budget.Calls)
	}
	var wrong []fault.Field
	bad := func(field, format string, args ...any) {
		wrong = append(wrong, fault.Field{Field: field, Error: fmt.Sprintf(format, args...)})
	}
	switch {
	case len(p.Calls) == 0:
		bad("calls", "a plan needs at least one")
	case len(p.Calls) > most:
		return req, Fail(OverBudget, "the plan has %d calls; its budget allows %d", len(p.Calls), most)
	}
	if req.Audience != "user" && req.Audience != "gm" {
		bad("audience", "use user or gm")
	}
	for i, c := range p.Calls {
		made, err := s.callFromPlan(p, c, i)
		if err == nil {
			err = s.policy.checkCall(made.tool, made.target, role, made.input, made.confirm)
			if f, ok := errors.AsType[*Failure](err); ok && f.Code != Validation {
				return req, f.With("call", i+1)
			}
		}
		if err != nil {
			wrong = append(wrong, callFaults(i, c, err)...)
			continue
		}
		req.calls = append(req.calls, made)
	}
	if len(wrong) > 0 {
		parts := slicesx.Map(wrong, func(w fault.Field) string { return w.Field + ": " + w.Error })
		return req, &fault.Error{Kind: fault.Invalid, Code: string(Validation), Message: "the plan is invalid: " +
			strings.Join(parts, "; "), Fields: wrong}
	}
	whole, err := json.Marshal(p.hashInput())
	if err != nil {
		return req, err
	}
	_, req.hash, err = canonicalInput("plan_execute", whole)
	return req, err
}

// hashInput returns the fields of a plan that determine its execution, for the input hash.
func (p Plan) hashInput() any {
	return struct {
		Seed     int64
		Audience string
		Calls    []PlanCall
	}{p.Seed, p.Audience, p.Calls}
}

// callFaults converts the error of a call into errors of the plan's fields.
func callFaults(i int, c PlanCall, err error) []fault.Field {
	at := fmt.Sprintf("calls[%d]", i)
	if known, ok := errors.AsType[*fault.Error](err); ok && len(known.Fields) > 0 {
		list := make([]fault.Field, len(known.Fields))
		for k, f := range known.Fields {
			list[k] = fault.Field{Field: at + ".with." + f.Field, Error: f.Error}
		}
		return list
	}
	return []fault.Field{{Field: at + "." + c.Tool, Error: failureOf(err).Message}}
}

// callFromPlan checks one call against its tool's schema and fills in defaults.
func (s *Studio) callFromPlan(p Plan, c PlanCall, i int) (call, error) {
	t, ok := toolNamed(c.Tool)
	if !ok {
		return call{}, Fail(ToolNotFound, "there is no tool %q; the tools are %s", markup.Shorten(c.Tool, 60),
			strings.Join(toolNames(), ", "))
	}
	with := maps.Clone(c.With)
	if with == nil {
		with = map[string]any{}
	}
	for _, name := range optionFields {
		if with[name] != nil {
			return call{}, Fail(Validation, "%s is set by the plan, not by a call", name)
		}
	}
	if _, own := with["seed"]; !own {
		with["seed"] = p.Seed
	}
	if c.Target != "" {
		with["target"] = c.Target
	}
	with["audience"] = "gm"
	if p.Audience != "" {
		with["audience"] = p.Audience
	}
	b, err := json.Marshal(with)
	if err != nil {
		return call{}, Fail(Validation, "its input has no JSON form")
	}
	if err := checkRefs(with, i); err != nil {
		return call{}, err
	}
	full, err := s.ops[t.Name].Check(b)
	if err != nil {
		return call{}, err
	}
	input, _, err := canonicalInput(t.Name, full)
	if err != nil {
		return call{}, err
	}
	in, err := readRaw[common](input)
	if err != nil {
		return call{}, Fail(Validation, "its input does not fit")
	}
	_, target, err := s.resolveTarget(t, in.Target)
	return call{tool: t, input: input, target: target, confirm: c.Confirm, seed: in.Seed}, err
}

// checkRefs refuses references to steps that do not come before step i, counted from 0.
func checkRefs(with map[string]any, i int) error {
	for name, v := range with {
		text, ok := v.(string)
		if !ok || !strings.HasPrefix(text, "$") {
			continue
		}
		m := reference.FindStringSubmatch(text)
		n := i
		if m != nil && m[1] != "last" {
			_, _ = fmt.Sscan(m[1], &n) // the pattern matches only digits
		}
		if m == nil || n > i || n < 1 {
			return Fail(Validation, "%s: %q is not a reference to an earlier step; write $2.manifest or $last.manifest", name,
				markup.Shorten(text, 60))
		}
	}
	return nil
}

func toolNames() []string {
	names := slicesx.Map(tools, func(t Tool) string { return t.Name })
	return slices.Sorted(slices.Values(names))
}

// requestFromCall makes the request of a single call.
func (s *Studio) requestFromCall(t *Tool, input []byte, c common) (request, error) {
	in, hash, err := canonicalInput(t.Name, input)
	if err != nil {
		return request{}, err
	}
	return request{tool: t.Name, version: t.Version, hash: hash, common: c,
		calls: []call{{tool: t, input: in, target: c.Target, confirm: c.Confirm, seed: c.Seed}}}, nil
}
