package studio_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/studio"
)

// person answers forms with one reaction each; after the last it leaves forms unanswered.
type person struct {
	says  []op.Reaction
	err   error
	forms []op.Form
}

func (p *person) Asked(string) bool { return false }

func (p *person) Ask(_ context.Context, f op.Form) (op.Reaction, error) {
	p.forms = append(p.forms, f)
	if len(p.says) == 0 {
		return op.Reaction{Outcome: op.Unanswered}, p.err
	}
	r := p.says[0]
	p.says = p.says[1:]
	return r, p.err
}

func says(pairs ...string) op.Reaction {
	r := op.Reaction{Outcome: op.Answered, Values: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		r.Values[pairs[i]] = pairs[i+1]
	}
	return r
}

// twoTaverns makes a desk with places of similar names, one of them hidden.
func twoTaverns(t *testing.T) *desk {
	d := newDesk(t)
	d.card("Mosswell", "Location", "A village.", access.LevelUser)
	d.card("Old Tavern of Mosswell", "Location", "Old.", access.LevelUser)
	d.card("New Tavern of Mosswell", "Location", "New.", access.LevelUser)
	d.card("Tavern Cellar of Mosswell", "Location", "Hidden.", access.LevelAdmin)
	d.card("Ada", "RichText", "A smith.", access.LevelUser)
	return d
}

func calls(out map[string]any) string {
	list, _ := out["plan"].(map[string]any)["calls"].([]any)
	b, _ := json.Marshal(list)
	return string(b)
}

func (d *desk) plans() int {
	d.t.Helper()
	head, err := d.canon.Head(d.t.Context(), d.grant(access.RoleAdmin),
		canon.LedgerStream(studio.Ledger, d.world.String()))
	if err != nil {
		d.t.Fatal(err)
	}
	return int(head.Seq)
}

func TestOpenQuestionsAreAskedOfThePerson(t *testing.T) {
	const tavern = `{"intent": "build the tavern in Mosswell and export it to glb"}`
	for _, row := range []struct {
		name, input    string
		says           []op.Reaction
		asked, want    string // expected outcome; expected part of the calls
		open, problems int
	}{
		{"one of several", tavern, []op.Reaction{says("card", "New Tavern of Mosswell")}, "answered",
			`"card":"New Tavern of Mosswell"`, 0, 0},
		{"declined", tavern, []op.Reaction{{Outcome: op.Declined}}, "declined", "generate_scene", 1, 0},
		{"nobody there", tavern, nil, "unanswered", "generate_scene", 1, 0},
		{"from the words alone", `{"intent": "build the tavern in Fernhollow"}`, []op.Reaction{says()}, "answered",
			`"description":"the tavern in Fernhollow"`, 0, 0},
		{"a place after all", `{"intent": "build the tavern in Fernhollow"}`, []op.Reaction{says("card", "mosswell")},
			"answered", `"card":"Mosswell"`, 0, 0},
		{"nothing understood", `{"intent": "hello there"}`, []op.Reaction{says("intent", "build Mosswell at dusk")},
			"answered", `"style":"dusk"`, 0, 0},
		{"first what, then where", `{"intent": "hello there"}`,
			[]op.Reaction{says("intent", "build the tavern in Mosswell"), says("card", "Old Tavern of Mosswell")}, "answered",
			`"card":"Old Tavern of Mosswell"`, 0, 0},
		{"no name, no question", `{"intent": "build an inn with ten barrels at dusk"}`, nil, "", `"style":"dusk"`, 0, 0},
		{"what is built", `{"intent": "build it"}`, []op.Reaction{says("description", "an inn")}, "answered",
			`"description":"an inn"`, 0, 0},
		{"it is asked three times and no more", `{"intent": "hello"}`,
			[]op.Reaction{says("intent", "hello"), says("intent", "hello"), says("intent", "hello"),
				says("intent", "build Mosswell")}, "answered", `[]`, 1, 0},
	} {
		d := twoTaverns(t)
		p := &person{says: row.says}
		d.asker = p
		out := d.do(access.RoleGM, "plan_create", row.input)
		if asked, _ := out["asked"].(string); asked != row.asked || !strings.Contains(calls(out), row.want) ||
			len(out["questions"].([]any)) != row.open || (out["valid"] == true) != (row.open == 0) {
			t.Errorf("%s: %v", row.name, out)
		}
		for _, f := range p.forms {
			if b := fmt.Sprint(f); strings.Contains(b, "Cellar") {
				t.Errorf("%s: what is hidden is offered: %s", row.name, b)
			}
		}
		if out["source"] != "rules" || d.plans() != 1 {
			t.Errorf("%s: of %v, %d records", row.name, out["source"], d.plans())
		}
	}
}

