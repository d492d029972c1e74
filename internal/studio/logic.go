package studio

import (
	"strconv"
	"strings"

	"loregate/internal/lazyregexp"
)

var (
	sentenceForm = lazyregexp.New(`[^.;\n]+`)
	timerForm    = lazyregexp.New(`(?i)every ([0-9]+(?:\.[0-9]+)?) ?(?:s|sec|seconds?)\b`)
	doForm       = lazyregexp.New(`(?i)\b(show|hide|toggle|say|rotate|turn|move|raise|lower)\b\s*(.*)$`)
	byForm       = lazyregexp.New(`(?i)\bby (-?[0-9]+(?:\.[0-9]+)?)\b`)
	nodeForm     = lazyregexp.New(`^[A-Za-z0-9 _.-]{1,60}$`)
)

// Rules parses sentences of the form "when it is entered, say Mind the step". The error for a
// sentence that is not understood has its number and the allowed forms.
func Rules(text string) ([]LogicNode, error) {
	const can = "write: when it starts, is entered or is left, or every N seconds, then show, hide or toggle NODE, say WORDS, rotate NODE by DEGREES, move NODE by METRES"
	var rules []LogicNode
	for i, s := range sentenceForm.FindAllString(text, 41) {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		r, ok := parseRule(s)
		if !ok {
			return nil, Fail(Validation, "logic_description: sentence %d is not understood; %s", i+1, can)
		}
		rules = append(rules, r)
	}
	switch {
	case len(rules) == 0:
		return nil, Fail(Validation, "logic_description: give sentences or a graph; %s", can)
	case len(rules) > 40:
		return nil, Fail(OverBudget, "logic_description: at most 40 sentences")
	}
	return rules, nil
}

func parseRule(s string) (r LogicNode, ok bool) {
	m := doForm.FindStringSubmatchIndex(s)
	if m == nil {
		return r, false
	}
	head, verb, rest := strings.ToLower(s[:m[2]]), strings.ToLower(s[m[2]:m[3]]), strings.TrimSpace(s[m[4]:m[5]])
	switch t := timerForm.FindStringSubmatch(head); {
	case t != nil:
		r.On = "timer"
		r.Every, _ = strconv.ParseFloat(t[1], 64) // the pattern matches only numbers
	case strings.Contains(head, "enter"):
		r.On = "entered"
	case strings.Contains(head, "left") || strings.Contains(head, "leave") || strings.Contains(head, "exit"):
		r.On = "left"
	default:
		r.On = "ready"
	}
	sign := 1.0
	switch verb {
	case "turn":
		verb = "rotate"
	case "raise":
		verb = "move"
	case "lower":
		verb, sign = "move", -1
	}
	r.Do = verb
	if verb == "say" {
		r.Text = strings.Trim(rest, `"'“”`)
		return r, r.Text != "" && len(r.Text) <= 200
	}
	if by := byForm.FindStringSubmatchIndex(rest); by != nil {
		r.By, _ = strconv.ParseFloat(rest[by[2]:by[3]], 64)
		rest = strings.TrimSpace(rest[:by[0]])
	} else if verb == "rotate" {
		r.By = 90
	} else if verb == "move" {
		r.By = 1
	}
	r.By *= sign
	r.Target = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(rest, "the "), "it"))
	return r, r.Target == "" || nodeForm.MatchString(r.Target)
}
