package op_test

import (
	"context"
	"encoding/json"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// answering is an Asker who answers every question alike.
type answering struct{ answer string }

func (a answering) Ask(_ context.Context, f op.Form) (op.Reaction, error) {
	if a.answer == "" {
		return op.Reaction{Outcome: op.Declined}, nil
	}
	values, err := f.Read(map[string]any{"answer": a.answer})
	return op.Reaction{Outcome: op.Answered, Values: values}, err
}

func (answering) Asked(string) bool { return false }

// TestUnsureMarksAreAsked runs a handler that refuses a text without an answer, for callers who can be asked and
// others.
func TestUnsureMarksAreAsked(t *testing.T) {
	type in struct {
		Text string `json:"text" jsonschema:"The text."`
		op.Answers
	}
	type out struct {
		Answer int `json:"answer"`
	}
	write := op.Define(op.Spec{Name: "write_text", Title: "Write", Doc: "Use it to write.", Surfaces: []string{"s"},
		Effect: access.Write, MinRole: access.RoleUser},
		func(_ context.Context, c *op.Call, _ in) (out, error) {
			answer := c.Grant.Request().Unsure
			if answer == access.UnsureRefused {
				return out{}, fault.BrokenRule("text", "is it secret").With("unsure_marks", []string{"x"})
			}
			return out{int(answer)}, nil
		})
	l, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}),
		Surfaces: []op.Surface{{Name: "s", Title: "S", Doc: "s", Operations: []*op.Operation{write}}}, Worlds: &twoWorlds{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ input, answer, want string }{
		{`{"text": "a", "as_written": true}`, "", `{"answer":1}`},
		{`{"text": "a", "hide_unsure": true}`, "", `{"answer":2}`},
		{`{"text": "a"}`, "text for everybody", `{"answer":1}`},
		{`{"text": "a"}`, "hidden from players", `{"answer":2}`},
		{`{"text": "a"}`, "", ""},
		{`{"text": "a", "as_written": true, "hide_unsure": true}`, "", ""},
	} {
		a, err := l.Invoke(t.Context(), as(access.RoleUser), op.Request{Operation: "write_text", World: "a",
			Input: json.RawMessage(tc.input), Transport: "mcp", Asker: answering{tc.answer}})
		if tc.want == "" {
			if kind := fault.KindOf(err); kind != fault.Rule && kind != fault.Invalid {
				t.Errorf("%s: %v", tc.input, err)
			}
			continue
		}
		if err != nil || string(a.Output) != tc.want {
			t.Errorf("%s, answered %q: %+v, %v; want %s", tc.input, tc.answer, a, err, tc.want)
		}
	}
}
