package judgetest

import (
	"testing"

	"loregate/internal/world/command"
)

func TestComparisonOfReadings(t *testing.T) {
	take := command.Intent{Verb: command.Take, DirectObject: "3 coins"}
	talk := command.Intent{Verb: command.Talk, Targets: []string{"old man"}}
	north := command.Intent{Verb: command.Move, Direction: "north"}
	asks := []command.Ambiguity{{Kind: "object"}}
	for _, row := range []struct {
		name string
		c    commandCase
		got  command.Parsed
		want bool
	}{
		{"number and article do not matter", commandCase{Want: [][]wantedAct{{{Verb: "take", Object: "the three coins"}}}},
			command.Parsed{Intents: []command.Intent{take}}, true},
		{"another object", commandCase{Want: [][]wantedAct{{{Verb: "take", Object: "coins"}}}},
			command.Parsed{Intents: []command.Intent{take}}, false},
		{"a name in either place", commandCase{Want: [][]wantedAct{{{Verb: "talk", Names: []string{"Old Man"}}}}},
			command.Parsed{Intents: []command.Intent{talk}}, true},
		{"a name too many", commandCase{Want: [][]wantedAct{{{Verb: "talk"}}}},
			command.Parsed{Intents: []command.Intent{talk}}, false},
		{"alternatives of verbs", commandCase{Want: [][]wantedAct{{{Verb: "use|take", Object: "*"}}}},
			command.Parsed{Intents: []command.Intent{take}}, true},
		{"a second reading", commandCase{Want: [][]wantedAct{{{Verb: "flee"}}, {{Verb: "move", Direction: "north?"}}}},
			command.Parsed{Intents: []command.Intent{north}}, true},
		{"a direction that was not typed", commandCase{Want: [][]wantedAct{{{Verb: "move"}}}},
			command.Parsed{Intents: []command.Intent{north}}, false},
		{"one act of two", commandCase{Want: [][]wantedAct{{{Verb: "move", Direction: "north"}, {Verb: "look"}}}},
			command.Parsed{Intents: []command.Intent{north}}, false},
		{"a needless question", commandCase{Want: [][]wantedAct{{{Verb: "move", Direction: "north"}}}},
			command.Parsed{Intents: []command.Intent{north}, NeedsClarification: true, Ambiguities: asks}, false},
		{"a question that may be asked", commandCase{Ask: "may", Want: [][]wantedAct{{}}},
			command.Parsed{NeedsClarification: true, Ambiguities: asks}, true},
		{"an act in place of nothing", commandCase{Ask: "may", Want: [][]wantedAct{{}}},
			command.Parsed{Intents: []command.Intent{north}}, false},
		{"the right kind of question", commandCase{Ask: "must", Asks: []string{"object"}},
			command.Parsed{NeedsClarification: true, Ambiguities: asks}, true},
		{"another kind of question", commandCase{Ask: "must", Asks: []string{"verb"}},
			command.Parsed{NeedsClarification: true, Ambiguities: asks}, false},
		{"a question that loses the act", commandCase{Ask: "must", Asks: []string{"object"},
			Want: [][]wantedAct{{{Verb: "take"}}}},
			command.Parsed{NeedsClarification: true, Ambiguities: asks}, false},
	} {
		if got := row.c.right(row.got, wantedAct.fits); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}

func TestComparisonOfPlans(t *testing.T) {
	cube := func(with map[string]any) planned {
		var p planned
		p.status, p.Valid = 200, true
		p.Plan.Calls = make([]plannedCall, 1)
		p.Plan.Calls[0].Tool, p.Plan.Calls[0].With = "add_object", with
		p.body = map[string]any{"plan": map[string]any{"intent": "a teapot", "calls": []any{map[string]any{"with": with}}}}
		return p
	}
	want := [][]wantedCall{{{Tool: "add_object", With: map[string]any{"location": []any{1.0, 2.0, 3.0}}}}}
	at := map[string]any{"location": []any{1.0, 2.0, 3.001}}
	for _, row := range []struct {
		name string
		c    plannerCase
		got  planned
		want bool
	}{
		{"the plan", plannerCase{Outcomes: []string{outcomePlan}, Plans: want}, cube(at), true},
		{"another place", plannerCase{Outcomes: []string{outcomePlan}, Plans: want},
			cube(map[string]any{"location": []any{1.0, 2.0, 4.0}}), false},
		{"replacing unasked", plannerCase{Outcomes: []string{outcomePlan}, Plans: want},
			cube(map[string]any{"location": []any{1.0, 2.0, 3.0}, "replace": true}), false},
		{"not a dry run", plannerCase{Outcomes: []string{outcomePlan}, Plans: want, DryRun: true}, cube(at), false},
		{"a dry run", plannerCase{Outcomes: []string{outcomePlan}, Plans: want, DryRun: true},
			cube(map[string]any{"location": []any{1.0, 2.0, 3.0}, "dry_run": true}), true},
		{"the request itself says nothing", plannerCase{Outcomes: []string{outcomePlan}, Plans: want,
			Said: []string{"teapot"}},
			cube(at), false},
		{"a plan in place of a question", plannerCase{Outcomes: []string{outcomeQuestion}}, cube(at), false},
		{"a question", plannerCase{Outcomes: []string{outcomeQuestion}}, planned{status: 200,
			Questions: []string{"Where?"}}, true},
		{"a refusal", plannerCase{Outcomes: []string{outcomeRefusal}}, planned{status: 400}, true},
	} {
		if got := row.c.right(row.got); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}
