package canon_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// asOwner returns a member who writes only its own cards.
func (s *scene) asOwner(who access.Subject) actor {
	return s.admit(access.Caller{Subject: who, Roles: map[access.WorldID]access.Role{s.world: access.RoleUser},
		May: map[access.WorldID]access.May{s.world: access.MayOwn}},
		access.Request{Operation: "test", Effect: access.Write, World: s.world})
}

// TestOwnCards lists the changes of a member who writes only their own cards.
func TestOwnCards(t *testing.T) {
	text := "new"
	update := func(name string) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			c, err := p.Card(name)
			if err == nil {
				_, err = p.Update(c, canon.Edit{Content: &text})
			}
			return err
		}
	}
	link := func(from, to string) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			a, err := p.Card(from)
			b, bad := p.Card(to)
			if err == nil && bad == nil {
				_, err = p.Link(canon.Link{Kind: "relationship", From: a.ID, To: b.ID})
			}
			return errors.Join(err, bad)
		}
	}
	for name, row := range map[string]struct {
		plan func(*canon.Plan) error
		want error
	}{
		"creates a card": {func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: "Bell"})
			return err
		}, nil},
		"creates one below a card of another, with its parents": {func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: "Inn+cellar+cask"})
			return err
		}, nil},
		"edits its own":                                {update("Boat"), nil},
		"edits its own that another edited":            {update("Oar"), nil},
		"edits that of another":                        {update("Inn"), fault.Denied},
		"edits that of another which it edited before": {update("Lamp"), fault.Denied},
		"links its own":                                {link("Boat", "Inn"), nil},
		"links that of another":                        {link("Inn", "Boat"), fault.Denied},
		"adds a layer to that of another": {func(p *canon.Plan) error {
			c, err := p.Card("Inn")
			if err == nil {
				_, err = p.Layer(canon.Layer{Card: c.ID, Kind: "ambient", Text: "damp"})
			}
			return err
		}, fault.Denied},
		"edits its own and that of another at once": {func(p *canon.Plan) error {
			return errors.Join(update("Boat")(p), update("Inn")(p))
		}, fault.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.as("ben").create("Inn", "warm")
			s.as("ben").create("Lamp", "lit")
			s.as("ada").edit("Lamp", "out") // when ada still might
			s.asOwner("ada").create("Boat", "leaks")
			s.asOwner("ada").create("Oar", "long")
			s.as("gm").edit("Oar", "short")
			for _, dry := range []bool{true, false} {
				a := s.asOwner("ada")
				if dry {
					a.grant = a.grant.DryRun()
				}
				if _, err := a.do(row.plan); !errors.Is(err, row.want) {
					t.Errorf("dry run %t: %v, want %v", dry, err, row.want)
				}
			}
			s.wantRebuilt()
		})
	}
}

// TestWhoManagesCards lists who may rename, delete and restore which cards.
func TestWhoManagesCards(t *testing.T) {
	for name, row := range map[string]struct {
		rights   string
		who      string
		card     string
		want     error
		notFound bool
	}{
		"a game master, by the rule of campaigns": {canon.GMRightsCampaign, "gm", "Inn", fault.Denied, false},
		"a game master, where nothing is set":     {"", "gm", "Inn", fault.Denied, false},
		"a game master":                           {canon.GMRightsAll, "gm", "Inn", nil, false},
		"a card of game masters":                  {canon.GMRightsAll, "gm", "Plot", nil, false},
		"a type":                                  {canon.GMRightsAll, "gm", "Ship", fault.Denied, false},
		"a setting":                               {canon.GMRightsAll, "gm", "Rule", fault.Denied, false},
		"a person's card":                         {canon.GMRightsAll, "gm", "Ada", fault.Denied, false},
		"a card above a type":                     {canon.GMRightsAll, "gm", "Shelf", fault.Denied, false},
		"the admin's, open to the game master":    {canon.GMRightsAll, "gm", "Vault", fault.Denied, false},
		"below the admin's":                       {canon.GMRightsAll, "gm", "Vault+chest", fault.Denied, false},
		"a player":                                {canon.GMRightsAll, "user", "Inn", fault.Denied, false},
		"an admin":                                {canon.GMRightsCampaign, "admin", "Ship", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.as("admin").must(func(p *canon.Plan) error {
				return p.Configure("Main", canon.Settings{GMRights: row.rights})
			})
			s.as("user").create("Inn", "")
			s.as("gm").createAt(access.LevelGM, "Plot", "")
			s.as("admin").createAt(access.LevelAdmin, "Vault", "", "gm")
			s.as("admin").create("Vault+chest", "")
			s.as("admin").must(func(p *canon.Plan) error {
				for name, typ := range map[string]string{"Ship": canon.TypeCardtype, "Rule": canon.TypeSetting,
					"Ada": canon.TypeUser, "Shelf": canon.TypeRichText} {
					if _, err := p.Create(canon.NewCard{Name: name, Type: typ}); err != nil {
						return err
					}
				}
				_, err := p.Create(canon.NewCard{Name: "Shelf+kind", Type: canon.TypeCardtype})
				return err
			})
			err := s.as(row.who).on(row.card, func(p *canon.Plan, c canon.Card) error { return p.CheckManages(c.ID) })
			if !errors.Is(err, row.want) {
				t.Errorf("%v, want %v", err, row.want)
			}
		})
	}
}

