package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op/optest"
)

// scene is a world to import into.
type scene struct {
	t     testing.TB
	canon *canon.Canon
	guard *access.Guard
	world access.WorldID
	now   time.Time
	ids   optest.IDs
}

func newSceneOn(t testing.TB, store canon.Store) *scene {
	t.Helper()
	s := &scene{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	tick := func() time.Time { s.now = s.now.Add(time.Millisecond); return s.now }
	s.canon = canon.New(canon.Config{Store: store, Now: tick,
		NewID: func(canon.StreamID) uuid.UUID { return s.ids.Next() }})
	s.guard = access.NewGuard(access.Config{Now: tick})
	s.world = s.newWorld("main")
	return s
}

func (s *scene) newWorld(slug string) access.WorldID {
	s.t.Helper()
	w, err := s.canon.CreateWorld(s.t.Context(), s.as("operator"), canon.NewWorld{Slug: slug, Title: slug})
	if err != nil {
		s.t.Fatal(err)
	}
	return w.ID
}

// as returns a grant for a role ("user", "gm", "admin", "operator") or, for any other name, for a
// user of that name.
func (s *scene) as(who string) access.Grant {
	s.t.Helper()
	c := access.Caller{Subject: access.Subject(who)}
	role, ok := access.ParseRole(who)
	if !ok {
		role = access.RoleUser
	}
	c.EveryRole = role
	if who == "operator" {
		c.EveryRole, c.Operator = access.RoleAdmin, true
	}
	a, err := s.guard.Admit(context.Background(), c, access.Request{Operation: "test", Effect: access.Write,
		World: s.world})
	if err != nil {
		s.t.Fatal(err)
	}
	return a.Grant
}

// content reads a card as the given user or role. ok is false if the card is not visible to them.
func (s *scene) content(who, name string) (c canon.Card, text string, ok bool) {
	s.t.Helper()
	err := s.canon.Read(s.t.Context(), s.as(who), func(l *canon.Snapshot) (err error) {
		if c, ok, err = l.Exists(s.t.Context(), name); err == nil && ok {
			text, err = l.Content(s.t.Context(), c)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return c, text, ok
}

// see returns the type, own level and text of a card as the given user sees it, or "-" if it is not
// visible.
func (s *scene) see(who, name string) string {
	s.t.Helper()
	c, text, ok := s.content(who, name)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%s %s %s", c.Type, c.Label.Level, text)
}

func (s *scene) wantSees(want map[string]string) {
	s.t.Helper()
	for _, k := range sortedKeys(want) {
		who, name, _ := strings.Cut(k, " ")
		if got := s.see(who, name); got != want[k] {
			s.t.Errorf("%s sees %q:\n got %q\nwant %q", who, name, got, want[k])
		}
	}
}

func (s *scene) edit(name string, f func(*canon.Plan, canon.Card) error) {
	s.t.Helper()
	_, err := s.canon.Update(s.t.Context(), s.as("admin"), func(p *canon.Plan) error {
		c, err := p.Card(name)
		if err != nil {
			return err
		}
		return f(p, c)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) versions(who, name string) (texts []string) {
	s.t.Helper()
	ctx := s.t.Context()
	err := s.canon.Read(ctx, s.as(who), func(l *canon.Snapshot) error {
		c, err := l.Find(ctx, name)
		if err != nil {
			return err
		}
		list, _, err := l.Versions(ctx, c.ID, canon.Page{Limit: 100})
		for _, v := range list {
			text, err := l.Body(ctx, v.Content)
			if err != nil {
				return err
			}
			texts = append(texts, text)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return texts
}

func (s *scene) create(n canon.NewCard) {
	s.t.Helper()
	if _, err := s.canon.Update(s.t.Context(), s.as("admin"),
		func(p *canon.Plan) error { _, err := p.Create(n); return err }); err != nil {
		s.t.Fatal(err)
	}
}

// listing describes a world in lines: everything except authors and times of changes.
func (s *scene) listing(who string) []string {
	s.t.Helper()
	var lines []string
	add := func(kind string, v any) {
		b, err := json.Marshal(v)
		if err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, kind+" "+string(b))
	}
	ctx := s.t.Context()
	err := s.canon.Read(ctx, s.as(who), func(l *canon.Snapshot) error {
		for c, err := range l.AllCards(ctx, canon.Filter{}) {
			if err != nil {
				return err
			}
			text, err := l.Content(ctx, c)
			if err != nil {
				return err
			}
			add("card", []any{c.ID, c.Parent, c.Name, c.Codename, c.Type, c.Fields, c.Own, c.Label, text})
			layers, err := l.Layers(ctx, canon.LayerQuery{Card: c.ID})
			if err != nil {
				return err
			}
			for _, y := range layers {
				add("layer", []any{y.ID, y.Card, y.Kind, y.Text, y.FromTick, y.ToTick, y.Label})
			}
		}
		links, _, err := l.Links(ctx, canon.LinkQuery{Page: canon.Page{Limit: 100_000}})
		for _, k := range links {
			add("link", []any{k.ID, k.Kind, k.From, k.To, k.Attrs, k.Label})
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}
