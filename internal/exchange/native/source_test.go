package native

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
)

// TestForgedSourceIsHarmless exports cards with sources that no import wrote: places out of order,
// before the text and beyond it.
func TestForgedSourceIsHarmless(t *testing.T) {
	for name, parts := range map[string][]HiddenPart{
		"beyond":             {{At: 1 << 40, From: 1 << 40}, {At: 1 << 41, From: 1 << 41}},
		"before":             {{At: -4, From: -2}},
		"out of order":       {{At: 4, From: 0}, {At: 1, From: 0}},
		"parts out of order": {{At: 1, From: 5}, {At: 2, From: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			gm := access.NewLabel(access.LevelGM)
			s.Create(canon.NewCard{Name: "Town", Content: "quiet"})
			s.Create(canon.NewCard{Name: "Town+GM", Content: "sinking", Label: &gm})
			town, _, _ := s.Content("gm", "Town")
			plot, _, _ := s.Content("gm", "Town+GM")
			o := &Origin{File: File{Path: "Town.md"}, Name: "Town", Type: town.Type, Open: town.Content, Parts: parts,
				Hidden: plot.ID, Secret: plot.Content}
			forged := &Source{Loregate: 1, Notes: map[canon.CardID]*Origin{town.ID: o}}
			sheet, err := forged.Sheet("", access.LevelGM)
			if err != nil {
				t.Fatal(err)
			}
			w := &exchange.Writer{Canon: s.Canon, Grant: s.As("gm"), Summary: &exchange.Summary{}}
			if err := w.WriteSheet(t.Context(), sheet); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if _, err := Export(t.Context(), s.Canon, s.As("gm"), dir, nil); err != nil {
				t.Fatal(err)
			}
			if all := exchangetest.FolderText(t, dir); !strings.Contains(all, "quiet") || !strings.Contains(all, "sinking") {
				t.Errorf("a text is lost:\n%s", all)
			}
		})
	}
}
