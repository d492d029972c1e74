package optest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"loregate/internal/op"
)

// Answer is an output to check. Paths look like "cards.0.name"; "cards.#" is a length.
type Answer struct {
	T     testing.TB
	Raw   string
	Reply op.Reply
}

// Check checks an answer against its operation's schema.
func Check(t testing.TB, ops *op.Local, name, input string, got *op.Answer) Answer {
	t.Helper()
	o, _ := ops.Find(name)
	if err := CheckOutput(o, got.Output); err != nil {
		t.Errorf("%s %s: output departs from its schema: %v\n%s", name, input, err, got.Output)
	}
	return Answer{t, string(got.Output), got.Reply}
}

// CheckOutput returns an error if the output does not match the schema shown to callers.
// The engine does not check it: it trusts its handlers.
func CheckOutput(o *op.Operation, output []byte) error {
	r, err := o.OutputSchema().CloneSchemas().Resolve(nil)
	if err != nil {
		return fmt.Errorf("output schema of %s: %w", o.Name, err)
	}
	var v any
	if err := json.Unmarshal(output, &v); err != nil {
		return fmt.Errorf("output of %s: %w", o.Name, err)
	}
	return r.Validate(v)
}

// At returns the value at a path, and whether it exists; it may be null.
func (a Answer) At(path string) (v any, there bool) {
	a.T.Helper()
	if err := json.Unmarshal([]byte(a.Raw), &v); err != nil {
		a.T.Fatal(err)
	}
	for step := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			if v, there = at[step]; !there {
				return nil, false
			}
		case []any:
			if step == "#" {
				v, there = float64(len(at)), true
				continue
			}
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(at) {
				return nil, false
			}
			v, there = at[n], true
		default:
			return nil, false
		}
	}
	return v, there
}

// Want checks the value at a path: a string, number or bool, or nil for null.
func (a Answer) Want(path string, want any) Answer {
	a.T.Helper()
	got, there := a.At(path)
	if n, isInt := want.(int); isInt {
		want = float64(n)
	}
	if !there || got != want {
		a.T.Errorf("%s is %v (there: %t), want %v, in %s", path, got, there, want, a.Raw)
	}
	return a
}

// WantNo checks that no value exists at the paths.
func (a Answer) WantNo(paths ...string) Answer {
	a.T.Helper()
	for _, path := range paths {
		if v, there := a.At(path); there {
			a.T.Errorf("%s is there: %v, in %s", path, v, a.Raw)
		}
	}
	return a
}

// Each returns the texts of a member in a list of objects.
func (a Answer) Each(list, member string) []string {
	a.T.Helper()
	v, _ := a.At(list)
	rows, ok := v.([]any)
	if !ok {
		a.T.Fatalf("%s is no list in %s", list, a.Raw)
	}
	texts := []string{}
	for _, r := range rows {
		text, _ := r.(map[string]any)[member].(string)
		texts = append(texts, text)
	}
	return texts
}

// WantEach checks the texts of a member in a list of objects, in order, joined by ", ".
func (a Answer) WantEach(list, member, want string) Answer {
	a.T.Helper()
	if got := strings.Join(a.Each(list, member), ", "); got != want {
		a.T.Errorf("%s are %q, want %q", list, got, want)
	}
	return a
}

// WantNames checks the names of a list, in order, joined by ", ".
func (a Answer) WantNames(list, want string) Answer {
	a.T.Helper()
	return a.WantEach(list, "name", want)
}

// Text returns the text at a path.
func (a Answer) Text(path string) string {
	a.T.Helper()
	v, _ := a.At(path)
	s, ok := v.(string)
	if !ok {
		a.T.Fatalf("%s is no text in %s", path, a.Raw)
	}
	return s
}

// Has checks that the output contains each part.
func (a Answer) Has(parts ...string) Answer {
	a.T.Helper()
	for _, p := range parts {
		if !strings.Contains(a.Raw, p) {
			a.T.Errorf("there is no %q in %s", p, a.Raw)
		}
	}
	return a
}

// Lacks checks that the output contains none of the parts, ignoring case.
func (a Answer) Lacks(parts ...string) Answer {
	a.T.Helper()
	for _, p := range parts {
		if strings.Contains(strings.ToLower(a.Raw), strings.ToLower(p)) {
			a.T.Errorf("there is %q in %s", p, a.Raw)
		}
	}
	return a
}
