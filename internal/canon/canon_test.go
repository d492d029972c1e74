package canon_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

func TestHiddenIsAbsent(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Old Mill", "turns")
	s.as("gm").create("Old Mill+GM", "a cellar below")
	s.as("admin").createAt(access.LevelAdmin, "The End", "all drown")

	s.as("gm").wantContent("old_mill+gm", "a cellar below")
	s.as("user").wantAbsent("Old Mill+GM")
	s.as("gm").wantAbsent("The End")
	s.as("admin").wantContent("The End", "all drown")
	s.wantRebuilt()
}

func TestNameOfAHiddenCardIsFree(t *testing.T) {
	s := newScene(t)
	s.as("gm").createAt(access.LevelGM, "Heir", "the baker")
	s.as("user").create("Heir", "nobody knows")

	s.as("user").wantContent("Heir", "nobody knows")
	s.as("gm").wantContent("Heir", "nobody knows") // the lowest-labelled card
	_, err := s.as("user").do(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "heirs"})
		return err
	})
	if !errors.Is(err, fault.Conflict) {
		t.Errorf("creating a taken name: %v, want conflict", err)
	}
	s.wantRebuilt()
}

func TestMissingAncestorsAreMadeUnderTheSameLabel(t *testing.T) {
	s := newScene(t)
	s.as("gm").createAt(access.LevelGM, "Cult+Rites+Night", "x")
	s.as("user").wantAbsent("Cult")
	s.as("gm").wantContent("Cult+Rites", "")
	s.as("user").create("Town+Well", "deep")
	s.as("user").wantContent("Town", "")
	s.wantRebuilt()
}

func TestOrphansAreAdopted(t *testing.T) {
	s := newScene(t)
	s.as("user").must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "A+B+C", Content: "c", Orphan: true})
		return err
	})
	s.as("user").wantAbsent("A")
	s.as("user").create("A", "a")
	s.as("user").create("A+B", "b")
	s.as("admin").on("A", func(p *canon.Plan, c canon.Card) error {
		_, err := p.Rename(c, "Z")
		return err
	})
	s.as("user").wantContent("Z+B+C", "c")
	s.wantRebuilt()
}

func TestARevealLowersTheCurrentVersionOnly(t *testing.T) {
	s := newScene(t)
	s.as("gm").createAt(access.LevelGM, "Vault", "draft: the duke did it")
	s.as("gm").edit("Vault", "a vault")
	s.as("gm").create("Vault+Lock", "nine pins") // GM through its parent
	s.as("gm").edit("Vault+Lock", "ten pins")
	s.as("user").wantAbsent("Vault+Lock")
	s.as("admin").label("Vault", access.LevelUser)

	s.as("user").wantContent("Vault", "a vault")
	s.as("user").wantContent("Vault+Lock", "ten pins")
	if got, want := s.as("user").history("Vault"), []string{"1:a vault"}; !reflect.DeepEqual(got, want) {
		t.Errorf("user's history: %v, want %v", got, want)
	}
	if got, want := s.as("user").history("Vault+Lock"), []string{"1:ten pins"}; !reflect.DeepEqual(got, want) {
		t.Errorf("user's history of the child: %v, want %v", got, want)
	}
	if got, want := s.as("gm").history("Vault"), []string{"3:a vault", "2:a vault",
		"1:draft: the duke did it"}; !reflect.DeepEqual(got, want) {
		t.Errorf("gm's history: %v, want %v", got, want)
	}
	c, _, _ := s.as("user").card("Vault")
	if v := c.Version(s.as("user").grant.View()); v != 1 {
		t.Errorf("user's version %d betrays hidden ones", v)
	}
	s.wantRebuilt()
}

func TestNamedSubjectsSee(t *testing.T) {
	s := newScene(t)
	s.as("gm").createAt(access.LevelGM, "Letter", "for Alice", "alice", "bob")
	s.as("gm").createAt(access.LevelGM, "Letter+Seal", "wax", "alice")
	s.as("alice").wantContent("Letter", "for Alice")
	s.as("alice").wantContent("Letter+Seal", "wax")
	s.as("bob").wantContent("Letter", "for Alice")
	s.as("bob").wantAbsent("Letter+Seal")
	s.as("carol").wantAbsent("Letter")
	s.wantRebuilt()
}

