package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/native"
)

// TestACutOffImportGoesOn stops an import after its first commit. An export then gives back what came in and
// leaves the other files alone, and the next import brings the rest and keeps a change made meanwhile.
func TestACutOffImportGoesOn(t *testing.T) {
	files := writtenVault()
	for i := range 300 {
		files[fmt.Sprintf("Many/Note %d.md", i)] = fmt.Sprintf("---\nn: %d\ntags: [a]\n---\nNote %d.\n\n%%%%why%%%%\n", i, i)
	}
	dir := writeVault(t, files)
	s := newScene(t)
	o := Options{Options: exchange.Options{Label: "v"}}

	ctx, cancel := context.WithCancel(t.Context())
	cut := o
	cut.Progress = func(int, int) { cancel() }
	if _, err := Import(ctx, s.Canon, s.As("admin"), os.DirFS(dir), cut); !errors.Is(err, context.Canceled) {
		t.Fatalf("the import was not cut off: %v", err)
	}
	if n := len(s.Listing("admin")); n < 100 || n > 400 {
		t.Fatalf("%d cards came in", n)
	}
	s.export("gm", dir)
	wantFiles(t, dir, files)
	expected := s.source("v")
	if !expected.Begun {
		t.Error("the memory does not say that the import has not ended")
	}

	var edited string
	for i := range 300 {
		if c, _, ok := s.Content("gm", fmt.Sprintf("Note %d", i)); ok {
			edited = c.Name
		}
	}
	s.Edit(edited, func(p *canon.Plan, c canon.Card) error {
		now, err := p.Text(c)
		if err != nil {
			return err
		}
		now = strings.Replace(now, "Note", "Changed", 1)
		_, err = p.Update(c, canon.Edit{Content: &now})
		return err
	})
	for _, p := range s.importDir("admin", dir, o).Problems {
		if p.File == "Many/"+edited+".md" {
			t.Error(p)
		}
	}
	files["Many/"+edited+".md"] = strings.Replace(files["Many/"+edited+".md"], "Note", "Changed", 1)
	s.export("gm", dir)
	wantFiles(t, dir, files)

	source := s.source("v")
	if source.Begun {
		t.Error("the memory says that the import has not ended")
	}
	for id, is := range source.Cards {
		was, ok := expected.Cards[id]
		if was.Parts == (exchange.Memory{}).Parts { // of hidden parts that are not known beforehand
			is.Parts = was.Parts
		}
		if ok && fmt.Sprint(was) != fmt.Sprint(is) {
			t.Errorf("of the card %s %v was expected, it is %v", id, was, is)
		}
	}
}

// source returns the memory of an import.
func (s *scene) source(label string) (m *native.Source) {
	s.T.Helper()
	err := s.Canon.Read(s.T.Context(), s.As("admin"), func(l *canon.Snapshot) error {
		c, _, err := l.ByID(s.T.Context(), native.SourceID(label))
		if err != nil {
			return err
		}
		m, err = new(native.SourceReader).Load(s.T.Context(), l, c)
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return m
}
