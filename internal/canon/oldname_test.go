package canon_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

func (a actor) rename(name, to string) {
	a.s.t.Helper()
	err := a.on(name, func(p *canon.Plan, c canon.Card) error {
		_, err := p.Rename(c, to)
		return err
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
}

// names returns the names of a card's versions that its history shows to an actor, latest first.
// The feed and reads of past states must show the same.
func (a actor) names(name string) (list []string) {
	a.s.t.Helper()
	ctx := a.s.t.Context()
	err := a.read(func(snap *canon.Snapshot) error {
		c, err := snap.Find(ctx, name)
		if err != nil {
			return err
		}
		versions, _, err := snap.Versions(ctx, c.ID, canon.Page{Limit: 100})
		if err != nil {
			return err
		}
		feed, _, err := snap.Feed(ctx, canon.FeedQuery{Page: canon.Page{Limit: 100}})
		if err != nil {
			return err
		}
		feed = slices.DeleteFunc(feed, func(v canon.Version) bool { return v.Card != c.ID })
		for i, v := range versions {
			list = append(list, v.Name)
			one, err := snap.VersionOf(ctx, c, snap.Number(c, v))
			if err != nil {
				return err
			}
			if one.Name != v.Name || feed[i].Name != v.Name {
				a.s.t.Errorf("version %d is called %q in the history, %q by its number and %q in the feed", v.Rev, v.Name, one.Name,
					feed[i].Name)
			}
			if at, ok, err := snap.CardAt(ctx, c.ID, v.From); err != nil || ok && at.Name != v.Name {
				a.s.t.Errorf("version %d is called %q in the history, and %q at its commit: %v", v.Rev, v.Name, at.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
	return list
}

func (a actor) wantNames(name string, want ...string) {
	a.s.t.Helper()
	if got := a.names(name); !slices.Equal(got, want) {
		a.s.t.Errorf("to %s the versions of %s are called %q, want %q", a.grant.Caller().Subject, name, got, want)
	}
}

// wantFormer checks which card an actor finds by a name from before a rename.
func (a actor) wantFormer(old, want string) {
	a.s.t.Helper()
	err := a.read(func(snap *canon.Snapshot) error {
		c, _, err := snap.Renamed(a.s.t.Context(), old)
		if c.Name != want {
			a.s.t.Errorf("%q leads %s to %q, want %q", old, a.grant.Caller().Subject, c.Name, want)
		}
		return err
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
}

// secretBaker creates a card at a level with two generations below it, and renames it while it is
// hidden.
func secretBaker(s *scene, level access.Level) {
	who := s.as(level.String())
	who.createAt(level, "Zq Is The Killer", "the baker")
	who.create("Zq Is The Killer+tags", "[[guild]]")
	who.create("Zq Is The Killer+tags+note", "dust")
	who.rename("Zq Is The Killer", "Baker")
}

func TestARevealKeepsFormerNamesAbove(t *testing.T) {
	s := newScene(t)
	secretBaker(s, access.LevelGM)
	s.as("gm").label("Baker", access.LevelUser)
	for _, who := range []string{"user", "alice"} {
		s.as(who).wantNames("Baker", "Baker")
		s.as(who).wantNames("Baker+tags", "Baker+tags")
		s.as(who).wantNames("Baker+tags+note", "Baker+tags+note")
		s.as(who).wantFormer("Zq Is The Killer", "")
		s.as(who).wantFormer("Zq Is The Killer+tags", "")
		s.as(who).wantFormer("Zq Is The Killer+tags+note", "")
	}
	s.as("gm").wantNames("Baker+tags", "Zq Is The Killer+tags")
	s.as("gm").wantFormer("Zq Is The Killer+tags+note", "Baker+tags+note")

	// Names that everyone saw in the meantime stay visible to everyone.
	s.as("gm").rename("Baker", "Miller")
	s.as("user").wantNames("Miller+tags", "Baker+tags")
	s.as("user").wantFormer("Baker+tags", "Miller+tags")
	s.as("user").wantFormer("Baker+tags+note", "Miller+tags+note")
	s.wantRebuilt()
}

func TestARevealStepByStepKeepsEachName(t *testing.T) {
	s := newScene(t)
	secretBaker(s, access.LevelAdmin)
	s.as("admin").label("Baker", access.LevelGM)
	s.as("gm").wantNames("Baker+tags", "Baker+tags")
	s.as("gm").wantFormer("Zq Is The Killer+tags", "")
	s.as("gm").rename("Baker", "Miller")
	s.as("gm").label("Miller", access.LevelUser)
	s.as("user").wantNames("Miller+tags+note", "Miller+tags+note")
	s.as("user").wantFormer("Baker+tags", "")
	s.as("gm").wantFormer("Baker+tags", "Miller+tags")
	s.as("gm").wantFormer("Zq Is The Killer+tags", "")
	s.as("admin").wantNames("Miller+tags+note", "Zq Is The Killer+tags+note")
	s.wantRebuilt()
}

// Data opened to a named player is opened to no other player.
func TestRevealToOnePlayerKeepsFormerNamesAbove(t *testing.T) {
	s := newScene(t)
	secretBaker(s, access.LevelGM)
	s.as("gm").label("Baker", access.LevelGM, "alice")
	s.as("alice").wantNames("Baker+tags", "Baker+tags")
	s.as("alice").wantFormer("Zq Is The Killer+tags", "")
	s.as("user").wantAbsent("Baker")
	s.wantRebuilt()
}

func TestNamesSeenBeforeHidingStayHidden(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Inn", "")
	s.as("user").create("Inn+sign", "a swan")
	s.as("gm").label("Inn", access.LevelGM)
	s.as("gm").rename("Inn", "Zq Den")
	s.as("gm").rename("Zq Den", "Tavern")
	s.as("gm").label("Tavern", access.LevelUser)
	s.as("user").wantFormer("Inn+sign", "")
	s.as("user").wantFormer("Zq Den+sign", "")
	for _, name := range s.as("user").names("Tavern+sign") {
		if strings.Contains(name, "Zq") {
			t.Errorf("a player is shown %q", name)
		}
	}
	s.wantRebuilt()
}

// The name rules of a world reveal and hide cards like labels do.
func TestNameRulesThatChangeKeepFormerNames(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Act", "")
	s.as("user").create("Zq Plot", "")
	s.as("gm").create("Zq Plot+GM", "")
	s.as("gm").create("Zq Plot+GM+scene", "x")
	s.as("gm").rename("Zq Plot+GM", "Act+GM")
	s.as("admin").must(func(p *canon.Plan) error {
		return p.Configure("", canon.Settings{GMParts: []string{}})
	})
	s.as("user").wantNames("Act+GM+scene", "Act+GM+scene")
	s.as("user").wantFormer("Zq Plot+GM+scene", "")
	s.wantRebuilt()
}

// Undo and restore give no card a name that the caller may not see. A card that was moved by the
// move of an ancestor stays there.
func TestUndoAndRestoreKeepFormerNamesAbove(t *testing.T) {
	for _, way := range []string{"undo", "restore"} {
		t.Run(way, func(t *testing.T) {
			s := newScene(t)
			secretBaker(s, access.LevelAdmin)
			s.as("admin").label("Baker", access.LevelGM)
			err := s.as("gm").on("Baker+tags", func(p *canon.Plan, c canon.Card) error {
				_, err := p.Rename(c, "Baker+labels")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			err = s.as("gm").on("Baker+labels", func(p *canon.Plan, c canon.Card) error {
				list, _, err := p.Versions(t.Context(), c.ID, canon.Page{Limit: 9})
				if err != nil {
					return err
				}
				if way == "undo" {
					return p.Undo(list[0].Change)
				}
				_, err = p.RevertTo(c, list[1])
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			s.as("gm").wantContent("Baker+tags", "[[guild]]")
			s.as("gm").wantAbsent("Zq Is The Killer")
			s.wantRebuilt()
		})
	}
}

func TestAnUndoneRenameStaysBelowItsParent(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Inn", "")
	s.as("user").create("Inn+sign", "a swan")
	s.as("admin").rename("Inn", "Tavern")
	s.as("admin").rename("Tavern+sign", "Tavern+shield")
	err := s.as("admin").on("Tavern+shield", func(p *canon.Plan, c canon.Card) error {
		list, _, err := p.Versions(t.Context(), c.ID, canon.Page{Limit: 9})
		if err != nil {
			return err
		}
		return p.Undo(list[0].Change)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.as("user").wantContent("Tavern+sign", "a swan")
	s.as("user").wantAbsent("Inn")
}

// A parent that is created for a new card is visible to nobody who may not see that card.
func TestCreatedParentIsAsHiddenAsItsChild(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Rent Quay", "wet stone")
	s.as("gm").create("Rent Quay+He murdered his brother+GM", "with a rope")
	s.as("user").wantAbsent("Rent Quay+He murdered his brother")
	s.as("gm").wantContent("Rent Quay+He murdered his brother", "")

	s.as("gm").create("A plot+by night+AI+more", "x")
	s.as("user").wantAbsent("A plot")
	s.as("user").wantAbsent("A plot+by night")

	s.as("gm").createAt(access.LevelGM, "Alice alone+knows+this", "x", "alice")
	s.as("user").wantAbsent("Alice alone")
	s.as("alice").wantContent("Alice alone+knows", "")

	s.as("gm").create("Loose+GM", "x")
	s.as("gm").rename("Loose+GM", "Renamed into a secret+GM")
	s.as("user").wantAbsent("Renamed into a secret")

	// An existing parent stays as it is, and a parent of a card for everyone is for everyone.
	s.as("user").wantContent("Rent Quay", "wet stone")
	s.as("user").create("Open+door", "x")
	s.as("user").wantContent("Open", "")
	// A created parent becomes visible together with the cards above it.
	s.as("gm").createAt(access.LevelGM, "Den", "x")
	s.as("gm").create("Den+room+bed", "x")
	s.as("user").wantAbsent("Den+room")
	s.as("gm").label("Den", access.LevelUser)
	s.as("user").wantContent("Den+room+bed", "x")
	s.wantRebuilt()
}

// A refusal does not mention names that are hidden from the caller.
func TestRefusalDoesNotRevealHiddenNames(t *testing.T) {
	s := newScene(t)
	s.as("user").create("Inn", "")
	s.as("admin").createAt(access.LevelAdmin, "Inn+Zq "+strings.Repeat("x", 200), "x")
	err := s.as("gm").on("Inn", func(p *canon.Plan, c canon.Card) error {
		_, err := p.Rename(c, strings.Repeat("long ", 30))
		return err
	})
	if !errors.Is(err, fault.Rule) || strings.Contains(err.Error(), "Zq") {
		t.Errorf("a refused rename says %v", err)
	}
}
