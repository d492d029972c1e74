package native

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/fault"
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

// TestSourcesAreBounded reads a source that is too long together with those that were read before, and one
// that is broken.
func TestSourcesAreBounded(t *testing.T) {
	s := newScene(t)
	source := &Source{Loregate: 1, Notes: map[canon.CardID]*Origin{{1}: {File: File{Path: "A.md"}, Head: strings.Repeat("a", 5000)}}}
	sheet, err := source.Sheet("", access.LevelGM)
	if err != nil {
		t.Fatal(err)
	}
	w := &exchange.Writer{Canon: s.Canon, Grant: s.As("gm"), Summary: &exchange.Summary{}}
	if err := w.WriteSheet(t.Context(), sheet); err != nil {
		t.Fatal(err)
	}
	load := func(r *SourceReader) error {
		c, _, ok := s.Content("gm", "Vault source")
		if !ok {
			t.Fatal("there is no source")
		}
		return s.Canon.Read(t.Context(), s.As("gm"), func(l *canon.Snapshot) error {
			_, err := r.Load(t.Context(), l, c)
			return err
		})
	}
	r := &SourceReader{used: maxSource - 6000}
	if err := load(r); err != nil {
		t.Error(err)
	}
	if err := load(r); fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), "Vault source") {
		t.Errorf("two sources: %v", err)
	}
	s.Edit("Vault source", func(p *canon.Plan, c canon.Card) error {
		_, err := p.Update(c, canon.Edit{File: []byte("no gzip")})
		return err
	})
	if err := load(&SourceReader{}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a broken source: %v", err)
	}
	source.Notes[canon.CardID{1}].Head = strings.Repeat("a", maxSource)
	if _, err := source.Sheet("", access.LevelGM); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("a source that could not be read again: %v", err)
	}
}

// A source of very many small entries, which no import wrote, is refused before it fills the memory.
func TestEntriesOfSourcesAreBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"notes":{`)
	for i := range maxEntries + 1 {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(`"` + canon.CardID{byte(i >> 16), byte(i >> 8), byte(i)}.String() + `":null`)
	}
	text.WriteString("}}")
	r, s := &SourceReader{}, &Source{Notes: map[canon.CardID]*Origin{}}
	if err := r.decode(s, json.NewDecoder(strings.NewReader(text.String()))); err == nil || r.entries != maxEntries+1 || len(s.Notes) > maxEntries {
		t.Errorf("%d entries: %v", r.entries, err)
	}
}
