package planner

import (
	"strings"
	"testing"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
)

// TestNamedSectionsHide imports parts whose names look secret, and that their program shows to all: they are hidden or
// asked about as a heading is in Markdown.
func TestNamedSectionsHide(t *testing.T) {
	text := func(words string) string {
		return prose(`{"type": "paragraph", "content": [{"type": "text", "text": "` + words + `"}]}`)
	}
	for _, tc := range []struct {
		name  string
		read  exchangetest.Importer
		files map[string]string
	}{
		{"kanka", ImportKanka, map[string]string{"campaign.json": `{"id": 7}`, "characters/mira_11.json": `{"id": 1,
			"name": "Mira", "entity": {"id": 11, "entry": "<p>SEEN</p>", "posts": [
			{"id": 1, "name": "GM notes", "entry": "<p>EXACT</p>", "visibility_id": 1},
			{"id": 2, "name": "Plans of the secret duke", "entry": "<p>ASKED</p>", "visibility_id": 1},
			{"id": 3, "name": "Youth", "entry": "<p>SEEN</p>", "visibility_id": 1}],
			"entityAttributes": [{"name": "DM notes", "value": "EXACT too"}, {"name": "Secret of the inn", "value": "ASKED too"},
			{"name": "Age", "value": "SEEN too"}]}}`}},
		{"legendkeeper", ImportLegendKeeper, map[string]string{"w.lk": `{"version": 1, "resources": [{"id": "a", "name": "Mira",
			"properties": [{"type": "TEXT_FIELD", "title": "GM notes", "data": {"fragment": ` + text("EXACT too") + `}},
			{"type": "TEXT_FIELD", "title": "Secret of the inn", "data": {"fragment": ` + text("ASKED too") + `}},
			{"type": "TEXT_FIELD", "title": "Age", "data": {"fragment": ` + text("SEEN too") + `}}],
			"documents": [{"type": "page", "name": "Main", "content": ` + text("SEEN") + `},
			{"type": "page", "name": "GM notes", "content": ` + text("EXACT") + `},
			{"type": "page", "name": "Plans of the secret duke", "content": ` + text("ASKED") + `},
			{"type": "page", "name": "Rows", "content": ` + prose(`{"type": "extension", "attrs": {
			"extensionKey": "block-key-value", "parameters": {"rows": [{"key": "DM only", "value": `+text("EXACT row")+`},
			{"key": "Secretly", "value": `+text("ASKED row")+`}, {"key": "Oars", "value": `+text("SEEN row")+`}]}}},
			{"type": "expand", "attrs": {"title": "For the GM"}, "content": [{"type": "text", "text": "EXACT fold"}]}`) +
			`}]}]}`}},
		{"decko", ImportDecko, map[string]string{"c.ndjson": strings.Join([]string{
			`{"name": "Mira", "type": "RichText", "content": "SEEN"}`,
			`{"name": "Mira+GM notes", "type": "RichText", "content": "EXACT"}`,
			`{"name": "Mira+Plans of the secret duke", "type": "RichText", "content": "ASKED and ASKED too"}`,
			`{"name": "Mira+youth", "type": "RichText", "content": "SEEN and SEEN"}`}, "\n")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			open := []string{publicEntities}
			if tc.name != "kanka" {
				open = nil
			}
			s := scene(t)
			sum := s.Import(tc.read, exchangetest.Files(tc.files), exchange.Options{Label: "x", Open: open}).String()
			seen := strings.Join(s.Listing("user"), "\n")
			if strings.Contains(seen, "EXACT") || strings.Contains(seen, "ASKED") || strings.Count(seen, "SEEN") < 3 ||
				strings.Contains(seen, "secret duke") || strings.Contains(seen, "GM notes") {
				t.Errorf("players see %s", seen)
			}
			all := strings.Join(s.Listing("gm"), "\n")
			if !strings.Contains(all, "EXACT") || !strings.Contains(all, "ASKED too") {
				t.Errorf("the GM sees %s", all)
			}
			asked, hidden, _ := strings.Cut(sum, "Hidden by marks:")
			if !strings.Contains(asked, `heading "Plans of the secret duke"`) ||
				!strings.Contains(hidden, `heading "GM notes"`) {
				t.Error(sum)
			}
			if open = append(open, "Plans of the secret duke"); strings.Contains(asked, `"Secret of the inn"`) {
				open = append(open, "Secret of the inn")
			}
			s = scene(t)
			s.Import(tc.read, exchangetest.Files(tc.files), exchange.Options{Label: "x", Open: open})
			if seen := strings.Join(s.Listing("user"), "\n"); !strings.Contains(seen, "ASKED too") ||
				strings.Count(seen, "ASKED") < 2 || strings.Contains(seen, "EXACT") {
				t.Errorf("opened, players see %s", seen)
			}
		})
	}
}
