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

// TestMarksInAnEditedExport writes secrets into the notes of an export, in marks that hide nothing there or that only
// look secret, and imports them: players read none of them.
func TestMarksInAnEditedExport(t *testing.T) {
	t.Parallel()
	x := newWeave(t, "embedded", 1, false)
	for _, n := range []fields{{"name": "Page", "content": "<p>Open <sub>x</sub></p><table class=\"a\"><tr><td>b</td></tr></table>"},
		{"name": "Rumours", "type": "List", "content": "The bridge is old"},
		{"name": "Plain", "type": "PlainText", "content": "The bridge is old."},
		{"name": "Bare", "type": "HTML", "content": "<p>The bridge is old.</p>"},
		{"name": "Written", "content": "The bridge is old.\n", "text_format": "markdown", "format": "markdown"}} {
		if err := x.rest("gm", "POST", "/api/mcp/cards", n, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, secret := range []string{"\n%%WORD%%\n", "\n> [!secret] a\n> WORD\n", "\n## GM notes\n\nWORD\n", "\nGM notes: WORD\n",
		"\n**GM notes:** WORD\n", "\nSecret: WORD\n", "\n<p class=\"secret\">WORD</p>\n", "\n```ad-secret\nWORD\n```\n",
		"\n!!! secret\n    WORD\n", "\n<details><summary>Secret</summary>WORD</details>\n",
		"\n| a | GM notes |\n|---|---|\n| b | WORD |\n"} {
		dir := filepath.Join(t.TempDir(), "out")
		if _, err := x.app.Export(t.Context(), "markdown", "lendwater", dir, access.RoleGM, nil); err != nil {
			t.Fatal(err)
		}
		files := filesBelow(t, dir)
		for _, name := range []string{"Page.md", "Rumours.md", "Plain.md", "Bare.md", "Written.md"} {
			if files[name] == "" {
				t.Fatal(name)
			}
			files[name] += strings.ReplaceAll(secret, "WORD", "WORD"+itoa(i))
		}
		if err := x.importOne("out"+itoa(i)+".zip", zipOf(t, files)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Page", "Rumours", "Plain", "Bare", "Written"} {
			if name == "Bare" && strings.Contains(secret, "|---|") {
				continue // text of Markdown in a page of HTML that is no card's text
			}
			if got := x.textAs("bob", &planted{name: name}); strings.Contains(got, "WORD") {
				t.Errorf("%q in %s: players read %q", secret, name, got)
			}
		}
	}
}
