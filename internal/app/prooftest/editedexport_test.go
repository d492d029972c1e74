package prooftest

import (
	"path/filepath"
	"strings"
	"testing"

	"loregate/internal/access"
)

// TestAnExportIsEditedAndComesBack checks that a vault whose cards were changed here can be exported, edited by another
// program and imported again without a conflict, and that a change made here after the export is one.
func TestAnExportIsEditedAndComesBack(t *testing.T) {
	t.Parallel()
	x := newWeave(t, "embedded", 1, false)
	vault := map[string]string{"Quay.md": "The quay is old.\n\n%%A WORD hides.%%\n", "Mill.md": "The mill turns.\n",
		"Road.md": "The road is long.\n\n%%A ROAD hides.%%\n"}
	if err := x.importOne("vault.zip", zipOf(t, vault)); err != nil {
		t.Fatal(err)
	}
	card := func(name string) *planted { return &planted{name: name, mark: exactMark{form: inMarkdown}} }
	swap := func(name, from, to string) {
		t.Helper()
		err := x.swap("gm", card(name), func(text string) string { return strings.Replace(text, from, to, 1) })
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Quay", "Mill", "Road"} {
		swap(name, "The ", "Today the ")
	}
	swap("Quay", "WORD", "SENTENCE")
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := x.app.Export(t.Context(), "markdown", "lendwater", dir, access.RoleGM, nil); err != nil {
		t.Fatal(err)
	}
	files := filesBelow(t, dir)
	files["Quay.md"] = strings.Replace(files["Quay.md"], "is old", "is very old", 1)
	files["Road.md"] = strings.Replace(files["Road.md"], "is long", "is very long", 1)
	swap("Road", "is long", "is short") // after the export
	if err := x.importOne("out.zip", zipOf(t, files)); err != nil {
		t.Fatal(err)
	}
	if got := x.textAs("gm", card("Quay")); got != "Today the quay is very old.\n\n%%A SENTENCE hides.%%\n" {
		t.Errorf("Quay: %q", got)
	}
	if got := x.textAs("bob", card("Quay")); strings.Contains(got, "SENTENCE") || !strings.Contains(got, "very old") {
		t.Errorf("players read %q", got)
	}
	if got := x.textAs("gm", card("Road")); !strings.Contains(got, "is short") {
		t.Errorf("a change after the export is gone: %q", got)
	}
	beside := func(name string) bool { return x.card(card(name+"+GM+Conflict")) != nil }
	if beside("Quay") || beside("Mill") || !beside("Road") {
		t.Errorf("conflicts: Quay %v, Mill %v, Road %v", beside("Quay"), beside("Mill"), beside("Road"))
	}
}
