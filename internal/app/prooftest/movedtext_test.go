package prooftest

import (
	"path"
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
		"into front matter": {"Inn.md": without, "Mill.md": "---\nplan: The cellar has a ghost WORD.\n---\nThe mill.\n"},
		"into a list of front matter": {"Inn.md": without, "Mill.md": "---\nplans:\n  - One.\n  - It turns. The cellar has a " +
			"ghost WORD!\n---\nThe mill.\n"},
		"into the name of a note": {"Inn.md": without, "The cellar has a ghost WORD.md": "WORD\n", "Mill.md": "The mill.\n"},
		"into the name of a folder": {"Inn.md": without, "The cellar has a ghost WORD/Den.md": "WORD\n",
			"Mill.md": "The mill.\n"},
		"into the name of a file": {"Inn.md": without, "The cellar has a ghost WORD.png": "\x89PNG\r\n\x1a\nx",
			"Mill.md": "The mill. ![[The cellar has a ghost WORD.png]]\n"},
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
			read := func(who string) (all string) { // the cards with their fields, and the names of all
				paths := []string{"/api/mcp/cards?limit=100"}
				for file := range after {
					note := &planted{name: strings.TrimSuffix(path.Base(file), ".md")}
					paths = append(paths, x.at(note)+"?full=true&format=markdown")
				}
				for _, p := range paths {
					if got := x.send(who, request{operation: "read", method: "GET", path: p}); got.status == 200 {
						all += got.body
					}
				}
				return all
			}
			if got := read("bob"); strings.Contains(got, "WORD") || !strings.Contains(got, "The mill.") {
				t.Errorf("players read %s", got)
			}
			if got := read("gm"); !strings.Contains(got, "WORD") {
				t.Errorf("the game master reads %s", got)
			}
		})
	}
}
