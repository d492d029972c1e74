package op_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Values either fit the form, or give an error with the blank's name that quotes nothing.
func TestFormsAreRead(t *testing.T) {
	f := op.Form{Blanks: []op.Blank{{Name: "place", Options: []string{"Inn", ""}},
		{Name: "note", MaxLen: 4, Optional: true}}}
	for _, tc := range []struct {
		name    string
		content map[string]any
		place   string
		note    string
		bad     string // field of the error
	}{
		{"all", map[string]any{"place": "Inn", "note": "ålé\u202e!"}, "Inn", "", "answer.note"},
		{"cleaned", map[string]any{"place": "Inn", "note": " å\u202e "}, "Inn", "å", ""},
		{"the rest is passed over", map[string]any{"place": "Inn", "other": 3}, "Inn", "", ""},
		{"null is nothing", map[string]any{"place": "Inn", "note": nil}, "Inn", "", ""},
		{"nothing", nil, "", "", "answer.place"},
		{"an empty choice", map[string]any{"place": ""}, "", "", "answer.place"},
		{"another choice", map[string]any{"place": "MARK"}, "", "", "answer.place"},
		{"a number", map[string]any{"place": 1.0}, "", "", "answer.place"},
		{"a list", map[string]any{"place": "Inn", "note": []any{"MARK"}}, "", "", "answer.note"},
		{"too long", map[string]any{"place": "Inn", "note": "MARKS"}, "", "", "answer.note"},
	} {
		got, err := f.Read(tc.content)
		var known *fault.Error
		errors.As(err, &known)
		switch {
		case tc.bad == "":
			if err != nil || got["place"] != tc.place || got["note"] != tc.note || len(got) > 2 {
				t.Errorf("%s: %v, %v", tc.name, got, err)
			}
		case known == nil || known.Kind != fault.Invalid || known.Fields[0].Field != tc.bad ||
			strings.Contains(err.Error(), "MARK"):
			t.Errorf("%s: %v, %v", tc.name, got, err)
		}
	}
}

type oneAnswer struct{ op.Reaction }

func (a oneAnswer) Ask(_ context.Context, f op.Form) (op.Reaction, error) {
	if a.Outcome == op.Unasked {
		return a.Reaction, &op.Asking{Form: f}
	}
	return a.Reaction, nil
}
func (a oneAnswer) Asked(key string) bool { return a.Outcome != op.Unasked && key == "k" }

// A handler's question ends the call with the form, or is answered; if nobody can be asked, the
// handler does without.
func TestHandlersAsk(t *testing.T) {
	type out struct {
		Said  string `json:"said"`
		Asked bool   `json:"asked"`
	}
	ask := op.Define(op.Spec{Name: "ask", Title: "Ask", Doc: "Use it to ask.", Surfaces: []string{"s"},
		Effect: access.Write, MinRole: access.RoleUser, Interactive: true},
		func(ctx context.Context, c *op.Call, _ struct{}) (out, error) {
			r, err := c.Ask(ctx, op.Form{Key: "k", Message: "Well?"})
			return out{string(r.Outcome), c.Asked("k")}, err
		})
	l, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}),
		Surfaces: []op.Surface{{Name: "s", Title: "S", Doc: "s", Operations: []*op.Operation{ask}}}, Worlds: &twoWorlds{}})
	if err != nil {
		t.Fatal(err)
	}
	for want, asker := range map[string]op.Asker{
		`{"said":"","asked":false}`:        nil,
		`{"said":"declined","asked":true}`: oneAnswer{op.Reaction{Outcome: op.Declined}},
		"":                                 oneAnswer{},
	} {
		a, err := l.Invoke(t.Context(), as(access.RoleUser), op.Request{Operation: "ask", World: "a", Asker: asker})
		if err != nil || string(a.Output) != want || (a.Asks != nil) != (want == "") || a.Asks != nil &&
			a.Asks.Message != "Well?" {
			t.Errorf("%v: %+v, %v", asker, a, err)
		}
	}
}