// TestAGameMasterSeesOnlyItsTrash restores cards from the trash. Those of the admin do not exist there for others.
func TestAGameMasterSeesOnlyItsTrash(t *testing.T) {
	for rights, want := range map[string]int{canon.GMRightsCampaign: 0, canon.GMRightsAll: 1} {
		s := newScene(t)
		s.as("admin").must(func(p *canon.Plan) error { return p.Configure("Main", canon.Settings{GMRights: rights}) })
		s.as("user").create("Inn", "warm")
		s.as("admin").createAt(access.LevelAdmin, "Vault", "")
		for _, name := range []string{"Inn", "Vault"} {
			if err := s.as("admin").on(name, func(p *canon.Plan, c canon.Card) error { return p.Trash(c) }); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.as("gm").do(func(p *canon.Plan) error {
			list, total, err := p.Snapshot.Trash(t.Context(), canon.Page{Limit: 10})
			if len(list) != want || total.Count != want || err != nil || want == 0 {
				if len(list) != want {
					t.Errorf("%s: %d of %d in the trash, %v", rights, len(list), total.Count, err)
				}
				return err
			}
			if err := p.CheckManages(list[0].ID); err != nil {
				return err
			}
			_, err = p.Restore(list[0])
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", rights, err)
		}
		if want > 0 {
			s.as("user").wantContent("Inn", "warm")
		}
		if _, err := s.as("user").do(func(p *canon.Plan) error {
			if list, _, err := p.Snapshot.Trash(t.Context(), canon.Page{Limit: 10}); len(list) > 0 || err != nil {
				t.Errorf("a player sees %v, %v", list, err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestUndoOfUndo lists who may undo an undo.
func TestUndoOfUndo(t *testing.T) {
	for _, row := range []struct {
		undoer, by string
		want       error
	}{
		{"user", "user", nil}, {"user", "ben", nil}, {"user", "gm", nil}, {"gm", "gm", nil}, {"gm", "admin", nil},
		{"gm", "user", fault.Denied}, {"admin", "user", fault.Denied}, {"admin", "gm", fault.Denied},
	} {
		s := newScene(t)
		undo := func(who string, change uuid.UUID) (canon.Receipt, error) {
			c := s.as(who).grant.Caller()
			return s.admit(c, access.Request{Operation: canon.OpUndo, Effect: access.Write, World: s.world}).
				do(func(p *canon.Plan) error { return p.Undo(change) })
		}
		s.as("user").create("Bell", "rings")
		change := s.as("user").must(func(p *canon.Plan) error {
			c, err := p.Card("Bell")
			content := "is cracked"
			if err == nil {
				_, err = p.Update(c, canon.Edit{Content: &content})
			}
			return err
		}).Change
		first, err := undo(row.undoer, change)
		if err != nil {
			t.Fatal(err)
		}
		second, err := undo(row.by, first.Change)
		if !errors.Is(err, row.want) {
			t.Errorf("%s undoes the undo of %s: %v, want %v", row.by, row.undoer, err, row.want)
		}
		if row.want != nil {
			continue
		}
		if _, err := undo("user", second.Change); (err == nil) != (row.by == "user" || row.by == "ben") {
			t.Errorf("and user that of %s: %v", row.by, err)
		}
	}
}

// TestMemberRecords reads members as records of before hold them, and checks that higher roles are not narrowed.
func TestMemberRecords(t *testing.T) {
	var old canon.MemberImage
	if err := json.Unmarshal([]byte(`{"subject":"ada","role":"user"}`), &old); err != nil || old.May != access.MayWrite {
		t.Errorf("%+v, %v", old, err)
	}
	s := newScene(t)
	for role, want := range map[access.Role]access.May{access.RoleUser: access.MayPropose,
		access.RoleGM: access.MayWrite} {
		s.as("admin").must(func(p *canon.Plan) error {
			return p.SetMember(canon.MemberImage{Subject: "ada", Role: role, May: access.MayPropose})
		})
		if list, err := s.canon.Memberships(t.Context(), "ada"); err != nil || len(list) != 1 || list[0].May != want {
			t.Errorf("a %s: %+v, %v", role, list, err)
		}
	}
	if w, err := s.fork("copy"); err != nil {
		t.Error(err)
	} else if list, err := s.canon.Memberships(t.Context(), "ada"); err != nil || len(list) != 2 ||
		list[1].Role != list[0].Role || list[1].May != list[0].May {
		t.Errorf("in the fork %s: %+v, %v", w.Slug, list, err)
	}
	s.wantRebuilt()
}
