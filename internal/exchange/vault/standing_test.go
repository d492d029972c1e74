package vault

import (
	"maps"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
)

// TestAnOpenedNoteIsDecidedAbout opens a note of a vault that came in for the game master. Later imports tell how its
// parts stand, and decide about them.
func TestAnOpenedNoteIsDecidedAbout(t *testing.T) {
	notes := map[string]string{"Mill.md": "A mill.\n\n## The secret garden\n\nThe heir.\n\n## Wheel\n\nTurns. %%exact%%\n",
		"Quay.md": "A quay.\n\n## Hidden cave\n\nGold.\n"}
	for name, level := range map[string]access.Level{"for the GM": access.LevelGM, "for all": access.LevelUser} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			o := Options{Options: exchange.Options{Label: "v", Level: access.LevelGM}}
			s.importAs("gm", notes, o)
			s.Edit("Mill", func(p *canon.Plan, c canon.Card) error {
				_, err := p.SetLabel(c, access.NewLabel(access.LevelUser))
				return err
			})
			o.Level = level
			want := func(when string, open bool, o Options) {
				t.Helper()
				said := s.importAs("gm", notes, o).String()
				left := strings.Contains(said, `heading "The secret garden" in Mill.md`)
				hidden := strings.Contains(said, `  heading "The secret garden"`)
				if left != (open && len(o.Open) == 0) || hidden == open || !strings.Contains(said, `comment "%%": 1`) {
					t.Errorf("%s: %s", when, said)
				}
				text := s.See("user", "Mill")
				if strings.Contains(text, "The heir.") != open || !strings.Contains(text, "Turns.") ||
					strings.Contains(text, "exact") || s.See("user", "Quay") != "-" {
					t.Errorf("%s: players read %q and %q", when, text, s.See("user", "Quay"))
				}
			}
			want("as before", true, o)
			o.Confirm = []string{"The secret garden"}
			want("confirmed", false, o)
			o.Confirm = nil
			want("after that", false, o)
			o.Open = []string{"The secret garden"}
			want("opened", true, o)
		})
	}
	t.Run("the note", func(t *testing.T) {
		s := newScene(t)
		o := Options{Options: exchange.Options{Label: "v"}}
		notes := map[string]string{"GM/Plot.md": "The plot.\n", "Inn.md": "An inn.\n"}
		s.importAs("gm", notes, o)
		s.Edit("Plot", func(p *canon.Plan, c canon.Card) error {
			_, err := p.SetLabel(c, access.NewLabel(access.LevelUser))
			return err
		})
		if said := s.importAs("gm", notes, o).String(); strings.Contains(said, "please confirm") ||
			!strings.Contains(said, `folder "GM" in GM/Plot.md`) || s.See("user", "Plot") == "-" {
			t.Error(said)
		}
		o.Confirm = []string{"GM"}
		if said := s.importAs("gm", notes, o).String(); s.See("user", "Plot") != "-" || strings.Contains(said, "stay open") {
			t.Error(said)
		}
	})
}

// TestOpeningANoteLeavesItsParts opens a note by its mark or its name: the parts in it that look secret stay
// hidden, and are asked about.
func TestOpeningANoteLeavesItsParts(t *testing.T) {
	notes := map[string]string{"Secret Ford.md": "A ford.\n\nSecret: WYRM waits.\n\n## A secret stair\n\nGOLD\n"}
	with := func(open ...string) Options {
		return Options{Options: exchange.Options{Label: "v"}, Open: open}
	}
	for _, by := range []string{"secret", "Secret Ford"} {
		for _, first := range []bool{true, false} {
			s := newScene(t)
			if first {
				s.importAs("gm", notes, with())
			}
			sum := s.importAs("gm", notes, with(by)).String()
			got := s.See("user", "Secret Ford")
			if !strings.Contains(got, "A ford") || strings.Contains(got, "WYRM") || strings.Contains(got, "GOLD") {
				t.Errorf("opened by %q: players read %q", by, got)
			}
			if !strings.Contains(sum, `label "Secret"`) || !strings.Contains(sum, `heading "A secret stair"`) {
				t.Errorf("opened by %q: not asked: %s", by, sum)
			}
			s.importAs("gm", notes, with("label Secret", "A secret stair"))
			if got := s.See("user", "Secret Ford"); !strings.Contains(got, "WYRM") || !strings.Contains(got, "GOLD") {
				t.Errorf("opened by %q, then its parts: players read %q", by, got)
			}
		}
	}
}

