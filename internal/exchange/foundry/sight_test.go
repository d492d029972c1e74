package foundry

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
)

// TestReportedMarks imports the small worlds with marks and with unidentified items.
func TestReportedMarks(t *testing.T) {
	s := scene(t)
	dir := exchangetest.RealData(t, "reported")
	s.Import(Import, os.DirFS(dir+"/01-foundry-gm-marks/world"), exchange.Options{Label: "a"})
	s.WantSees(map[string]string{"user Hall": "Document user <p>open</p>\n"})
	s.Import(Import, os.DirFS(dir+"/02-foundry-unidentified/world"), exchange.Options{Label: "b"})
	players, all := strings.Join(s.Listing("user"), "\n"), strings.Join(s.Listing("gm"), "\n")
	for _, hidden := range []string{"HID", "Demon", "Teeth", "bites", "Known Bad"} {
		if strings.Contains(players, hidden) || !strings.Contains(all, hidden) {
			t.Errorf("players read %q, or it is lost:\n%s\n%s", hidden, players, all)
		}
	}
	for _, seen := range []string{"Rusty Sword", "Strange Cloak"} {
		if !strings.Contains(players, seen) {
			t.Errorf("players do not read %q:\n%s", seen, players)
		}
	}
}

// oneLine joins the lines of each document.
func oneLine(documents string) string { return strings.ReplaceAll(documents, "\n\t", " ") }

// TestUnidentifiedItems imports items as players see them, in the forms of several systems.
func TestUnidentifiedItems(t *testing.T) {
	item := func(id, system string) string {
		return `{"_id": "` + id + `", "name": "True ` + id + `", "type": "weapon", "img": "true.webp", "ownership": {"default": 2}, "system": ` +
			system + "}\n"
	}
	s := scene(t)
	s.Import(Import, exchangetest.Files(map[string]string{"world.json": `{"id": "w"}`, "true.webp": "x", "plain.webp": "y",
		"data/items.db": oneLine(item("I1", `{"identified": false, "unidentified": {"name": "Blade", "description": "<p>Dull.</p>"},
			"description": {"value": "<p>TRUE text</p>"}, "rarity": "TRUE rarity"}`) +
			item("I2", `{"identification": {"status": "misidentified", "misidentified": {"name": "Cloak", "img": "plain.webp",
			"data": {"description": {"value": "<p>Grey.</p>"}}}, "identified": {"name": "TRUE"}}}`) +
			item("I3", `{"identified": false, "unidentified": {"name": "Ring"}, "description": {"unidentified": "<p>Old.</p>", "value": "TRUE"}}`) +
			item("I4", `{"identified": true, "unidentified": {"name": "Rod"}}`) + item("I5", `{"identified": false}`)),
		"data/actors.db": oneLine(`{"_id": "A1", "name": "Mira", "type": "npc", "ownership": {"default": 2}, "system": {"details": {"biography": {"value":
			"Has @UUID[Item.I1]."}}}, "items": [` + strings.TrimSpace(item("K1", `{"identified": false, "unidentified": {"name": "Knife"}}`)) + `,
			` + strings.TrimSpace(item("K2", `{"identified": false}`)) + `]}`)}), exchange.Options{Label: "x"})
	s.WantSees(map[string]string{"user Blade": "Item user <p>Dull.</p>\n", "user Cloak": "Item user <p>Grey.</p>\n",
		"user Ring": "Item user <p>Old.</p>\n", "user True I4": "Item user ", "user True I5": "-", "gm True I5": "Item gm ",
		"user Blade+picture": "-", "user Mira": "Creature user Has [[Blade]].\n<h2>Items</h2>\n<ul><li>Knife</li></ul>\n"})
	if _, _, ok := s.Content("user", "Cloak+picture"); !ok {
		t.Error("players do not see the picture of an item as it looks to them")
	}
	players, all := strings.Join(s.Listing("user"), "\n"), strings.Join(s.Listing("gm"), "\n")
	for _, hidden := range []string{"True I1", "True I2", "True I3", "True I5", "TRUE", "True K1", "True K2"} {
		if strings.Contains(players, hidden) || !strings.Contains(all, hidden) {
			t.Errorf("players read %q, or it is lost:\n%s", hidden, players)
		}
	}
}

