package exchange_test

import (
	"bytes"
	"context"
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
	"loregate/internal/exchange/table"
	"loregate/internal/store/memory"
)

// TestHiddenFieldsStayHidden exports cards with hidden fields and imports them into another world: players read none of
// them, and game masters read those that the export has not named as left out.
func TestHiddenFieldsStayHidden(t *testing.T) {
	formats := importers()
	type exporter = func(context.Context, *canon.Canon, access.Grant, string) (exchange.Summary, error)
	for name, export := range map[string]exporter{
		"table.csv": table.Export, "table.jsonl": table.Export, "memory.jsonl": graph.Export, "lorebook": lorebook.Export,
		"character": func(ctx context.Context, c *canon.Canon, g access.Grant, dir string) (exchange.Summary, error) {
			return lorebook.ExportCharacters(ctx, c, g, dir, lorebook.SpecV3)
		},
	} {
		from, to := exchangetest.NewOn(t, memory.New()), exchangetest.NewOn(t, memory.New())
		for _, n := range []canon.NewCard{
			{Name: "Ann", Content: "<p>SEEN rows.</p>"},
			{Name: "Ben", Content: "<p>SEEN <span class=\"secret\">HID1</span> reads.</p>"},
			{Name: "Cid", Content: "<p>SEEN sings.</p>", Label: labelOf(access.LevelGM)},
		} {
			n.Type, n.Fields = "Character", []byte(`{"mood": "HID2", "plan": ["HID3", "HID4"], "debt": 12345678, "deed": `+
				`{"HID5": "HID6"}, "end": "HID7\n\nHID8"}`)
			n.Fields = bytes.ReplaceAll(n.Fields, []byte("HID"), []byte("HID"+n.Name))
			if n.Name == "Ann" {
				n.Fields = bytes.Replace(n.Fields, []byte("HIDAnn8"), []byte("[/secret] [/gm] --> HIDAnn8"), 1)
			}
			n.HideFields = []string{"mood", "plan", "debt", "deed", "end"}
			from.Create(n)
		}
		from.Edit("Ann+GM", func(p *canon.Plan, c canon.Card) error {
			_, err := p.Update(c, canon.Edit{Fields: []byte(`{"rank": "HID10", "card": {"HID11": "HID12"}}`)})
			return err
		})
		out := filepath.Join(t.TempDir(), name)
		sum, err := export(t.Context(), from.Canon, from.As("gm"), out)
		if err != nil {
			t.Fatal(err)
		}
		files := os.DirFS(out)
		if info, err := os.Stat(out); err == nil && !info.IsDir() {
			files = os.DirFS(filepath.Dir(out))
		}
		format, _, _ := strings.Cut(name, ".")
		to.Import(formats[format], files, exchange.Options{Label: "x", Open: map[bool][]string{
			true: {"entries of lorebooks"}}[format == "lorebook"]})
		players, all := strings.Join(to.Listing("user"), "\n"), strings.Join(to.Listing("gm"), "\n")
		if strings.Contains(players, "HID") || strings.Contains(players, "12345678") || !strings.Contains(players, "SEEN") {
			t.Errorf("%s: players read\n%s", name, players)
		}
		for _, card := range []string{"Ann", "Ben", "Cid"} {
			for _, n := range "2345678" {
				if word := "HID" + card + string(n); !strings.Contains(all, word) &&
					(card != "Ann" || !strings.Contains(sum.String(), "Ann: its hidden")) {
					t.Errorf("%s: %s is lost, and the export says\n%s\ngame masters read\n%s", name, word, sum, all)
				}
			}
		}
	}
}

func labelOf(l access.Level) *access.Label {
	label := access.NewLabel(l)
	return &label
}
