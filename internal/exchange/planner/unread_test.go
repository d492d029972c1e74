package planner

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

// TestTypesWithoutParts imports cards of types whose texts have no parts, with marks and without: those with a mark are
// hidden, and asked about if it only looks secret.
func TestTypesWithoutParts(t *testing.T) {
	for _, typ := range []string{"Pointer", "List", "Phrase", "Number", "Search", "Nest list", "Toggle", "URI"} {
		for text, hides := range map[string]bool{"%%WORD%%": true, "a %%WORD": true, "[secret]WORD[/secret]": true,
			"<span class=\"secret\">WORD</span>": true, "<!-- WORD -->": true, "[[Town]]\n[[WORD #gm-only]]": true,
			"<p class=\"gm-ish\">WORD</p>": true, "[[WORD]]": false} {
			s := exchangetest.NewOn(t, memory.New())
			line, _ := json.Marshal(map[string]any{"name": "Card", "type": typ, "content": text})
			said := s.Import(ImportDecko, exchangetest.Files(map[string]string{"deck.ndjson": string(line)}),
				exchange.Options{Label: "x"}).String()
			got, all := s.See("user", "Card"), strings.Join(s.Listing("gm"), "\n")
			if strings.Contains(got, "WORD") == hides && (hides || typ == "Pointer" || typ == "List") {
				t.Errorf("%s %q: players read %q", typ, text, got)
			}
			if !strings.Contains(all, "WORD") && !strings.Contains(said, "left out") {
				t.Errorf("%s %q: the text is lost: %s", typ, text, said)
			}
		}
	}
}
