package canon_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// asStep returns an actor whose calls of an operation can be steps.
func (s *scene) asStep(role access.Role, op string) actor {
	return s.admit(access.Caller{Subject: access.Subject(role.String()), EveryRole: role}, access.Request{Operation: op,
		Effect: access.Destroy, World: s.world, Correlation: "call"})
}

// step makes a step of several commits.
func (s *scene) step(role access.Role, plans ...func(*canon.Plan) error) uuid.UUID {
	s.t.Helper()
	a := s.asStep(role, "import_test")
	err := s.canon.MakeStep(s.t.Context(), a.grant, canon.Step{Kind: canon.KindImport, Source: "vault", Format: "test"},
		access.LevelUser, func() error {
			for _, plan := range plans {
				a.must(plan)
			}
			return nil
		})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.steps()[0].ID
}

func (s *scene) steps() (all []canon.Step) {
	s.t.Helper()
	err := s.as("gm").read(func(l *canon.Snapshot) (err error) {
		all, err = l.Steps(s.t.Context())
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *scene) undoStep(role access.Role, id uuid.UUID, o canon.StepUndo) (u canon.Undone, opened string, err error) {
	o.Opened = func(r canon.Receipt) error {
		for _, x := range r.Opened {
			opened += x.Name + " "
		}
		return nil
	}
	u, err = s.canon.UndoStep(s.t.Context(), s.asStep(role, canon.OpUndoImport).grant, id, o)
	return u, opened, err
}

func mustFind(p *canon.Plan, name string) canon.Card {
	c, err := p.Card(name)
	if err != nil {
		panic(err)
	}
	return c
}

// state is the text of the living cards, links and layers of a scene, for an admin.
func (s *scene) state() string {
	s.t.Helper()
	var b strings.Builder
	err := s.as("admin").read(func(l *canon.Snapshot) error {
		names := map[canon.CardID]string{}
		for c, err := range l.AllCards(s.t.Context(), canon.Filter{TagLists: true}) {
			if err != nil {
				return err
			}
			text, err := l.Content(s.t.Context(), c)
			if err != nil {
				return err
			}
			names[c.ID] = c.Name
			fmt.Fprintf(&b, "%s %s %s %q\n", c.Name, c.Type, c.Label, text)
			layers, err := l.Layers(s.t.Context(), canon.LayerQuery{Card: c.ID})
			if err != nil {
				return err
			}
			for _, y := range layers {
				fmt.Fprintf(&b, "  layer %s %q\n", y.Kind, y.Text)
			}
		}
		links, _, err := l.Links(s.t.Context(), canon.LinkQuery{Page: canon.Page{Limit: 100}})
		for _, k := range links {
			fmt.Fprintf(&b, "%s -%s-> %s %s\n", names[k.From], k.Kind, names[k.To], k.Attrs)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return b.String()
}

// TestAStepIsUndoneAndBroughtBack undoes a step that writes cards, hidden parts, links and layers in all ways, and
// its undo.
func TestAStepIsUndoneAndBroughtBack(t *testing.T) {
	s := newScene(t)
	admin := s.as("admin")
	for _, name := range []string{"Inn", "Inn+Cellar", "Mill", "Ferry", "Barn"} {
		admin.create(name, "old "+name)
	}
	var road canon.LinkID
	var weather canon.LayerID
	admin.must(func(p *canon.Plan) (err error) {
		road, err = p.Link(canon.Link{Kind: "road", From: mustFind(p, "Inn").ID, To: mustFind(p, "Mill").ID, Attrs: []byte(`{"n":1}`)})
		return err
	})
	admin.must(func(p *canon.Plan) (err error) {
		weather, err = p.Layer(canon.Layer{Card: mustFind(p, "Inn").ID, Kind: "ambient", Text: "dry"})
		return err
	})
	before := s.state()
	write := func(name, text string) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			_, err := p.Update(mustFind(p, name), canon.Edit{Content: &text})
			return err
		}
	}
	create := func(name, text string) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: name, Content: text})
			return err
		}
	}
	id := s.step(access.RoleAdmin, create("Tower+Stair", "steep"), create("Well", "deep [secret]dry[/secret]"), write("Mill", "first"),
		write("Mill", "second [secret]haunted[/secret]"), write("Inn+Cellar", "wet"),
		func(p *canon.Plan) error {
			_, err := p.SetLabel(mustFind(p, "Inn"), access.NewLabel(access.LevelGM))
			return err
		}, func(p *canon.Plan) error {
			_, err := p.Rename(mustFind(p, "Ferry"), "Bridge")
			return err
		}, func(p *canon.Plan) error { return p.Trash(mustFind(p, "Barn")) },
		func(p *canon.Plan) error {
			inn, mill := mustFind(p, "Inn").ID, mustFind(p, "Mill").ID
			_, err := p.Link(canon.Link{ID: road, Kind: "road", From: inn, To: mill, Attrs: []byte(`{"n":2}`)})
			_, bad := p.Link(canon.Link{Kind: "path", From: mill, To: mustFind(p, "Well").ID})
			return errors.Join(err, bad)
		}, func(p *canon.Plan) error {
			_, err := p.Layer(canon.Layer{ID: weather, Card: mustFind(p, "Inn").ID, Kind: "ambient", Text: "rain"})
			_, bad := p.Layer(canon.Layer{Card: mustFind(p, "Mill").ID, Kind: "ambient", Text: "wind"})
			return errors.Join(err, bad)
		})
	after := s.state()
	if after == before || s.steps()[0].Commits != 10 {
		t.Fatalf("%+v\n%s", s.steps(), after)
	}
	if err := s.as("user").read(func(l *canon.Snapshot) error {
		if all, err := l.Steps(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("a player sees steps: %v %v", all, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.undoStep(access.RoleGM, id, canon.StepUndo{}); !errors.Is(err, fault.Denied) {
		t.Errorf("a game master undoes a step of an admin: %v", err)
	}
	u, opened, err := s.undoStep(access.RoleAdmin, id, canon.StepUndo{})
	// The card of hidden parts stays, empty: if it is needed again, it is there.
	undone := strings.Replace(before, "Mill RichText user \"old Mill\"\n", "Mill RichText user \"old Mill\"\n"+
		"Mill+GM RichText gm \"\"\n", 1)
	if got := s.state(); err != nil || got != undone || len(u.Kept)+len(u.Edits)+u.KeptLinks > 0 || !strings.Contains(opened, "Inn ") {
		t.Errorf("undone: %v, kept %+v, opened %q\n%s\nwant\n%s", err, u.Kept, opened, got, undone)
	}
	if u.Links != 2 || u.Layers != 2 || len(u.Trashed) != 3 || len(u.Back) != 1 || len(u.Former) != 4 {
		t.Errorf("undone: %d links, %d layers, %d trashed, %d back, %d former", u.Links, u.Layers, len(u.Trashed), len(u.Back),
			len(u.Former))
	}
	s.wantRebuilt()
	r, _, err := s.undoStep(access.RoleAdmin, u.ID, canon.StepUndo{})
	if got := s.state(); err != nil || got != after || len(r.Kept)+len(r.Edits) > 0 {
		t.Errorf("brought back: %v, kept %+v\n%s\nwant\n%s", err, r.Kept, got, after)
	}
	if _, _, err = s.undoStep(access.RoleAdmin, id, canon.StepUndo{}); err != nil || s.state() != undone {
		t.Errorf("undone again: %v\n%s\nwant\n%s", err, s.state(), undone)
	}
	s.wantRebuilt()
}

// TestTheUndoOfAStepShowsNothingHidden undoes a step after game masters hid things: they stay hidden.
func TestTheUndoOfAStepShowsNothingHidden(t *testing.T) {
	s := newScene(t)
	admin, gm, user := s.as("admin"), s.as("gm"), s.as("user")
	admin.create("Inn", "beer")
	admin.create("Mill", "flour\n\nthe miller is a spy")
	admin.create("Inn+Attic", "dust")
	id := s.step(access.RoleAdmin, func(p *canon.Plan) error {
		_, err := p.SetLabel(mustFind(p, "Inn"), access.NewLabel(access.LevelGM))
		return err
	}, func(p *canon.Plan) error {
		text := "flour\n\n[secret]the miller is a spy[/secret]"
		_, err := p.Update(mustFind(p, "Mill"), canon.Edit{Content: &text})
		return err
	})
	gm.create("Inn+Cellar", "a body")
	gm.edit("Inn+Attic", "a letter")
	mill := "flour"
	if _, text, _ := user.card("Mill"); !strings.HasPrefix(text, mill) || strings.Contains(text, "spy") {
		t.Fatalf("a player reads %q", text)
	}
	u, _, err := s.undoStep(access.RoleAdmin, id, canon.StepUndo{LoseEdits: true})
	if err != nil {
		t.Fatal(err)
	}
	user.wantContent("Inn", "beer")
	user.wantAbsent("Inn+Cellar")
	user.wantAbsent("Inn+Attic")
	if _, text, _ := user.card("Mill"); strings.Contains(text, "spy") {
		t.Errorf("a player reads %q", text)
	}
	if len(u.Kept) != 1 || u.Kept[0].Card.Name != "Mill" {
		t.Errorf("kept %+v", u.Kept)
	}
	s.wantRebuilt()
}
