package native

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/fault"
)

func TestExportMatchesAudience(t *testing.T) {
	s := newScene(t)
	gm, admin, alice := access.NewLabel(access.LevelGM), access.NewLabel(access.LevelAdmin),
		access.NewLabel(access.LevelGM, "alice")
	s.Create(canon.NewCard{Name: "Heir", Content: "the baker", Label: &gm})
	s.Create(canon.NewCard{Name: "Heir", Content: "nobody"})
	s.Create(canon.NewCard{Name: "End", Content: "all drown", Label: &admin})
	s.Create(canon.NewCard{Name: "Letter", Content: "for Alice", Label: &alice})
	s.Create(canon.NewCard{Name: "Town"})
	s.Create(canon.NewCard{Name: "Town+GM", Content: "plot"})
	for _, tc := range []struct {
		who         string
		as          access.Level
		has, hasNot string
		cards       int
	}{
		{"admin", access.LevelNone, "baker nobody drown Alice plot", "", 6},
		{"admin", access.LevelGM, "baker nobody Alice plot", "drown", 5},
		{"admin", access.LevelUser, "nobody", "baker drown Alice plot gm level GM", 2},
		{"gm", access.LevelUser, "nobody", "baker drown Alice plot", 2},
		{"gm", access.LevelAdmin, "baker nobody Alice plot", "drown", 5},
		{"user", access.LevelUser, "nobody", "baker drown Alice plot", 2},
		{"alice", access.LevelNone, "nobody Alice", "baker drown plot subjects", 3},
	} {
		t.Run(tc.who+" as "+tc.as.String(), func(t *testing.T) {
			dir := t.TempDir()
			grant := s.As(tc.who)
			if tc.as != access.LevelNone {
				grant = grant.As(tc.as)
			}
			sum, err := Export(t.Context(), s.Canon, grant, dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			if sum.Cards != tc.cards {
				t.Errorf("%s, want %d cards", sum, tc.cards)
			}
			all := exchangetest.FolderText(t, dir)
			for word := range strings.FieldsSeq(tc.has) {
				if !strings.Contains(all, word) {
					t.Errorf("lacks %q", word)
				}
			}
			for word := range strings.FieldsSeq(tc.hasNot) {
				if strings.Contains(all, word) {
					t.Errorf("shows %q", word)
				}
			}
		})
	}
}

func TestExportKeepsOtherFiles(t *testing.T) {
	s := newScene(t)
	s.Create(canon.NewCard{Name: "A", Content: "a"})
	s.Create(canon.NewCard{Name: "B+C", Content: "c"})
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s.export("admin", dir)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(want string) {
		t.Helper()
		_, err := Export(t.Context(), s.Canon, s.As("admin"), dir, nil)
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want a conflict over %s", err, want)
		}
	}
	write(".gitignore", "x")
	s.Edit("B", func(p *canon.Plan, c canon.Card) error { return p.Trash(c) })
	s.export("admin", dir)
	if _, err := os.Stat(filepath.Join(dir, "B")); err == nil {
		t.Error("the folder of what is gone is still there")
	}
	if _, err := os.Stat(filepath.Join(dir, ".gitignore")); err != nil {
		t.Error(err)
	}
	write("A.md", "edited")
	refused("A.md")
	if !strings.Contains(exchangetest.FolderText(t, dir), "edited") {
		t.Error("the edited file was replaced")
	}
	if err := os.Remove(filepath.Join(dir, "A.md")); err != nil {
		t.Fatal(err)
	}
	write("mine.txt", "x")
	refused("mine.txt")
}

func TestInterruptedExportCanBeRepeated(t *testing.T) {
	s := newScene(t)
	s.Create(canon.NewCard{Name: "A", Content: "a"})
	dir := t.TempDir()
	f, err := openFolder(dir, exchange.ModesFor(access.LevelUser), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.writeFile("Old/X.md", []byte("x")); err != nil {
		t.Fatal(err)
	}
	f.close()
	s.export("admin", dir)
	if got := exchangetest.FolderText(t, dir); strings.Contains(got, "Old") || strings.Contains(got, "journal") ||
		!strings.Contains(got, "=== A.md") {
		t.Errorf("%s", got)
	}
}

func TestPathsFitEveryFileSystem(t *testing.T) {
	p := pathAllocator{map[string]bool{}}
	for i, tc := range []struct{ name, want string }{
		{"A", "A"}, {"a", "a~00000001"}, {"É", "É"}, {"é", "é~00000003"}, {"A+B", "A/B"}, {"a.md+b", "a.md_/b"},
		{"CON", "_CON"}, {"nul.txt", "_nul.txt"},
		{".git", "_.git"}, {"..", "_"}, {`a:b?`, "a_b_"}, {"x. ", "x"}, {strings.Repeat("é", 200), ""},
	} {
		c := canon.Card{Name: tc.name}
		c.ID[15] = byte(i)
		got := p.notePath(c)
		if tc.want != "" && got != tc.want {
			t.Errorf("%q lies at %q, want %q", tc.name, got, tc.want)
		}
		for part := range strings.SplitSeq(got+".md", "/") {
			if len(part) > maxSegment {
				t.Errorf("%q: %d bytes", part, len(part))
			}
		}
	}
}
