package vault

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
)

// TestAVaultIsKnownAgain imports a vault under other names of its folder.
func TestAVaultIsKnownAgain(t *testing.T) {
	notes := map[string]string{"a/Mill.md": "The mill %%s%%\n", "Inn.md": "An inn\n", "Quay.md": "The quay\n"}
	named := func(label string) Options { return Options{Options: exchange.Options{Label: label}} }
	for _, tc := range []struct {
		name  string
		again func(t *testing.T, s *scene) exchange.Summary
	}{
		{"another folder", func(t *testing.T, s *scene) exchange.Summary {
			return s.importAs("admin", notes, named("copy"))
		}},
		{"another folder, one note edited", func(t *testing.T, s *scene) exchange.Summary {
			edited := map[string]string{"a/Mill.md": notes["a/Mill.md"], "Inn.md": "An inn\n", "Quay.md": "A pier\n"}
			return s.importAs("admin", edited, named("copy"))
		}},
		{"an export", func(t *testing.T, s *scene) exchange.Summary {
			dir := t.TempDir()
			s.export("gm", dir)
			for name := range notes { // only the file of the export tells
				text := "all new\n" + name
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			return s.importDir("admin", dir, named("download"))
		}},
		{"a name that is given", func(t *testing.T, s *scene) exchange.Summary {
			o := named("copy")
			o.Vault = "v"
			return s.importAs("admin", map[string]string{"Inn.md": "new\n"}, o)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene(t)
			s.importAs("admin", notes, named("v"))
			before := len(s.Listing("admin"))
			if sum := tc.again(t, s); sum.Created > 0 || len(s.Listing("admin")) != before {
				t.Errorf("%d things were there, now\n%s\n%s", before, strings.Join(s.Listing("admin"), "\n"), sum)
			}
		})
	}
	t.Run("another vault in a folder of that name", func(t *testing.T) {
		s := newScene(t)
		s.importAs("admin", notes, named("v"))
		if sum := s.importAs("admin", map[string]string{"Else.md": "x\n"}, named("v")); sum.Created != 1 ||
			strings.Contains(sum.String(), "Gone") {
			t.Error(sum)
		}
	})
}

// TestTwoVaultsBecomeOne exports a world with two vaults into one folder, which is one vault from then on.
func TestTwoVaultsBecomeOne(t *testing.T) {
	s := newScene(t)
	s.importAs("admin", map[string]string{"Mill.md": "The mill\n"}, Options{Options: exchange.Options{Label: "a"}})
	s.importAs("admin", map[string]string{"Inn.md": "The inn\n"}, Options{Options: exchange.Options{Label: "b"}})
	dir := t.TempDir()
	s.export("gm", dir)
	for range 2 {
		if sum := s.importDir("admin", dir, Options{Options: exchange.Options{Label: "c"}}); sum.Created+sum.Updated > 0 ||
			len(sum.Problems) > 0 || strings.Contains(sum.String(), "Gone") {
			t.Error(sum)
		}
	}
}

// TestRenamedNotesAreFollowed renames notes of a vault, also together with an edit.
func TestRenamedNotesAreFollowed(t *testing.T) {
	s := newScene(t)
	label := Options{Options: exchange.Options{Label: "v"}}
	mill := "It stands by the river.\n\nThe miller is old.\n\nNobody goes there.\n"
	s.importAs("admin", map[string]string{"Mill.md": mill, "Inn.md": "An inn [[Mill]]\n", "Quay.md": "A quay\n"}, label)
	s.Edit("Quay", func(p *canon.Plan, c canon.Card) error { _, err := p.Rename(c, "Pier"); return err })
	sum := s.importAs("admin", map[string]string{"x/Old Mill.md": mill + "\nBut today.\n", "Inn.md": "An inn [[Old Mill]]\n",
		"Harbour.md": "A quay\n"}, label)
	s.WantSees(map[string]string{"user Old Mill": "RichText user " + mill + "\nBut today.\n",
		"user Pier":    "RichText user A quay\n",
		"user Harbour": "-"})
	if sum.Created > 0 || strings.Contains(sum.String(), "Gone") {
		t.Error(sum)
	}
	if got := s.Versions("user", "Old Mill"); len(got) < 2 {
		t.Errorf("versions: %q", got)
	}
}

// TestDecisionsLast checks that decisions about a vault outlast its next imports.
func TestDecisionsLast(t *testing.T) {
	notes := map[string]string{"GM/Plot.md": "The plot.\n", "Mill.md": "A mill.\n\n## The secret garden\n\nThe heir.\n",
		"Duke.md": "---\nsecret: true\n---\nThe duke.\n"}
	with := func(open, confirm []string) Options {
		return Options{Options: exchange.Options{Label: "v"}, Open: open, Confirm: confirm}
	}
	s := newScene(t)
	first := s.importAs("admin", notes, with(nil, nil))
	var what string
	for _, h := range first.Hides {
		if h.Doubt && h.Parts > 0 {
			what = h.What
		}
	}
	if what == "" {
		t.Fatalf("nothing is asked: %s", first)
	}
	s.WantSees(map[string]string{"user Mill": "RichText user A mill.\n", "user Plot": "-", "user Duke": "-"})

	s.importAs("admin", notes, with([]string{what, "GM"}, nil))
	open := map[string]string{"user Mill": "RichText user A mill.\n\n## The secret garden\n\nThe heir.\n",
		"user Plot": "RichText user The plot.\n"}
	s.WantSees(open)
	if again := s.importAs("admin", notes, with(nil, nil)); !strings.Contains(again.String(), "--open: "+what+", GM") ||
		again.Updated > 0 {
		t.Error(again)
	}
	s.WantSees(open)

	notes["GM/Plot.md"] = "The plot goes on.\n"
	s.importAs("admin", notes, with(nil, []string{"GM"}))
	s.WantSees(map[string]string{"user Plot": "-", "user Mill": open["user Mill"]})

	// Opened here: the new text of the note waits.
	s.Edit("Duke", func(p *canon.Plan, c canon.Card) error {
		_, err := p.SetLabel(c, access.NewLabel(access.LevelUser))
		return err
	})
	s.importAs("admin", notes, with(nil, nil))
	s.WantSees(map[string]string{"user Duke": "RichText user The duke.\n"})
	notes["Duke.md"] = "---\nsecret: true\n---\nThe duke is dead.\n"
	sum := s.importAs("admin", notes, with(nil, nil))
	s.WantSees(map[string]string{"user Duke": "RichText user The duke.\n",
		"gm Duke+GM+Conflict": "RichText gm The duke is dead.\n"})
	if !strings.Contains(sum.String(), "Duke.md") {
		t.Error(sum)
	}
}
