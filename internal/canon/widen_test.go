package canon_test

import (
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// TestARenameShowsNothing renames cards away from a hidden card above, a name that hides, and subjects.
func TestARenameShowsNothing(t *testing.T) {
	s := newScene(t)
	gm, user := s.as("gm"), s.as("user")
	gm.createAt(access.LevelGM, "Plot", "x")
	gm.create("Plot+Spy", "the miller")
	gm.create("Plot+Spy+Letter", "to the duke")
	gm.create("Mill+GM", "a cellar")
	s.as("admin").createAt(access.LevelGM, "Ada", "hers", "ada")
	s.as("admin").create("Ada+Diary", "dear diary")
	texts := map[string]string{"Miller": "the miller", "Cellar": "a cellar", "Diary": "dear diary"}
	for from, to := range map[string]string{"Plot+Spy": "Miller", "Mill+GM": "Cellar", "Ada+Diary": "Diary"} {
		if err := s.as("admin").on(from, func(p *canon.Plan, c canon.Card) error {
			_, err := p.Rename(c, to)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		user.wantAbsent(to)
		s.as("admin").wantContent(to, texts[to])
	}
	user.wantAbsent("Miller+Letter")
	s.as("ada").wantContent("Diary", "dear diary")
	gm.wantContent("Miller", "the miller")
	gm.label("Miller", access.LevelUser)
	user.wantContent("Miller+Letter", "to the duke")
	s.wantRebuilt()
}

// TestUndoShowsNothingWrittenSince undoes the hiding of a card: cards made or changed below it while it was hidden stay
// so, the others are seen again.
func TestUndoShowsNothingWrittenSince(t *testing.T) {
	for name, hide := range map[string]func(*canon.Plan, canon.Card) error{
		"by a level": func(p *canon.Plan, c canon.Card) error {
			_, err := p.SetLabel(c, access.NewLabel(access.LevelGM))
			return err
		},
		"by a name": func(p *canon.Plan, c canon.Card) error {
			_, err := p.Rename(c, "Notes+GM")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			user, admin := s.as("user"), s.as("admin")
			admin.create("Inn", "beer")
			admin.create("Inn+Cellar", "barrels")
			admin.create("Inn+Attic", "dust")
			at := ""
			change := admin.must(func(p *canon.Plan) error {
				c, err := p.Card("Inn")
				if err == nil {
					err = hide(p, c)
				}
				return err
			}).Change
			user.wantAbsent("Inn")
			if at = "Inn"; name == "by a name" {
				at = "Notes+GM"
			}
			admin.edit(at+"+Cellar", "a body")
			admin.create(at+"+Cellar+Trapdoor", "locked")
			admin.must(func(p *canon.Plan) error { return p.Undo(change) })
			user.wantContent("Inn", "beer")
			user.wantContent("Inn+Attic", "dust")
			user.wantAbsent("Inn+Cellar")
			user.wantAbsent("Inn+Cellar+Trapdoor")
			admin.wantContent("Inn+Cellar", "a body")
			s.wantRebuilt()
		})
	}
}
