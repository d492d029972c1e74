package canon_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// dumpWorld returns the cards, links and layers of a world as text.
func (s *scene) dumpWorld(w access.WorldID) string {
	s.t.Helper()
	var lines []string
	err := s.canon.Read(s.t.Context(), s.in(w).grant, func(snap *canon.Snapshot) error {
		ctx := s.t.Context()
		cards, _, err := snap.Cards(ctx, canon.Filter{}, canon.Page{Limit: 1000})
		if err != nil {
			return err
		}
		for _, c := range cards {
			text, err := snap.Content(ctx, c)
			if err != nil {
				return err
			}
			lines = append(lines, fmt.Sprintf("%s %s %s %s %q %s %s", c.ID, c.Name, c.Type, c.Label, text, c.Fields, c.Parent))
			layers, err := snap.Layers(ctx, canon.LayerQuery{Card: c.ID})
			if err != nil {
				return err
			}
			for _, y := range layers {
				lines = append(lines, fmt.Sprint(y.ID, y.Card, y.Text))
			}
		}
		links, _, err := snap.Links(ctx, canon.LinkQuery{Page: canon.Page{Limit: 1000}})
		for _, x := range links {
			lines = append(lines, fmt.Sprint(x.ID, x.Kind, x.From, x.To, string(x.Attrs)))
		}
		lines = append(lines, fmt.Sprintf("%s %+v", snap.World().Title, snap.World().Settings))
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// in returns the operator as an actor in a world.
func (s *scene) in(w access.WorldID) actor {
	c := access.Caller{Subject: "operator", EveryRole: access.RoleAdmin, Operator: true}
	return s.admit(c, access.Request{Operation: "play", Effect: access.Write, World: w})
}

func (s *scene) reset(w access.WorldID) canon.Receipt {
	s.t.Helper()
	r, err := s.canon.Reset(s.t.Context(), s.in(w).grant, w)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func TestReset(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	for _, name := range []string{"Town", "Town+Hall", "Town+Hall+notes", "Moor", "Hero", "Town+GM"} {
		gm.create(name, "of "+name)
	}
	town, _, _ := gm.card("Town")
	hero, _, _ := gm.card("Hero")
	at := canon.LinkIDOf("at")
	gm.must(func(p *canon.Plan) error {
		if _, err := p.Link(canon.Link{ID: at, Kind: "at", From: hero.ID, To: town.ID,
			Attrs: []byte(`{"clock":1}`)}); err != nil {
			return err
		}
		_, err := p.Layer(canon.Layer{Card: town.ID, Kind: "base", Text: "quiet"})
		return err
	})
	fork, err := s.canon.Fork(t.Context(), s.as("operator").grant, s.world, canon.NewWorld{Slug: "fork"})
	if err != nil {
		t.Fatal(err)
	}
	began := s.dumpWorld(fork.ID)
	play := s.in(fork.ID)
	steps := map[string]func(p *canon.Plan) error{
		"edit": func(p *canon.Plan) error {
			return edited(p, "Hero", canon.Edit{Content: text("changed"), Fields: []byte(`{"a":1}`)})
		},
		"create": func(p *canon.Plan) error { _, err := p.Create(canon.NewCard{Name: "Town+Hall+New+Deep"}); return err },
		"swap names": func(p *canon.Plan) error {
			return errors.Join(renamed(p, "Hero", "Aside"), renamed(p, "Moor", "Hero"), renamed(p, "Aside", "Moor"))
		},
		"move below something new": func(p *canon.Plan) error {
			if _, err := p.Create(canon.NewCard{Name: "Cellar"}); err != nil {
				return err
			}
			return errors.Join(renamed(p, "Town", "Cellar+Town"), renamed(p, "Hero", "Cellar+Town+Hero"))
		},
		"trash what was there": func(p *canon.Plan) error { return trashed(p, "Town") },
		"take its name": func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: "Town+Hall", Content: "another"})
			return err
		},
		"trash with company": func(p *canon.Plan) error {
			if _, err := p.Create(canon.NewCard{Name: "Town+Guest"}); err != nil {
				return err
			}
			return errors.Join(renamed(p, "Moor", "Town+Guest+Moor"), renamed(p, "Hero", "Town+Hero"))
		},
		"trash with later company": func(p *canon.Plan) error {
			if _, err := p.Create(canon.NewCard{Name: "Hero+Guest"}); err != nil {
				return err
			}
			return errors.Join(renamed(p, "Moor", "Hero+Guest+Moor"), renamed(p, "Town", "Hero+Town"))
		},
		"then trash that": func(p *canon.Plan) error { return trashed(p, "Hero") },
		"then trash it":   func(p *canon.Plan) error { return trashed(p, "Town") },
		"relabel": func(p *canon.Plan) error {
			c, err := p.Card("Moor")
			_, lerr := p.SetLabel(c, access.NewLabel(access.LevelGM))
			return errors.Join(err, lerr)
		},
		"walk": func(p *canon.Plan) error {
			moor, err := p.Card("Moor")
			if err != nil {
				return err
			}
			hero, err := p.Card("Hero")
			if err != nil {
				return err
			}
			if _, err = p.Link(canon.Link{ID: at, Kind: "at", From: hero.ID, To: moor.ID,
				Attrs: []byte(`{"clock":9}`)}); err != nil {
				return err
			}
			_, err = p.Link(canon.Link{Kind: "exit", From: moor.ID, To: moor.ID})
			return err
		},
		"rain": func(p *canon.Plan) error {
			c, err := p.Card("Town")
			if err != nil {
				return err
			}
			_, err = p.Layer(canon.Layer{Card: c.ID, Kind: "weather", Text: "rain"})
			return err
		},
		"configure": func(p *canon.Plan) error { return p.Configure("Played", canon.Settings{GMParts: []string{"notes"}}) },
	}
	for _, order := range [][]string{
		{"edit"}, {"create"}, {"swap names"}, {"move below something new"}, {"trash what was there"},
		{"trash what was there", "take its name"},
		{"trash with company", "then trash it"}, {"trash with later company", "then trash that"}, {"relabel"}, {"walk"},
		{"rain"}, {"configure"},
		{"walk", "rain", "create", "move below something new", "configure"},
		{"rain", "walk", "edit", "trash with company", "then trash it"},
		{"walk", "swap names", "trash what was there", "take its name", "relabel"},
	} {
		t.Run(strings.Join(order, ", "), func(t *testing.T) {
			for _, step := range order {
				if _, err := play.do(steps[step]); err != nil {
					t.Fatalf("%s: %v", step, err)
				}
			}
			if s.dumpWorld(fork.ID) == began {
				t.Fatal("nothing was played")
			}
			if r := s.reset(fork.ID); r.Seq == 0 {
				t.Error("nothing is committed")
			}
			if now := s.dumpWorld(fork.ID); now != began {
				t.Errorf("brought back it is\n%s\nand it was\n%s", now, began)
			}
			if again := s.reset(fork.ID); again.Seq != 0 {
				t.Error("brought back twice it changes again")
			}
			got, err := s.canon.Rebuild(t.Context(), s.as("operator").grant, fork.ID, canon.CompareOnly)
			if err != nil || len(got.Different) > 0 {
				t.Errorf("tables differ from the stream: %v, %v", got.Different, err)
			}
		})
	}
	if _, err := s.canon.Reset(t.Context(), s.as("operator").grant, s.world); !errors.Is(err, fault.Rule) {
		t.Errorf("a world that is no fork: %v", err)
	}
	if _, err := s.canon.Reset(t.Context(), s.as("admin").grant, fork.ID); !errors.Is(err, fault.Denied) {
		t.Errorf("another world's admin: %v", err)
	}
}

func text(s string) *string { return &s }

func edited(p *canon.Plan, name string, e canon.Edit) error {
	c, err := p.Card(name)
	if err == nil {
		_, err = p.Update(c, e)
	}
	return err
}

func renamed(p *canon.Plan, name, to string) error {
	c, err := p.Card(name)
	if err == nil {
		_, err = p.Rename(c, to)
	}
	return err
}

func trashed(p *canon.Plan, name string) error {
	c, err := p.Card(name)
	if err == nil {
		err = p.Trash(c)
	}
	return err
}
