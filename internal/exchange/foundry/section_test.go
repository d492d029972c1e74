package foundry

import (
	"strings"
	"testing"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
)

// TestNamedPagesHide imports pages and journals whose names look secret, and that their world shows to all.
func TestNamedPagesHide(t *testing.T) {
	page := func(name, text string) string {
		return `{"_id": "p` + name + `", "name": "` + name + `", "type": "text", "ownership": {"default": -1}, ` +
			`"text": {"content": "<p>` + text + `</p>"}}`
	}
	journal := func(id, name string, pages ...string) string {
		return `{"_id": "` + id + `", "name": "` + name + `", "ownership": {"default": 2}, "pages": [` +
			strings.Join(pages, ", ") + "]}\n"
	}
	files := exchangetest.Files(map[string]string{"world.json": `{"id": "w"}`, "data/journal.db": journal("j1", "Weir",
		page("Seen", "SEEN"), page("GM notes", "EXACT"), page("The secret duke", "ASKED")) +
		journal("j2", "Mill", page("For the GM", "EXACT")) + journal("j3", "Hidden plots", page("One", "ASKED")) +
		strings.ReplaceAll(`{"_id": "j4", "name": "Inn", "ownership": {"default": 2}, "pages": [{"_id": "x", "name": "Inn",
			"type": "mod.npc", "ownership": {"default": -1}, "system": {"Behind the DM screen": "ASKED", "looks": "SEEN"}}]}`,
			"\n", " ")})
	see := func(open ...string) (string, string) {
		s := scene(t)
		sum := s.Import(Import, files, exchange.Options{Label: "x", Open: open})
		return strings.Join(s.Listing("user"), "\n"), sum.String()
	}
	seen, sum := see()
	if strings.Contains(seen, "EXACT") || strings.Contains(seen, "ASKED") || strings.Count(seen, "SEEN") != 2 {
		t.Errorf("players see %s", seen)
	}
	for _, said := range []string{`heading "GM notes"`, `heading "The secret duke"`, `heading "For the GM"`, `name "hidden"`,
		`heading "Behind the DM screen"`} {
		if !strings.Contains(sum, said) {
			t.Errorf("%s is missing from\n%s", said, sum)
		}
	}
	seen, _ = see("The secret duke", "name: hidden", "Behind the DM screen")
	if strings.Count(seen, "ASKED") != 3 || strings.Contains(seen, "EXACT") {
		t.Errorf("opened, players see %s", seen)
	}
}
