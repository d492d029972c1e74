package record_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// importRecord imports one record.
func (s *scene) importRecord(o exchange.Options, r record.Card) exchange.Summary {
	s.T.Helper()
	return s.Import(func(ctx context.Context, c *canon.Canon, g access.Grant, _ fs.FS, o exchange.Options) (exchange.Summary,
		error) {
		return record.Import(ctx, c, g, "test", o, func(src *record.Source) error {
			_, err := src.Add(ctx, r)
			return err
		})
	}, fstest.MapFS{}, o)
}

// TestHiddenTextStandsInPlace imports hidden parts of a text in each form: game masters read them where they stand.
func TestHiddenTextStandsInPlace(t *testing.T) {
	for _, tc := range []struct {
		name        string
		form        record.Form
		text        []record.Block
		seen, whole string
	}{
		{"HTML", record.HTML, []record.Block{{Text: `<p>Busy.</p><p class="secret">HID</p><p>Fish <!-- HID --> here.</p>`}},
			"<p>Busy.</p><p>Fish here.</p>", `<p>Busy.</p><p class="secret">HID</p><p>Fish <!-- HID --> here.</p>`},
		{"blocks", record.HTML, []record.Block{{Text: "<p>Busy.</p>"}, {Head: "<h2>Plot</h2>", Text: "<p>HID</p>", GM: true},
			{Head: "<h2>Trade</h2>", Text: "<p>Fish.</p>"}}, "<p>Busy.</p><h2>Trade</h2><p>Fish.</p>",
			"<p>Busy.</p><h2>Plot</h2><p>HID</p><h2>Trade</h2><p>Fish.</p>"},
		{"Markdown", record.Markdown, record.Text("Busy.\n\n> [!secret] HID\n> HID\n\nFish.\n"), "<p>Busy.</p><p>Fish.</p>",
			"<p>Busy.</p>\n<div class=\"secret\">\n<blockquote>"},
		{"a list", record.Markdown, record.Text("- one\n- two %%HID%%\n- three\n"),
			"<ul><li>one</li><li>two</li><li>three</li></ul>", "</ul>\n<!-- HID -->"},
		{"plain", record.Plain, record.Text("Busy.", "[gm]HID[/gm]", "Fish."), "<p>Busy.</p><p>Fish.</p>",
			"<p>Busy.</p>\n<p>[gm]HID"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene(t)
			r := record.Card{Key: []string{"1"}, File: "f", Name: "Weir", Form: tc.form, Text: tc.text}
			if sum := s.importRecord(exchange.Options{}, r); sum.Hidden != 1 {
				t.Errorf("the summary counts %d cards with hidden parts", sum.Hidden)
			}
			_, seen, _ := s.Content("user", "Weir")
			_, whole, _ := s.Content("gm", "Weir")
			if strings.NewReplacer("\n", "", "  ", " ").Replace(seen) != tc.seen {
				t.Errorf("players read %q, want %q", seen, tc.seen)
			}
			if !strings.Contains(whole, tc.whole) || !strings.Contains(whole, "HID") {
				t.Errorf("game masters read %q, want %q in it", whole, tc.whole)
			}
			before := s.See("gm", "Weir+GM")
			if sum := s.importRecord(exchange.Options{}, r); sum.Updated > 0 || s.See("gm", "Weir+GM") != before {
				t.Errorf("another import changes the card: %v, %s", sum, s.See("gm", "Weir+GM"))
			}
		})
	}
}

// TestAnOpenedImportKeepsItsSecrets opens a card that was imported for game masters: what its source hides stays
// hidden, also without a mark.
func TestAnOpenedImportKeepsItsSecrets(t *testing.T) {
	s := newScene(t)
	s.importRecord(exchange.Options{Level: access.LevelGM}, record.Card{Key: []string{"1"}, File: "f", Name: "Weir",
		Text: []record.Block{{Text: "<p>Busy.</p>"}, {Text: "<p>HID</p>", GM: true}, {Text: "<p>Fish.</p>"}}})
	s.WantSees(map[string]string{"user Weir": "-"})
	s.Edit("Weir", func(p *canon.Plan, c canon.Card) error {
		_, err := p.SetLabel(c, access.NewLabel(access.LevelUser))
		return err
	})
	if _, text, _ := s.Content("user", "Weir"); text != "<p>Busy.</p><p>Fish.</p>" {
		t.Errorf("players read %q", text)
	}
}
