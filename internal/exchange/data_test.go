package exchange

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/sample"
)

// data is a folder of real data beside the repository; the test is skipped without it.
func data(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no real data: ../shared/data/%s is not beside the repository", name)
	}
	return dir
}

func (s *scene) importDir(who, dir string, o MarkdownOptions) Summary {
	s.t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	defer root.Close()
	if o.Label == "" {
		o.Label = filepath.Base(dir)
	}
	sum, err := ImportMarkdown(s.t.Context(), s.canon, s.as(who), root.FS(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	return sum
}

func (s *scene) importSample() Summary {
	s.t.Helper()
	sum, err := ImportMarkdown(s.t.Context(), s.canon, s.as("admin"), sample.Files(), MarkdownOptions{Label: "sample", Native: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return sum
}

// content reads a card as somebody; ok is false where they see none.
func (s *scene) content(who, name string) (c canon.Card, text string, ok bool) {
	s.t.Helper()
	err := s.canon.Look(s.t.Context(), s.as(who), func(l *canon.Look) (err error) {
		if c, ok, err = l.Exists(s.t.Context(), name); err == nil && ok {
			text, err = l.Content(s.t.Context(), c)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return c, text, ok
}

func TestRealVaults(t *testing.T) {
	for _, tc := range []struct {
		vault            string
		level            access.Level
		cards, problems  int // at least, at most
		named, in, found string
	}{
		{"obsi-forge-apedia", access.LevelUser, 403, 40, "", "", ""},
		{"cairn-srd", access.LevelUser, 262, 250, "", "", ""},
		{"thellade-slice", access.LevelGM, 80, 30, "", "", ""},
	} {
		t.Run(tc.vault, func(t *testing.T) {
			dir := data(t, tc.vault)
			s := newStoredScene(t)
			first := s.importDir("admin", dir, MarkdownOptions{Level: tc.level})
			t.Log(first)
			again := s.importDir("admin", dir, MarkdownOptions{Level: tc.level})
			if again.Created != 0 || again.Updated != 0 || again.Unchanged != first.Created {
				t.Errorf("importing again: %s", firstLine(again))
			}
			if first.Created < tc.cards || len(first.Problems) > tc.problems {
				t.Errorf("%s, %d problems", firstLine(first), len(first.Problems))
			}
		})
	}
}

func firstLine(s Summary) string {
	line, _, _ := strings.Cut(s.String(), "\n")
	return line
}

func TestTheSampleWorldLoads(t *testing.T) {
	s := newStoredScene(t)
	sum := s.importSample()
	for _, p := range sum.Problems {
		t.Error(p)
	}
	t.Log(firstLine(sum))
	again := s.importSample()
	if again.Created != 0 || again.Updated != 0 {
		t.Errorf("importing again: %s", again)
	}
}
