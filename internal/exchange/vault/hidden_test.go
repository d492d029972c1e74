package vault

import (
	"maps"
	"strings"
	"testing"

	"loregate/internal/exchange"
)

// TestHiddenTextThatMovesInAVaultStaysHidden edits a vault in another program: text of hidden notes and fields comes to
// stand elsewhere, without a mark.
func TestHiddenTextThatMovesInAVaultStaysHidden(t *testing.T) {
	const confession, plan = "I was the boy who came back up.", "the tower stands on a sunken barge"
	first := map[string]string{
		"Inn.md":               "An inn.\n",
		"Confession.md":        "---\nlevel: gm\n---\n" + confession + "\n",
		"Bell.md":              "---\ngm notes: a drowned abbot\nsecrets: [" + plan + "]\n---\nA bell.\n",
		"Secret Place/Cave.md": "The crack grows by a hand each year.\n",
	}
	for what, edit := range map[string]func(map[string]string){
		"renamed keys": func(v map[string]string) {
			v["Bell.md"] = strings.NewReplacer("gm notes", "notes", "secrets", "lore").Replace(v["Bell.md"])
		},
		"a copy of a hidden note": func(v map[string]string) { v["Inn.md"] += "\n" + confession + "\n" },
		"text of a hidden note that is gone": func(v map[string]string) {
			delete(v, "Confession.md")
			v["New.md"] = "New.\n\n" + confession + "\n"
		},
		"a copy of a field":           func(v map[string]string) { v["Inn.md"] += "\nThey say: " + plan + ".\n" },
		"a copy from a hidden folder": func(v map[string]string) { v["Inn.md"] += "\nThe crack grows by a hand each year.\n" },
		"a field with it":             func(v map[string]string) { v["Inn.md"] = "---\nabout: " + confession + "\n---\nAn inn.\n" },
	} {
		t.Run(what, func(t *testing.T) {
			s, notes, o := newScene(t), maps.Clone(first), Options{Options: exchange.Options{Label: "v"}}
			s.importAs("gm", notes, o)
			edit(notes)
			sum := s.importAs("gm", notes, o)
			for _, name := range []string{"Inn", "Bell", "New", "Confession", "Cave"} {
				c, text, _ := s.Content("user", name)
				for _, hidden := range []string{"came back up", "drowned abbot", "sunken barge", "the crack", "The crack"} {
					if strings.Contains(text+string(c.Fields), hidden) {
						t.Errorf("players read %q, %s in %s\n%s", text, c.Fields, name, sum)
					}
				}
			}
			if !strings.Contains(s.See("user", "Inn"), "An inn") || s.See("user", "Bell") == "-" {
				t.Errorf("players do not read the rest: %s", sum)
			}
		})
	}
}