func TestUnansweredQuestionRecordsNoPlan(t *testing.T) {
	d := twoTaverns(t)
	for name, p := range map[string]*person{
		"dismissed": {says: []op.Reaction{{Outcome: op.Dismissed}}},
		"a hostile answer": {says: []op.Reaction{{}},
			err: fault.BadField("answer.card", "is none of the 2 that were offered")},
		"it has to travel":    {says: []op.Reaction{{}}, err: &op.Asking{Form: op.Form{Key: "plan-1"}}},
		"the caller is gone":  {says: []op.Reaction{{}}, err: context.Canceled},
		"a place that is not": {says: []op.Reaction{says("card", "Tavern Cellar of Mosswell")}},
		"a card of no place":  {says: []op.Reaction{says("card", "Ada")}},
	} {
		d.asker = p
		answer, err := d.ops.Invoke(t.Context(), d.caller(access.RoleGM),
			op.Request{Operation: "plan_create", Surface: studio.Surface, Asker: p,
				Input: []byte(`{"intent": "build the tavern in Mosswell"}`)})
		if name == "it has to travel" && (err != nil || answer.Asks == nil) || name != "it has to travel" && err == nil {
			t.Errorf("%s: %v, %v", name, answer != nil, err)
		}
		var known *fault.Error
		if name == "dismissed" && (!errors.As(err, &known) || known.Code != string(studio.Cancelled)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d.plans() != 0 {
		t.Errorf("%d records", d.plans())
	}
}

func TestMissingEngineMayBeLeftOut(t *testing.T) {
	d := twoTaverns(t)
	d.soleAdapter = true
	d.open()
	p := &person{says: []op.Reaction{says("engine", "leave them out")}}
	d.asker = p
	out := d.do(access.RoleGM, "plan_create", `{"intent": "build Mosswell, export it to glb and import it"}`)
	if len(p.forms) != 1 || !slices.Equal(p.forms[0].Blanks[0].Options, []string{"leave them out"}) ||
		strings.Contains(calls(out), "import_asset") || out["valid"] != true {
		t.Errorf("%+v, %v", p.forms, out)
	}
}

// suggester is a model with a fixed answer.
type suggester struct {
	answer string
	err    error
	asks   []studio.ModelAsk
}

func (s *suggester) Name() string { return "fake-1" }

func (s *suggester) Plan(_ context.Context, _ access.WorldID, a studio.ModelAsk) (string, error) {
	s.asks = append(s.asks, a)
	if s.err != nil {
		return "", s.err
	}
	return a.Accept(s.answer)
}

func TestModelProposesPlan(t *testing.T) {
	good := `{"name": "Mosswell\u202e by night", "doc": "It is.", "calls": [{"tool": "generate_scene", "with": {"card": "Mosswell", "style": "night"}}, {"tool": "render_preview"}]}`
	call := func(s string) string { return `{"name": "x", "calls": [` + s + `]}` }
	for _, row := range []struct {
		name, answer string
		err          error
		skipped, say string // if the plan is not used: the reason, and part of the error
	}{
		{"good", good, nil, "", ""},
		{"in a fence", "```json\n" + good + "\n```\nHere you are!", nil, "", ""},
		{"as YAML", "name: x\ncalls:\n  - tool: generate_scene\n    with: {card: Mosswell, style: night}\n  - tool: render_preview\n", nil, "", ""},
		{"words", "I would build an inn.", nil, "unusable", "cannot be read"},
		{"nothing", "", nil, "unusable", "empty"},
		{"no calls", call(``), nil, "unusable", "at least one"},
		{"a tool that is none", call(`{"tool": "run_python", "with": {"code": "import os"}}`), nil, "unusable", "run_python"},
		{"a field that is none", call(`{"tool": "render_preview", "with": {"samplse": 3}}`), nil, "unusable",
			"calls[0].with.samplse"},
		{"out of range", call(`{"tool": "render_preview", "with": {"samples": 99999}}`), nil, "unusable",
			"calls[0].with.samples"},
		{"a place that is hidden", call(`{"tool": "generate_scene", "with": {"card": "Tavern Cellar of Mosswell"}}`), nil,
			"unusable", `there is no place "Tavern Cellar of Mosswell"`},
		{"a place that is none", call(`{"tool": "generate_scene", "with": {"card": "Nowhere"}}`), nil, "unusable",
			`there is no place "Nowhere"`},
		{"a card of no place", call(`{"tool": "generate_scene", "with": {"card": "Ada"}}`), nil, "unusable",
			`there is no place "Ada"`},
		{"what destroys", call(`{"tool": "export_asset", "with": {"format": "glb", "path": "out/x.glb", "overwrite": true}}`),
			nil, "unusable", "overwrite"},
		{"what confirms itself", call(`{"tool": "export_asset", "confirm": true, "with": {"format": "glb"}}`), nil,
			"unusable", "only a person may confirm"},
		{"what is the plan's to say", call(`{"tool": "render_preview", "with": {"audience": "user", "world": "other"}}`), nil,
			"unusable", "world"},
		{"more calls than the budget", call(strings.Repeat(`{"tool": "render_preview"},`, 6) + `{"tool": "render_preview"}`),
			nil, "unusable", "7 calls"},
		{"a step ahead", call(`{"tool": "generate_texture", "with": {"object_name": "$3.export", "texture_type": "wood"}}`),
			nil, "unusable", "$3.export"},
		{"a replacement that nobody wants",
			call(`{"tool": "generate_scene", "with": {"card": "Mosswell", "replace": true}}`), nil, "unusable", "with.replace"},
		{"down", "", errors.New("no route to SECRETHOST"), "unavailable", ""},
		{"its budget is used up", "", fault.New(fault.RateLimited, "used up"), "rate_limited", ""},
		{"over the plan's budget", "", studio.ErrOverBudget, "over_budget", ""},
	} {
		d := twoTaverns(t)
		m := &suggester{answer: row.answer, err: row.err}
		d.model, d.allow = m, true
		d.open()
		out := d.do(access.RoleAdmin, "plan_create",
			`{"intent": "build Mosswell with a gleebnock", "seed": 7, "budget": {"calls": 6}}`)
		plan := out["plan"].(map[string]any)
		why, _ := out["model_fault"].(string)
		stands := row.skipped == ""
		if got, _ := out["model_skipped"].(string); got != row.skipped || !strings.Contains(why, row.say) ||
			stands != (out["source"] == "model:fake-1") || !stands != (out["source"] == "rules") {
			t.Errorf("%s: %v", row.name, out)
		}
		if want := map[bool]string{true: `"style":"night"`, false: `"card":"Mosswell"`}[stands]; !strings.Contains(calls(out),
			want) || out["valid"] != true || plan["seed"] != 7.0 {
			t.Errorf("%s: %v", row.name, out)
		}
		if name := plan["name"].(string); strings.Contains(name, "\u202e") || plan["confirm"] != nil {
			t.Errorf("%s: named %q", row.name, name)
		}
		again := d.do(access.RoleAdmin, "plan_get", `{"plan_id": "`+plan["plan_id"].(string)+`"}`)
		if again["source"] != out["source"] || calls(again) != calls(out) {
			t.Errorf("%s: kept as %v", row.name, again)
		}
		if got := d.do(access.RoleAdmin, "list_runs", `{}`); got["total"] != 0.0 {
			t.Errorf("%s: something was run", row.name)
		}
		if b := d.log.String() + fmt.Sprint(out); strings.Contains(b, "SECRETHOST") || len(m.asks) != 1 {
			t.Errorf("%s: %s; asked %d times", row.name, b, len(m.asks))
		}
	}
}

// The question to a model contains only data that the plan's audience may read.
func TestModelSeesOnlyAudienceCards(t *testing.T) {
	d := twoTaverns(t)
	d.card("GM's Vault", "Location", "Of the GM.", access.LevelGM)
	m := &suggester{err: errors.New("down")}
	d.model = m
	d.open()
	for _, row := range []struct{ audience, sees string }{{"gm", "GM's Vault"}, {"user", ""}} {
		d.do(access.RoleGM, "plan_create", `{"intent": "build the vault and the gleebnock of Mosswell", "audience": "`+
			row.audience+`"}`)
		a := m.asks[len(m.asks)-1]
		told := strings.ReplaceAll(a.Wanted+a.Tools, `\u0027`, "'")
		if strings.Contains(told, "Tavern Cellar") || strings.Contains(told, "GM's Vault") != (row.sees != "") ||
			!strings.Contains(told, "Old Tavern of Mosswell") {
			t.Errorf("for %s: %s", row.audience, a.Wanted)
		}
		if !json.Valid([]byte(a.Wanted)) || !json.Valid([]byte(a.Tools)) || strings.ContainsAny(a.Wanted+a.Tools, "<>") ||
			strings.Contains(a.Tools, `"overwrite"`) {
			t.Errorf("told %s %s", a.Wanted, a.Tools)
		}
	}
}

// The model is asked before the person where the rules find nothing to do. A person alone decides between places.
func TestModelIsAskedBeforeThePerson(t *testing.T) {
	d := twoTaverns(t)
	m := &suggester{answer: "no plan"}
	p := &person{says: []op.Reaction{says("intent", "build the tavern in Mosswell"),
		says("card", "Old Tavern of Mosswell")}}
	d.model, d.asker = m, p
	d.open()
	out := d.do(access.RoleGM, "plan_create", `{"intent": "fettle the cube"}`)
	if len(m.asks) != 1 || len(p.forms) != 2 || out["asked"] != "answered" || !strings.Contains(calls(out), "Old Tavern") {
		t.Errorf("asked %d times, %d forms: %v", len(m.asks), len(p.forms), out)
	}
	m.answer = `{"name": "x", "calls": [{"tool": "generate_scene", "with": {"card": "New Tavern of Mosswell"}}]}`
	out = d.do(access.RoleGM, "plan_create", `{"intent": "fettle the cube"}`)
	if len(p.forms) != 2 || out["source"] != "model:fake-1" || out["valid"] != true {
		t.Errorf("%v", out)
	}
}

// A model may ask or refuse, and is not asked for what the rules understand.
func TestModelAsksOrRefuses(t *testing.T) {
	d := twoTaverns(t)
	m := &suggester{answer: `{"questions": ["Which one?", "When?"], "calls": [{"tool": "render_preview"}]}`}
	d.model = m
	d.open()
	out := d.do(access.RoleGM, "plan_create", `{"intent": "fettle the cube"}`)
	if q := fmt.Sprint(out["questions"]); q != "[Which one? When?]" || out["valid"] != false || calls(out) != "[]" {
		t.Errorf("%v: %s", out, calls(out))
	}
	m.answer = `{"refusal": "No tool sends\nmail."}`
	_, err := d.ops.Invoke(t.Context(), d.caller(access.RoleGM), op.Request{Operation: "plan_create",
		Surface: studio.Surface, Input: []byte(`{"intent": "fettle the cube"}`)})
	var known *fault.Error
	if !errors.As(err, &known) || known.Code != string(studio.NotSupported) ||
		!strings.Contains(known.Message, "No tool sends mail.") {
		t.Errorf("%v", err)
	}
	asked := len(m.asks)
	out = d.do(access.RoleGM, "plan_create", `{"intent": "build Mosswell"}`)
	if out["source"] != "rules" || len(m.asks) != asked {
		t.Errorf("%v", out)
	}
}

// A confirmation applies to one execution and is not stored in the plan.
func TestConfirmationIsNotStored(t *testing.T) {
	d := newDeskWith(t, true)
	d.do(access.RoleAdmin, "add_object", cube)
	d.model = &suggester{err: errors.New("down")}
	d.open()
	id := d.do(access.RoleAdmin, "plan_create",
		`{"intent": "build an inn and export it to glb"}`)["plan"].(map[string]any)["plan_id"].(string)
	before := calls(d.do(access.RoleAdmin, "plan_get", `{"plan_id": "`+id+`"}`))
	d.do(access.RoleAdmin, "plan_execute", `{"plan_id": "`+id+`", "confirm": true}`)
	if after := calls(d.do(access.RoleAdmin, "plan_get", `{"plan_id": "`+id+`"}`)); after != before ||
		strings.Contains(after, "confirm") {
		t.Errorf("%s, then %s", before, after)
	}
}
