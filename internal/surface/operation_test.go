package surface_test

import (
	"context"
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/store/memory"
	"loregate/internal/surface"
)

// stage is a surface on an empty world.
type stage struct {
	t     *testing.T
	kit   surface.Kit
	world access.WorldID
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, kit: surface.Kit{Name: "wiki", Canon: canon.New(canon.Config{Store: memory.New()})}}
	w, err := s.kit.Canon.CreateWorld(t.Context(), s.call("").Grant, canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	s.world = w.ID
	return s
}

// call returns an operator's call with an idempotency key.
func (s *stage) call(key string) *op.Call {
	s.t.Helper()
	caller := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true}
	a, err := access.NewGuard(access.Config{}).Admit(s.t.Context(), caller,
		access.Request{Operation: "test", Effect: access.Write, World: s.world, IdempotencyKey: key})
	if err != nil {
		s.t.Fatal(err)
	}
	return &op.Call{Grant: a.Grant}
}

// create returns a change that creates a card and answers with its name.
func (s *stage) create(name string) surface.Change[string] {
	return surface.Change[string]{
		Plan: func(p *canon.Plan) error {
			c, err := p.Create(canon.NewCard{Name: name})
			p.Target(c.ID)
			return err
		},
		Reply: func(l *canon.Snapshot, r canon.Receipt) (string, error) {
			c, ok, err := surface.TargetCard(s.t.Context(), l, r, 0)
			if err == nil && !ok {
				err = fault.New(fault.NotFound, "gone")
			}
			return c.Name, err
		},
	}
}

func (s *stage) has(name string) bool {
	s.t.Helper()
	ok, err := surface.Read(s.t.Context(), s.kit, s.call(""), func(l *canon.Snapshot) (bool, error) {
		_, ok, err := l.Exists(s.t.Context(), name)
		return ok, err
	})
	if err != nil {
		s.t.Error(err)
	}
	return ok
}

func TestARepeatedCommitIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	first, again := s.call("k1"), s.call("k1")
	for _, c := range []*op.Call{first, again} {
		name, err := surface.Commit(t.Context(), s.kit, c, s.create("Quay"))
		if err != nil || name != "Quay" {
			t.Errorf("%q, %v", name, err)
		}
	}
	if first.Reply.Replayed || !again.Reply.Replayed {
		t.Error("only the second call is a repeated one")
	}
}

func TestADryRunAnswersWithTheCardAsItWouldBe(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	c := s.call("")
	ch := s.create("Quay")
	ch.Grant = c.Grant.DryRun()
	if name, err := surface.Commit(t.Context(), s.kit, c, ch); err != nil || name != "Quay" {
		t.Errorf("%q, %v", name, err)
	}
	if s.has("Quay") {
		t.Error("a dry run created a card")
	}
}

func TestACheckRunsBeforePlanAndReply(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	refuse := errors.New("not for you")
	ch := s.create("Quay")
	ch.Check = func(*canon.Snapshot) error { return refuse }
	if _, err := surface.Commit(t.Context(), s.kit, s.call(""), ch); !errors.Is(err, refuse) || s.has("Quay") {
		t.Errorf("a refused change: %v", err)
	}
	checks := 0
	ch.Check = func(*canon.Snapshot) error {
		if checks++; checks == 2 {
			return refuse
		}
		return nil
	}
	if _, err := surface.Commit(t.Context(), s.kit, s.call(""), ch); !errors.Is(err, refuse) || checks != 2 {
		t.Errorf("%d checks, %v", checks, err)
	}
}

func TestDefineRead(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	type none struct{}
	o := surface.DefineRead(s.kit, op.Spec{Name: "look", Title: "Look", Doc: "Look.", MinRole: access.RoleGM},
		func(_ context.Context, l *canon.Snapshot, _ *op.Call, _ none) (struct {
			Slug string `json:"slug"`
		}, error) {
			return struct {
				Slug string `json:"slug"`
			}{l.World().Slug}, nil
		})
	if o.Effect != access.Read || o.MinRole != access.RoleGM || len(o.Surfaces) != 1 || o.Surfaces[0] != "wiki" {
		t.Errorf("%+v", o.Spec)
	}
	if out, err := o.Run(t.Context(), s.call(""), []byte(`{}`)); err != nil || string(out) != `{"slug":"main"}` {
		t.Errorf("%s, %v", out, err)
	}
}
