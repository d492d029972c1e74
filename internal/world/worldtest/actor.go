package worldtest

import (
	"encoding/json"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
	"loregate/internal/op"
	"loregate/internal/op/optest"
)

// Actor is a caller of operations.
type Actor struct {
	Scene  *Scene
	Caller access.Caller
}

// As returns an actor with the named role, or a user of that name.
func (s *Scene) As(who string) Actor {
	role, ok := access.ParseRole(who)
	if !ok {
		role = access.RoleUser
	}
	return Actor{s, access.Caller{Subject: access.Subject(who), Roles: map[access.WorldID]access.Role{s.ID: role}}}
}

// Invoke makes a call.
func (a Actor) Invoke(r op.Request) (*op.Answer, error) {
	if r.Transport == "" {
		r.Transport = "rest"
	}
	return a.Scene.Ops.Invoke(a.Scene.T.Context(), a.Caller, r)
}

// Call makes a call that must succeed, and checks its output against the schema.
func (a Actor) Call(name, input string) Answer {
	a.Scene.T.Helper()
	got, err := a.Invoke(op.Request{Operation: name, Input: json.RawMessage(input)})
	if err != nil {
		a.Scene.T.Fatalf("%s %s as %s: %v", name, input, a.Caller.Subject, err)
	}
	return a.checked(name, input, got)
}

func (a Actor) checked(name, input string, got *op.Answer) Answer {
	a.Scene.T.Helper()
	return Answer{optest.Check(a.Scene.T, a.Scene.Ops, name, input, got)}
}

// Fails makes a call that must fail with a code, and returns the error as shown to the caller.
func (a Actor) Fails(code, name, input string) string {
	a.Scene.T.Helper()
	got, err := a.Invoke(op.Request{Operation: name, Input: json.RawMessage(input)})
	if err == nil {
		a.Scene.T.Fatalf("%s %s as %s: want %s, got %s", name, input, a.Caller.Subject, code, got.Output)
	}
	shown, _ := json.Marshal(fault.Show(err, "c"))
	if fault.KindOf(err).Code() != code {
		a.Scene.T.Fatalf("%s %s as %s: want %s, got %s (%v)", name, input, a.Caller.Subject, code, shown, err)
	}
	return string(shown)
}

// Answer is the answer to a call.
type Answer struct{ optest.Answer }

// At returns the value at a path of the answer, or nil.
func (a Answer) At(path string) any {
	a.T.Helper()
	v, _ := a.Answer.At(path)
	return v
}

// Is checks pairs of a path and its value; values are strings, numbers, bools and nil.
func (a Answer) Is(pairs ...any) {
	a.T.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		want := pairs[i+1]
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		if got := a.At(pairs[i].(string)); got != want {
			a.T.Errorf("%s is %v, want %v\n%s", pairs[i], got, want, a.Raw)
		}
	}
}

// Grant returns a grant that an actor got for another call.
func (s *Scene) Grant(who string) access.Grant {
	s.T.Helper()
	a, err := access.NewGuard(access.Config{}).Admit(s.T.Context(), s.As(who).Caller,
		access.Request{Operation: "another", Effect: access.Write, World: s.ID, MinRole: access.RoleUser})
	if err != nil {
		s.T.Fatal(err)
	}
	return a.Grant
}

// Resource returns a request for a resource of the world.
func Resource(uri string) op.ResourceRequest {
	return op.ResourceRequest{Ask: op.Ask{World: "main"}, URI: uri}
}

// Uncited removes the reference from an answer, since it differs in each answer.
func Uncited(raw string) string { return refMember.ReplaceAllString(raw, "") }

// Measured replaces the reference in an answer by its length.
func Measured(raw string) string {
	return refMember.ReplaceAllStringFunc(raw, func(m string) string { return fmt.Sprint(len(m)) })
}

var refMember = lazyregexp.New(`"contextRef":"([^"]*)",|,"contextRef":"([^"]*)"`)
