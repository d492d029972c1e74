package table

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/exchange/graph"
	"loregate/internal/exchange/lorebook"
	"loregate/internal/store/memory"
)

// TestAnOldExportOpensNothing hides a card, a part and a field after a game master's export, and imports the export
// again into the same world.
func TestAnOldExportOpensNothing(t *testing.T) {
	for format, f := range map[string]struct {
		file   string
		export func(*testing.T, *exchangetest.Scene, string)
		read   exchangetest.Importer
	}{
		"csv": {"old.csv", func(t *testing.T, s *exchangetest.Scene, name string) {
			if _, err := Export(t.Context(), s.Canon, s.As("gm"), name); err != nil {
				t.Fatal(err)
			}
		}, Import},
		"lines": {"old.jsonl", func(t *testing.T, s *exchangetest.Scene, name string) {
			if _, err := Export(t.Context(), s.Canon, s.As("gm"), name); err != nil {
				t.Fatal(err)
			}
		}, Import},
		"graph": {"old.jsonl", func(t *testing.T, s *exchangetest.Scene, name string) {
			if _, err := graph.Export(t.Context(), s.Canon, s.As("gm"), name); err != nil {
				t.Fatal(err)
			}
		}, graph.Import},
		"lorebook": {"old", func(t *testing.T, s *exchangetest.Scene, name string) {
			if _, err := lorebook.Export(t.Context(), s.Canon, s.As("gm"), name); err != nil {
				t.Fatal(err)
			}
		}, lorebook.Import},
	} {
		t.Run(format, func(t *testing.T) {
			s := exchangetest.NewOn(t, memory.New())
			s.Create(canon.NewCard{Name: "Mill", Content: "<p>WORDA.</p>"})
			s.Create(canon.NewCard{Name: "Quay", Content: "<p>A quay.</p>\n<p>The WORDB.</p>"})
			s.Create(canon.NewCard{Name: "Inn", Content: "<p>An inn.</p>", Fields: []byte(`{"owner":"WORDC"}`)})
			s.Create(canon.NewCard{Name: "Ford", Content: "<p>A ford. The heir of the old duke, WORDD, hides here.</p>"})
			s.Create(canon.NewCard{Name: "Road", Content: "<p>A road, OPEN.</p>"})
			name := filepath.Join(t.TempDir(), f.file)
			f.export(t, s, name)
			s.Edit("Mill", func(p *canon.Plan, c canon.Card) error {
				_, err := p.SetLabel(c, access.NewLabel(access.LevelGM))
				return err
			})
			s.Edit("Quay", func(p *canon.Plan, c canon.Card) error {
				_, err := p.HideText(c, []string{"The WORDB."}, false)
				return err
			})
			s.Edit("Inn", func(p *canon.Plan, c canon.Card) error {
				_, err := p.Update(c, canon.Edit{Fields: []byte(`{"owner":"WORDC"}`), HideFields: []string{"owner"}})
				return err
			})
			s.Edit("Ford", func(p *canon.Plan, c canon.Card) error {
				hidden, err := p.SetLabel(c, access.NewLabel(access.LevelGM))
				if err == nil {
					_, err = p.RenameImported(hidden, "Former Ford")
				}
				return err
			})
			if got := strings.Join(s.Listing("user"), "\n"); strings.Contains(got, "WORD") {
				t.Fatalf("players read %s", got)
			}
			dir, o := filepath.Dir(name), exchange.Options{Label: "x"}
			if format == "lorebook" {
				dir, o.Open = name, []string{"entries of lorebooks"}
			}
			said := s.Import(f.read, os.DirFS(dir), o).String()
			got := strings.Join(s.Listing("user"), "\n")
			for _, word := range []string{"WORDA", "WORDB", "WORDC", "WORDD"} {
				if strings.Contains(got, word) {
					t.Errorf("players read %s of %s\n%s", word, got, said)
				}
			}
			if !strings.Contains(got, "OPEN") {
				t.Errorf("the open text is lost: %s", got)
			}
		})
	}
}
