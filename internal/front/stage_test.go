package front_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/archive"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/front"
	"loregate/internal/op"
	"loregate/internal/store/memory"
)

// stage is the default set in front of a wiki with a few cards.
type stage struct {
	t       testing.TB
	ops     *op.Local
	world   access.WorldID
	records *records
}

// records keeps the access records of calls.
type records struct {
	mu  sync.Mutex
	all []access.Record // guarded by mu
}

func (r *records) Reserve() error { return nil }

func (r *records) Record(one access.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
}

// operations returns the operations recorded since the last call, with their outcomes.
func (r *records) operations() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.all {
		list = append(list, one.Operation+" "+one.Outcome)
	}
	r.all = nil
	return list
}

func open(t testing.TB) *stage {
	s := &stage{t: t, records: &records{}}
	guard := access.NewGuard(access.Config{Recorder: s.records})
	admitted, err := guard.Admit(context.Background(), operator, access.Request{Effect: access.Write})
	if err != nil {
		t.Fatal(err)
	}
	c := canon.New(canon.Config{Store: memory.New()})
	w, err := c.CreateWorld(context.Background(), admitted.Grant, canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	s.world = w.ID
	wiki, err := archive.New(archive.Config{Canon: c})
	if err != nil {
		t.Fatal(err)
	}
	f := front.New(front.Config{Random: func(b []byte) { clear(b) }})
	s.ops, err = op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{wiki, f.Surface()},
		Worlds: soleWorld(w.ID)})
	if err != nil {
		t.Fatal(err)
	}
	f.Connect(s.ops)
	for _, input := range []string{`{"name": "Quay", "markdown_content": "Wet stones. See [[Mill]]."}`, `{"name": "Mill"}`,
		`{"name": "Quay+sign"}`} {
		if _, err := s.call(operator, "create_card", input); err != nil {
			t.Fatal(err)
		}
	}
	s.records.operations()
	return s
}

// soleWorld resolves the slug and the id of one world.
type soleWorld access.WorldID

func (w soleWorld) Resolve(_ context.Context, _ access.Caller, name string) (access.WorldID, error) {
	if id := access.WorldID(w); name == "main" || name == id.String() {
		return id, nil
	}
	return access.WorldID{}, fault.New(fault.NotFound, "no such world")
}

func (w soleWorld) Names(context.Context, access.Caller) ([]string, error) {
	return []string{"main"}, nil
}

var operator = access.Caller{Subject: "keeper", Actor: access.Person, EveryRole: access.RoleAdmin, Operator: true}

// with returns a player's caller in the world, changed by f.
func (s *stage) with(role access.Role, f func(*access.Caller)) access.Caller {
	c := access.Caller{Subject: "ann", Key: "k", Actor: access.AI, Roles: map[access.WorldID]access.Role{s.world: role}}
	if f != nil {
		f(&c)
	}
	return c
}

func (s *stage) call(c access.Caller, operation, input string) (*op.Answer, error) {
	return s.ops.Invoke(context.Background(), c, op.Request{Operation: operation, Input: []byte(input), Transport: "mcp"})
}

// ask calls a tool and returns the members of its output.
func (s *stage) ask(c access.Caller, operation, input string) map[string]any {
	s.t.Helper()
	a, err := s.call(c, operation, input)
	if err != nil {
		s.t.Fatalf("%s %s: %v", operation, input, err)
	}
	var out map[string]any
	if err := json.Unmarshal(a.Output, &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// refused calls a tool that must answer with an error of a kind that holds a text.
func (s *stage) refused(c access.Caller, operation, input string, kind fault.Kind, text string) {
	s.t.Helper()
	_, err := s.call(c, operation, input)
	if err == nil || fault.KindOf(err) != kind || !strings.Contains(err.Error(), text) {
		s.t.Errorf("%s %s: %v, want %s with %q", operation, input, err, kind.Code(), text)
	}
}
