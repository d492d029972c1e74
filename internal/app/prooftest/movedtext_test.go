package prooftest

import (
	"strings"
	"testing"
)

// TestHiddenTextThatMovesInAVault hides a sentence here, and moves it at the source into another note, which is
// imported: it stays hidden.
func TestHiddenTextThatMovesInAVault(t *testing.T) {
	t.Parallel()
	inn := "# Inn\n\nThe inn is old and stands at the ford.\n\nThe cellar has a ghost WORD.\n\n" +
		"The roof leaks since spring.\n"
	without := strings.Replace(inn, "The cellar has a ghost WORD.\n\n", "", 1)
	for name, after := range map[string]map[string]string{
		"renamed and edited": {"Tavern.md": strings.Replace(inn, "leaks", "leaks badly", 1), "Mill.md": "The mill.\n"},
		"split": {"Inn.md": without, "Cellar.md": "# Cellar\n\nThe cellar has a ghost WORD.\n",
			"Mill.md": "The mill.\n"},
		"merged": {"Inn.md": without, "Mill.md": "The mill. The cellar has a ghost WORD. It turns.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newWeave(t, "embedded", 1, false)
			err := x.importOne("vault.zip", zipOf(t, map[string]string{"Inn.md": inn, "Mill.md": "The mill.\n"}))
			if err != nil {
				t.Fatal(err)
			}
			c := &planted{name: "Inn", mark: exactMark{form: inMarkdown}}
			err = x.rest("gm", "POST", x.at(c)+"/hide", fields{"text": list("The cellar has a ghost WORD.")}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.importOne("vault.zip", zipOf(t, after)); err != nil {
				t.Fatal(err)
			}
			masters := ""
			for file := range after {
				note := &planted{name: strings.TrimSuffix(file, ".md"), mark: exactMark{form: inMarkdown}}
				if got := x.textAs("bob", note); strings.Contains(got, "WORD") {
					t.Errorf("players read in %s: %q", file, got)
				}
				masters += x.textAs("gm", note)
			}
			if !strings.Contains(masters, "WORD") {
				t.Errorf("the game master reads %q", masters)
			}
		})
	}
}
