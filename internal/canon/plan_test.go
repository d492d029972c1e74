package canon_test

import (
	"crypto/sha256"
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

func TestPlanFindsTypesInTheirNewState(t *testing.T) {
	s := newScene(t)
	s.as("user").must(func(p *canon.Plan) error {
		if _, err := p.Create(canon.NewCard{Name: "Starship", Type: "Cardtype",
			Fields: []byte(`{"schema":{"required":["crew"]}}`)}); err != nil {
			return err
		}
		if _, err := p.Create(canon.NewCard{Name: "Swan", Type: "starships"}); !errors.Is(err, fault.Rule) {
			t.Errorf("fields against the schema of a type made in the same plan: %v", err)
		}
		_, err := p.Create(canon.NewCard{Name: "Heron", Type: "starships", Fields: []byte(`{"crew":2}`)})
		return err
	})
	s.as("admin").must(func(p *canon.Plan) error {
		typ, err := p.Card("Starship")
		if err != nil {
			return err
		}
		if _, err := p.Rename(typ, "Vessel"); err != nil {
			return err
		}
		if _, err := p.Type(t.Context(), "Starship"); !errors.Is(err, fault.Rule) {
			t.Errorf("the old name of a renamed type: %v", err)
		}
		heron, err := p.Card("Heron")
		if err != nil {
			return err
		}
		name := "Vessel"
		_, err = p.Update(heron, canon.Edit{Type: &name})
		return err
	})
	if c, _, _ := s.as("user").card("Heron"); c.Type != "Vessel" {
		t.Errorf("Heron is of type %q", c.Type)
	}
	s.as("admin").must(func(p *canon.Plan) error {
		typ, err := p.Card("Vessel")
		if err != nil {
			return err
		}
		if err := p.Trash(typ); err != nil {
			return err
		}
		if _, err := p.Type(t.Context(), "Vessel"); !errors.Is(err, fault.Rule) {
			t.Errorf("a type that the plan trashed: %v", err)
		}
		return nil
	})
	s.wantRebuilt()
}

func TestPlanActs(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Old Mill", "turns")
	s.as("admin").must(func(p *canon.Plan) error {
		mill, err := p.Card("Old Mill")
		if err != nil {
			return err
		}
		if _, err := p.Rename(mill, "New Mill"); err != nil {
			return err
		}
		well, err := p.Create(canon.NewCard{Name: "Well"})
		if err != nil {
			return err
		}
		acts := p.Acts()
		if len(acts) != 2 || acts[0] != (canon.Acted{Card: mill.ID, Act: canon.ActRename}) ||
			acts[1] != (canon.Acted{Card: well.ID, Act: canon.ActCreate}) {
			t.Errorf("acts: %v", acts)
		}
		return nil
	})
}

func TestRepeated(t *testing.T) {
	s := newScene(t)
	ask := func(input string) access.Grant {
		c := access.Caller{Subject: "alice", EveryRole: access.RoleUser}
		return s.admit(c, access.Request{Operation: "test", Effect: access.Write, World: s.world,
			IdempotencyKey: "k1", InputHash: sha256.Sum256([]byte(input))}).grant
	}
	repeated := func(input string) (receipt canon.Receipt, used bool, err error) {
		_ = s.as("alice").read(func(snap *canon.Snapshot) error {
			receipt, used, err = snap.Repeated(t.Context(), ask(input))
			return nil
		})
		return receipt, used, err
	}
	if _, used, err := repeated("one"); used || err != nil {
		t.Errorf("before its use: %t, %v", used, err)
	}
	want := actor{s, ask("one")}.must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Well"})
		return err
	})
	if got, used, err := repeated("one"); !used || err != nil || got.Change != want.Change {
		t.Errorf("after its use: %v, %t, %v", got, used, err)
	}
	if _, _, err := repeated("two"); !errors.Is(err, fault.Conflict) {
		t.Errorf("for another input: %v", err)
	}
}

func TestACardOfTheSameNameIsNotAdopted(t *testing.T) {
	s := newScene(t)
	s.as("gm").createAt(access.LevelGM, "Vault", "gold")
	s.as("gm").createAt(access.LevelGM, "Vault+Door", "iron")
	s.as("user").create("Vault+Window", "glass") // creates a Vault for players
	s.as("gm").wantContent("Vault+Door", "iron")
	if c, _, ok := s.as("gm").card("Vault+Door"); !ok || c.Name != "Vault+Door" {
		t.Errorf("the door is called %q", c.Name)
	}
	s.as("user").wantAbsent("Vault+Door")
	s.as("user").wantContent("Vault", "")
	s.wantRebuilt()
}

// The changes of a plan keep their order: a card that was moved below a card created in the
// meantime is not placed there before that card exists.
func TestEditAfterAMoveKeepsTheOrder(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Note", "old")
	s.as("user").must(func(p *canon.Plan) error {
		c, err := p.Card("Note")
		if err != nil {
			return err
		}
		first, second := "first", "second"
		if c, err = p.Update(c, canon.Edit{Content: &first}); err != nil {
			return err
		}
		if c, err = p.Rename(c, "Desk+Note"); err != nil {
			return err
		}
		_, err = p.Update(c, canon.Edit{Content: &second})
		return err
	})
	s.as("user").wantContent("Desk+Note", "second")
	s.wantRebuilt()
}

// A card that the plan created keeps its name when another card with that name is trashed or
// renamed.
func TestSharedNameIsReleasedByOneCardOnly(t *testing.T) {
	for _, way := range []string{"trash", "rename"} {
		t.Run(way, func(t *testing.T) {
			s := newScene(t)
			s.as("user").create("Heir", "nobody knows")
			s.as("gm").must(func(p *canon.Plan) error {
				open, err := p.Card("Heir")
				if err != nil {
					return err
				}
				label := access.NewLabel(access.LevelGM)
				if _, err := p.Create(canon.NewCard{Name: "Heir", Content: "the baker", Label: &label}); err != nil {
					return err
				}
				if way == "trash" {
					err = p.Trash(open)
				} else {
					_, err = p.Rename(open, "Pretender")
				}
				if err != nil {
					return err
				}
				made, err := p.Card("Heir")
				if err != nil {
					return err
				}
				more := "the baker's son"
				_, err = p.Update(made, canon.Edit{Content: &more})
				return err
			})
			s.as("gm").wantContent("Heir", "the baker's son")
			s.as("user").wantAbsent("Heir")
			s.wantRebuilt()
		})
	}
}
