package prooftest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/app"
	"loregate/internal/canon"
)

// TestAPurgedTextIsInNoFileOfTheIndex checks the files of the index after a purge, both while
// the process that purged runs and after it has ended. An earlier process wrote the text.
func TestAPurgedTextIsInNoFileOfTheIndex(t *testing.T) {
	onEachStore(t, func(t *testing.T, on string) {
		c := configOn(t, on)
		index := filepath.Join(c.Data, map[string]string{"embedded": app.StoreFile + "-search", "postgres": "search"}[on])
		asked := func(s *stage, want string) {
			t.Helper()
			out := fmt.Sprint(s.do(keeper, "search_cards", map[string]any{"q": want, "search_in": "content"}))
			if !strings.Contains(out, "Diary") {
				t.Fatalf("%s is not found: %s", want, out)
			}
		}
		withApp(t, c, func(a *app.App) {
			w, err := a.CreateWorld(t.Context(), canon.NewWorld{Slug: "old"})
			if err != nil {
				t.Fatal(err)
			}
			s := &stage{t: t, app: a, world: w.ID}
			s.do(keeper, "create_card", map[string]any{"name": "Diary", "content": "unspeakable"})
			asked(s, "unspeakable")
		})
		if !filesContain(t, index, "unspeakable") {
			t.Fatal("the text is in no file to begin with")
		}
		withApp(t, c, func(a *app.App) {
			w, err := a.Canon.Worlds(t.Context())
			if err != nil || len(w) != 1 {
				t.Fatal(w, err)
			}
			s := &stage{t: t, app: a, world: w[0].ID}
			s.do(keeper, "update_card", map[string]any{"name": "Diary", "content": "clean"})
			if err := a.Purge(t.Context(), "old", "Diary", 1); err != nil {
				t.Fatal(err)
			}
			if filesContain(t, index, "unspeakable") {
				t.Error("after the purge a file holds the text")
			}
			asked(s, "clean")
		})
		if filesContain(t, index, "unspeakable") || !filesContain(t, index, "clean") {
			t.Error("after the process ended the files hold the text, or not the new one")
		}
		withApp(t, c, func(a *app.App) {
			w, err := a.Canon.Worlds(t.Context())
			if err != nil || len(w) != 1 {
				t.Fatal(w, err)
			}
			if err := a.Purge(t.Context(), "old", "Diary", 2); err != nil { // the version that is shown
				t.Fatal(err)
			}
			s := &stage{t: t, app: a, world: w[0].ID}
			out := fmt.Sprint(s.do(keeper, "search_cards", map[string]any{"q": "clean", "search_in": "content"}))
			if strings.Contains(out, "Diary") {
				t.Errorf("an erased text is found: %s", out)
			}
		})
		if filesContain(t, index, "clean") {
			t.Error("after the purge of the current version a file holds its text")
		}
	})
}

// filesContain reports whether a file below a folder contains a word.
func filesContain(t *testing.T, dir, word string) (found bool) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		found = found || bytes.Contains(b, []byte(word))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}
