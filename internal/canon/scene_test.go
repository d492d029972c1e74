package canon_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/memory"
)

// scene is a world with actors, for tests that read as a story.
type scene struct {
	t     *testing.T
	canon *canon.Canon
	guard *access.Guard
	world access.WorldID
	now   time.Time
	ids   uint64
}

func newScene(t *testing.T) *scene { return newSceneOn(t, memory.New()) }

func newSceneOn(t *testing.T, store canon.Store) *scene {
	t.Helper()
	s := &scene{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s.canon = canon.New(canon.Config{Store: store, Now: func() time.Time { return s.now }, NewID: s.id,
		Ledgers: map[string][]string{"game": {"alignment"}, "proposals": {canon.AnySurface}}})
	s.guard = access.NewGuard(access.Config{Now: func() time.Time { return s.now }})
	w, err := s.canon.CreateWorld(t.Context(), s.as("operator").grant, canon.NewWorld{Slug: "main", Title: "Main"})
	if err != nil {
		t.Fatal(err)
	}
	s.world = w.ID
	return s
}

// id returns ascending ids that are the same in every run.
func (s *scene) id(canon.StreamID) uuid.UUID {
	s.ids++
	var u uuid.UUID
	for i := range 8 {
		u[15-i] = byte(s.ids >> (8 * i))
	}
	u[6], u[8] = 0x70, 0x80
	return u
}

// actor is a caller in a scene.
type actor struct {
	s     *scene
	grant access.Grant
}

// as returns an actor by role ("user", "gm", "admin", "operator"); any other argument is the name
// of a user.
func (s *scene) as(who string) actor {
	c := access.Caller{Subject: access.Subject(who)}
	role, ok := access.ParseRole(who)
	if !ok {
		role = access.RoleUser
	}
	c.EveryRole = role
	if who == "operator" {
		c.EveryRole, c.Operator = access.RoleAdmin, true
	}
	return s.admit(c, access.Request{Operation: "test", Effect: access.Write, World: s.world})
}

func (s *scene) admit(c access.Caller, r access.Request) actor {
	s.t.Helper()
	a, err := s.guard.Admit(context.Background(), c, r)
	if err != nil {
		s.t.Fatal(err)
	}
	return actor{s, a.Grant}
}

func (a actor) do(plan func(*canon.Plan) error) (canon.Receipt, error) {
	a.s.now = a.s.now.Add(time.Second)
	return a.s.canon.Update(a.s.t.Context(), a.grant, plan)
}

func (a actor) must(plan func(*canon.Plan) error) canon.Receipt {
	a.s.t.Helper()
	r, err := a.do(plan)
	if err != nil {
		a.s.t.Fatal(err)
	}
	return r
}

func (a actor) create(name, content string) {
	a.s.t.Helper()
	a.must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: name, Content: content})
		return err
	})
}

func (a actor) createAt(level access.Level, name, content string, subjects ...access.Subject) {
	a.s.t.Helper()
	label := access.NewLabel(level, subjects...)
	a.must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: name, Content: content, Label: &label})
		return err
	})
}

func (a actor) edit(name, content string) {
	a.s.t.Helper()
	a.must(func(p *canon.Plan) error {
		c, err := p.Card(name)
		if err == nil {
			_, err = p.Update(c, canon.Edit{Content: &content})
		}
		return err
	})
}

func (a actor) on(name string, f func(*canon.Plan, canon.Card) error) error {
	_, err := a.do(func(p *canon.Plan) error {
		c, err := p.Card(name)
		if err != nil {
			return err
		}
		return f(p, c)
	})
	return err
}

func (a actor) label(name string, level access.Level, subjects ...access.Subject) {
	a.s.t.Helper()
	err := a.on(name, func(p *canon.Plan, c canon.Card) error {
		_, err := p.SetLabel(c, access.NewLabel(level, subjects...))
		return err
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
}

func (a actor) read(f func(*canon.Snapshot) error) error {
	return a.s.canon.Read(a.s.t.Context(), a.grant, f)
}

// card reads a card and its content; ok is false if it is not found.
func (a actor) card(name string) (c canon.Card, content string, ok bool) {
	a.s.t.Helper()
	err := a.read(func(snap *canon.Snapshot) (err error) {
		if c, err = snap.Find(a.s.t.Context(), name); err != nil {
			return err
		}
		content, err = snap.Content(a.s.t.Context(), c)
		return err
	})
	if err != nil && !errors.Is(err, fault.NotFound) {
		a.s.t.Fatal(err)
	}
	return c, content, err == nil
}

func (a actor) wantContent(name, want string) {
	a.s.t.Helper()
	_, got, ok := a.card(name)
	if !ok || got != want {
		a.s.t.Errorf("%s reads %q: %q (found %t), want %q", a.grant.Caller().Subject, name, got, ok, want)
	}
}

func (a actor) wantAbsent(name string) {
	a.s.t.Helper()
	if c, _, ok := a.card(name); ok {
		a.s.t.Errorf("%s sees %q at %s", a.grant.Caller().Subject, c.Name, c.Label)
	}
}

// history lists the versions of a card that an actor sees as "number:content", latest first.
func (a actor) history(name string) (list []string) {
	a.s.t.Helper()
	err := a.read(func(snap *canon.Snapshot) error {
		c, err := snap.Find(a.s.t.Context(), name)
		if err != nil {
			return err
		}
		versions, _, err := snap.Versions(a.s.t.Context(), c.ID, canon.Page{Limit: 100})
		for _, v := range versions {
			body, err := snap.Body(a.s.t.Context(), v.Content)
			if err != nil {
				return err
			}
			list = append(list, fmt.Sprintf("%d:%s", snap.Number(c, v), body))
		}
		return err
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
	return list
}

// wantRebuilt checks that the tables follow from the stream.
func (s *scene) wantRebuilt() {
	s.t.Helper()
	got, err := s.canon.Rebuild(s.t.Context(), s.as("operator").grant, s.world, canon.CompareOnly)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(got.Different) > 0 {
		s.t.Errorf("tables differ from the stream: %v", got.Different)
	}
	if _, err := s.canon.Verify(s.t.Context(), s.as("operator").grant, nil); err != nil {
		s.t.Error(err)
	}
}