// TestADecisionHoldsForItsNotes opens marks of a vault. Notes and parts that come later with the same marks are asked
// about.
func TestADecisionHoldsForItsNotes(t *testing.T) {
	first := map[string]string{"Hidden/Cave.md": "Dry.\n",
		"Mill.md": "A mill.\n\n## The secret garden\n\nThe heir.\n\n## Wheel\n\nTurns.\n", "Inn.md": "An inn. #dmstuff\n", "Quay.md": "A quay ![[t.csv]]\n", "t.csv": "name,gm notes\nFish,plan\n"}
	opened := []string{"folder: Hidden", "The secret garden", "#dmstuff", "attached file"}
	with := func(open, confirm []string) Options {
		return Options{Options: exchange.Options{Label: "v"}, Open: open, Confirm: confirm}
	}
	for _, tc := range []struct {
		name, file, text string
		open, shut       map[string]string // a word of each card's text
	}{
		{"a note in the folder", "Hidden/Lair.md", "WYRM.\n", map[string]string{"Cave": "Dry"},
			map[string]string{"Lair": "WYRM"}},
		{"an opened note is edited", "Hidden/Cave.md", "Dry and WIDE.\n", map[string]string{"Cave": "WIDE"}, nil},
		{"a note with the tag", "Lair.md", "WYRM #dmstuff\n", map[string]string{"Inn": "An inn"}, map[string]string{"Lair": "WYRM"}},
		{"the tag in a note that was there", "Mill.md", first["Mill.md"] + "\nWYRM #dmstuff\n", nil, map[string]string{"Mill": "WYRM"}},
		{"a note with the heading", "Lair.md", "A lair.\n\n## The secret garden\n\nWYRM\n",
			map[string]string{"Mill": "The heir"}, map[string]string{"Lair": "WYRM"}},
		{"the heading in a note that was there", "Inn.md", "An inn. #dmstuff\n\n## The secret garden\n\nWYRM\n",
			map[string]string{"Mill": "The heir", "Inn": "An inn"}, map[string]string{"Inn": "WYRM"}},
		{"more below the heading", "Mill.md", strings.Replace(first["Mill.md"], "## Wheel", "WYRM\n\n## Wheel", 1),
			map[string]string{"Mill": "The heir"}, map[string]string{"Mill": "WYRM"}},
		{"elsewhere in the note", "Mill.md", first["Mill.md"] + "\nWIDE\n", map[string]string{"Mill": "The heir"}, nil},
		{"a changed file", "t.csv", "name,gm notes\nFish,WYRM\n", nil, map[string]string{"t.csv": "WYRM"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, notes := newScene(t), maps.Clone(first)
			s.importAs("gm", notes, with(opened, nil))
			for _, name := range []string{"Cave", "Mill", "Inn", "Quay", "t.csv"} {
				if s.See("user", name) == "-" {
					t.Fatalf("%s is hidden at first", name)
				}
			}
			if again := s.importAs("gm", notes, with(nil, nil)); again.Updated+len(again.Hides) > 0 {
				t.Fatalf("again: %s", again)
			}
			notes[tc.file] = tc.text
			check := func(when string, sum exchange.Summary, isOpen bool) {
				t.Helper()
				for name, word := range tc.open {
					if got := s.See("user", name); !strings.Contains(got, word) {
						t.Errorf("%s: players read %q in %s, and not %s", when, got, name, word)
					}
				}
				for name, word := range tc.shut {
					got := s.See("user", name)
					all := s.See("gm", name) + s.See("gm", name+"+GM")
					if strings.Contains(got, word) != isOpen || !strings.Contains(all, word) {
						t.Errorf("%s: players read %q in %s", when, got, name)
					}
				}
				if asks := strings.Contains(sum.String(), "Hidden, please confirm"); asks != (len(tc.shut) > 0 && !isOpen) ||
					strings.Contains(sum.String(), "Conflict") {
					t.Errorf("%s: %s", when, sum)
				}
			}
			check("later", s.importAs("gm", notes, with(nil, nil)), false)
			check("once more", s.importAs("gm", notes, with(nil, nil)), false)
			if len(tc.shut) > 0 {
				check("opened", s.importAs("gm", notes, with(opened, nil)), true)
				check("and kept", s.importAs("gm", notes, with(nil, nil)), true)
			}
		})
	}
}