func TestNobodyWritesAboveTheirView(t *testing.T) {
	s := newScene(t)
	s.as("gm").create("Plot+GM", "x")
	for _, name := range []string{"Plot+GM+More", "Other+GM"} {
		_, err := s.as("user").do(func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: name})
			return err
		})
		if !errors.Is(err, fault.Denied) {
			t.Errorf("user creates %q: %v, want denied", name, err)
		}
	}
	admin := access.NewLabel(access.LevelAdmin)
	_, err := s.as("gm").do(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Top", Label: &admin})
		return err
	})
	if !errors.Is(err, fault.Denied) {
		t.Errorf("gm creates at admin: %v, want denied", err)
	}
	if err := s.as("user").on("Plot", func(p *canon.Plan, c canon.Card) error {
		_, err := p.Rename(c, "Plot+GM+Below")
		return err
	}); err == nil {
		t.Error("user moved a card below a GM name")
	}
}

func TestRenameTakesEverythingBelowAlong(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Inn+Cellar+Cask", "ale")
	s.as("gm").create("Inn+Cellar+GM", "bones")
	if err := s.as("admin").on("Inn", func(p *canon.Plan, c canon.Card) error {
		_, err := p.Rename(c, "Tavern")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.as("user").wantContent("Tavern+Cellar+Cask", "ale")
	s.as("gm").wantContent("Tavern+Cellar+GM", "bones")
	s.as("user").wantAbsent("Inn+Cellar")
	err := s.as("user").read(func(snap *canon.Snapshot) error {
		c, ok, err := snap.Renamed(t.Context(), "Inn+Cellar+Cask")
		if err == nil && (!ok || c.Name != "Tavern+Cellar+Cask") {
			t.Errorf("an old name finds %q, %t", c.Name, ok)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.wantRebuilt()
}

func TestARenameThatMakesANameBelowTooLongIsRefused(t *testing.T) {
	s := newScene(t)
	s.as("user").create("A+"+strings.Repeat("b", 250), "x")
	err := s.as("admin").on("A", func(p *canon.Plan, c canon.Card) error {
		_, err := p.Rename(c, "Alphabet")
		return err
	})
	if !errors.Is(err, fault.Rule) {
		t.Errorf("renaming: %v, want a broken rule", err)
	}
	s.as("user").wantContent("A+"+strings.Repeat("b", 250), "x")
	s.wantRebuilt()
}

func TestTrashAndRestore(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Ship+Hold", "rats")
	s.as("gm").create("Ship+GM", "mutiny")
	trash := func(p *canon.Plan, c canon.Card) error { return p.Trash(c) }
	if err := s.as("admin").on("Ship", trash); err != nil {
		t.Fatal(err)
	}
	s.as("admin").wantAbsent("Ship")
	s.as("admin").wantAbsent("Ship+Hold")
	s.as("admin").must(func(p *canon.Plan) error {
		list, total, err := p.Snapshot.Trash(t.Context(), canon.Page{Limit: 10})
		if err != nil || total.Count != 1 {
			t.Fatalf("trash: %d, %v", total.Count, err)
		}
		_, err = p.Restore(list[0])
		return err
	})
	s.as("user").wantContent("Ship+Hold", "rats")
	s.as("gm").wantContent("Ship+GM", "mutiny")
	s.as("user").wantAbsent("Ship+GM")
	s.wantRebuilt()
}

func TestRevertGivesBackNameTypeContentAndChildren(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Gate", "iron")
	s.as("user").create("Gate+Key", "brass")
	s.as("user").edit("Gate", "iron, black")
	s.as("user").edit("Gate", "wood")
	s.as("user").edit("Gate+Key", "lost")
	plain := "PlainText"
	if err := s.as("admin").on("Gate", func(p *canon.Plan, c canon.Card) error {
		c, err := p.Update(c, canon.Edit{Type: &plain})
		if err == nil {
			_, err = p.Rename(c, "Door")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.as("admin").on("Door", func(p *canon.Plan, c canon.Card) error {
		v, err := p.VersionOf(t.Context(), c, 2)
		if err == nil {
			_, err = p.RevertTo(c, v)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	c, content, ok := s.as("user").card("Gate")
	if !ok || c.Name != "Gate" || c.Type != "RichText" || content != "iron, black" {
		t.Errorf("reverted to %q, %s, %q", c.Name, c.Type, content)
	}
	s.as("user").wantContent("Gate+Key", "brass")
	s.wantRebuilt()
}

func TestUndo(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Bell", "rings")
	change := s.as("user").must(func(p *canon.Plan) error {
		c, err := p.Card("Bell")
		content := "is cracked"
		if err == nil {
			_, err = p.Update(c, canon.Edit{Content: &content})
		}
		return err
	}).Change
	undo := func(p *canon.Plan) error { return p.Undo(change) }
	s.as("user").must(undo)
	s.as("user").wantContent("Bell", "rings")
	if _, err := s.as("user").do(undo); !errors.Is(err, fault.Conflict) {
		t.Errorf("undoing twice: %v, want conflict", err)
	}
	s.wantRebuilt()
}

func TestAnIdempotencyKeyHasOneEffect(t *testing.T) {
	s := newScene(t)
	caller := access.Caller{Subject: "u", Key: "k1", EveryRole: access.RoleUser}
	req := access.Request{Operation: "create", Effect: access.Write, World: s.world, IdempotencyKey: "once",
		InputHash: [32]byte{1}}
	make := func(p *canon.Plan) error {
		c, err := p.Create(canon.NewCard{Name: "Twice", Content: "x"})
		p.Target(c.ID)
		return err
	}
	one := s.admit(caller, req).must(make)
	two := s.admit(caller, req).must(make)
	if one.Replayed || !two.Replayed || two.Targets[0] != one.Targets[0] || two.Change != one.Change {
		t.Errorf("first %+v, then %+v", one, two)
	}
	req.InputHash = [32]byte{2}
	if _, err := s.admit(caller, req).do(make); !errors.Is(err, fault.Conflict) {
		t.Errorf("another body: %v, want conflict", err)
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	s := newScene(t)
	a := s.as("user")
	a.grant = a.grant.DryRun()
	r := a.must(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Maybe"})
		return err
	})
	if !r.DryRun || len(r.Cards) != 1 {
		t.Errorf("receipt %+v", r)
	}
	a.wantAbsent("Maybe")
}

func TestAPlanSeesItsOwnChanges(t *testing.T) {
	s := newScene(t)
	s.as("user").must(func(p *canon.Plan) error {
		if _, err := p.Create(canon.NewCard{Name: "Keep+Tower", Content: "tall"}); err != nil {
			return err
		}
		c, err := p.Card("Keep+Tower")
		if err != nil {
			return err
		}
		text, err := p.Text(c)
		if err != nil || text != "tall" {
			t.Errorf("text %q, %v", text, err)
		}
		shorter := "short"
		_, err = p.Update(c, canon.Edit{Content: &shorter})
		return err
	})
	s.as("user").wantContent("Keep+Tower", "short")
	s.wantRebuilt()
}

func TestAForkIsItsOwnWorld(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Road+Bend", "sharp")
	s.as("gm").create("Road+GM", "ambush")
	fork, err := s.canon.Fork(t.Context(), s.as("operator").grant, s.world, canon.NewWorld{Slug: "play"})
	if err != nil {
		t.Fatal(err)
	}
	main := s.world
	s.world = fork.ID
	s.as("user").wantContent("Road+Bend", "sharp")
	s.as("user").wantAbsent("Road+GM")
	s.as("user").edit("Road+Bend", "straight")
	s.wantRebuilt()
	s.world = main
	s.as("user").wantContent("Road+Bend", "sharp")
}

func TestATypeThatIsHiddenDoesNotExist(t *testing.T) {
	s := newScene(t)
	s.as("gm").must(func(p *canon.Plan) error {
		gm := access.NewLabel(access.LevelGM)
		_, err := p.Create(canon.NewCard{Name: "Cult Member", Type: "Cardtype", Label: &gm})
		return err
	})
	create := func(name string, level access.Level) func(p *canon.Plan) error {
		label := access.NewLabel(level)
		return func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: name, Type: "Cult Member", Label: &label})
			return err
		}
	}
	if _, err := s.as("user").do(create("Joe", access.LevelUser)); !errors.Is(err, fault.Rule) {
		t.Errorf("user uses a hidden type: %v", err)
	}
	if _, err := s.as("gm").do(create("Joe", access.LevelUser)); !errors.Is(err, fault.Rule) {
		t.Errorf("gm shows a hidden type to users: %v", err)
	}
	s.as("gm").must(create("Joe", access.LevelGM))
}

// A purged text is no longer found by search. A rebuild neither restores it nor takes it away from
// another card that now holds the same text.
func TestPurgeErasesDerivedText(t *testing.T) {
	s := newScene(t)
	gm, operator := s.as("gm"), s.as("operator")
	gm.create("Diary", "lantern [[Moor]]")
	purge := func() {
		t.Helper()
		err := operator.on("Diary", func(p *canon.Plan, c canon.Card) error {
			list, _, err := p.Versions(t.Context(), c.ID, canon.Page{Limit: 1})
			if err != nil {
				return err
			}
			return p.Purge(c, list[0])
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found := func() (hits, refs int) {
		t.Helper()
		err := gm.read(func(snap *canon.Snapshot) error {
			res, err := snap.Search(t.Context(), canon.SearchQuery{Q: "lantern"}, canon.Page{Limit: 9})
			if err != nil {
				return err
			}
			_, n, err := snap.Refs(t.Context(), canon.RefQuery{Target: "moor", Page: canon.Page{Limit: 9}})
			hits, refs = len(res.Hits), n.Count
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return hits, refs
	}
	purge()
	if hits, refs := found(); hits+refs != 0 {
		t.Errorf("what is erased is found by %d hits and %d references", hits, refs)
	}
	s.wantRebuilt()
	gm.create("Copy", "lantern [[Moor]]")
	gm.must(func(p *canon.Plan) error {
		c, err := p.Card("Diary")
		if err == nil {
			_, err = p.Rename(c, "Journal")
		}
		return err
	})
	if hits, refs := found(); hits != 2 && hits != 1 || refs == 0 {
		t.Errorf("the other card is found by %d hits and %d references", hits, refs)
	}
	s.wantRebuilt()
	if _, err := s.canon.Rebuild(t.Context(), operator.grant, s.world, canon.KeepRebuilt); err != nil {
		t.Fatal(err)
	}
	gm.wantContent("Copy", "lantern [[Moor]]")
}

func TestPurgeErasesABodyAndKeepsTheChain(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Diary", "a name that must go")
	s.as("user").edit("Diary", "clean")
	if err := s.as("operator").on("Diary", func(p *canon.Plan, c canon.Card) error {
		v, err := p.VersionOf(t.Context(), c, 1)
		if err != nil {
			return err
		}
		return p.Purge(c, v)
	}); err != nil {
		t.Fatal(err)
	}
	if got := s.as("user").history("Diary"); !reflect.DeepEqual(got, []string{"2:clean", "1:"}) {
		t.Errorf("history %v", got)
	}
	s.wantRebuilt()
}

func TestAWorldMayHaveNoGMParts(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Before+Note", "x")
	s.as("gm").create("Before+GM", "was secret")
	s.as("admin").must(func(p *canon.Plan) error {
		return p.Configure("Open", canon.Settings{GMParts: []string{}})
	})
	s.as("user").wantContent("Before+GM", "was secret")
	s.as("user").create("After+GM", "open too")
	s.wantRebuilt()
}