// TestWaysToSayUnidentified imports items whose systems write the field in other ways than true and false.
func TestWaysToSayUnidentified(t *testing.T) {
	items := ""
	for i, v := range []string{`"false"`, "0", "null", `"no"`, `{"value": false}`, `""`, "{}", `"FALSE"`} {
		items += fmt.Sprintf(`{"_id": "H%d", "name": "True %d", "type": "weapon", "ownership": {"default": 2}, "system": {"identified": %s,
			"description": {"value": "True text"}}}`+"\n", i, i, v)
	}
	for i, v := range []string{"true", `"true"`, "1", `{"value": true}`} {
		items += fmt.Sprintf(`{"_id": "S%d", "name": "Seen %d", "type": "weapon", "ownership": {"default": 2}, "system": {"identified": %s}}`+"\n",
			i, i, v)
	}
	s := scene(t)
	s.Import(Import, exchangetest.Files(map[string]string{"world.json": `{"id": "w"}`,
		"data/items.db": strings.ReplaceAll(items, ",\n\t\t\t", ", ")}), exchange.Options{Label: "x"})
	players, all := strings.Join(s.Listing("user"), "\n"), strings.Join(s.Listing("gm"), "\n")
	if strings.Contains(players, "True") || strings.Count(players, "Seen") < 4 || strings.Count(all, "True text") < 8 {
		t.Errorf("players read\n%s\nof\n%s", players, all)
	}
}

// TestOwnOwnershipBeatsOpen opens documents whose readers are not known. What they hide themselves stays hidden.
func TestOwnOwnershipBeatsOpen(t *testing.T) {
	journal := `{"_id": "J1", "name": "Hall", "ownership": {"default": 0}, "pages": [
		{"_id": "P1", "name": "Seen", "ownership": {"default": -1}, "text": {"content": "Open."}},
		{"_id": "P2", "name": "Kept", "ownership": {"default": 0}, "text": {"content": "KEPT"}},
		{"_id": "P3", "name": "Named", "ownership": {"default": 1}, "text": {"content": "KEPT"}}]}`
	for name, tc := range map[string]struct{ files map[string]string }{
		"an exported journal": {map[string]string{"fvtt-JournalEntry-hall-J1.json": journal}},
		"a pack for players": {map[string]string{"module.json": `{"packs": [{"name": "x", "path": "packs/x.db", "ownership": {"PLAYER": "OBSERVER"}}]}`,
			"packs/x.db": strings.ReplaceAll(journal, "\n", " ")}},
	} {
		s := scene(t)
		var open []string
		if name != "a pack for players" {
			open = []string{ruleUnknown}
		}
		s.Import(Import, exchangetest.Files(tc.files), exchange.Options{Label: "x", Open: open})
		if players := strings.Join(s.Listing("user"), "\n"); strings.Contains(players,
			"KEPT") || !strings.Contains(players, "Open.") ||
			strings.Contains(players, "Kept") {
			t.Errorf("%s: players read\n%s", name, players)
		}
	}
	s := scene(t)
	sum := s.Import(Import, exchangetest.Files(map[string]string{"world.json": `{"id": "w"}`,
		"data/items.db": `{"_id": "I1", "name": "Salt", "ownership": {"default": 2, "u1": 0}, "type": "item", "img": "", "system": {}}`}),
		exchange.Options{Label: "x"})
	if players := s.Listing("user"); len(players) > 0 || !strings.Contains(sum.String(), "kept from single users") {
		t.Errorf("an item that is kept from a user is seen: %v\n%s", players, sum)
	}
}

// TestPagesInMarkdown imports a page that Foundry keeps as Markdown. Its marks are read before it is converted.
func TestPagesInMarkdown(t *testing.T) {
	s := scene(t)
	marks := []string{"<section class=\"secret\">KEPT</section>", "<p hidden>KEPT</p>", "> [!secret] t\n> KEPT", "%% KEPT %%",
		"<secret>KEPT</secret>", "<span style=\"display:none\">KEPT</span>", "<p data-visibility=\"gm\">KEPT</p>", "<!-- KEPT -->",
		"::: secret\nKEPT\n:::", "## GM notes\n\nKEPT"}
	text, err := json.Marshal("Open **text**.\n\n" + strings.Join(marks, "\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Import(Import, exchangetest.Files(map[string]string{"world.json": `{"id": "w"}`,
		"data/journal.db": oneLine(`{"_id": "J1", "name": "Chronicle", "ownership": {"default": 2}, "pages": [{"_id": "P1", "name": "Page",
			"type": "text", "ownership": {"default": -1}, "text": {"format": 2, "content": "", "markdown": ` + string(text) + `}}]}`)}),
		exchange.Options{Label: "x"})
	players, all := strings.Join(s.Listing("user"), "\n"), strings.Join(s.Listing("gm"), "\n")
	if strings.Contains(players, "KEPT") || !strings.Contains(players, "strong") {
		t.Errorf("players read\n%s", players)
	}
	if n := strings.Count(all, "KEPT"); n < len(marks) {
		t.Errorf("%d of %d hidden texts are kept:\n%s", n, len(marks), all)
	}
}
