package vault

import (
	"slices"
	"strings"
	"testing"

	"loregate/internal/exchange/exchangetest"
)

// TestLinksReachTheirNotes resolves links as Obsidian does. A case is a vault of paths, the file with the link, the
// link, and the path of the note that it means; "" is none, and two paths with "?" are a question.
func TestLinksReachTheirNotes(t *testing.T) {
	const ab = "A/Tavern.md B/Tavern.md A/Inn.md C/Road.md"
	nfc, nfd := "Caf\u00e9.md", "Cafe\u0301.md"
	for _, tc := range []struct{ vault, from, link, want string }{
		// A path from the top of the vault, whole or in part, with a label, a heading or a block.
		{ab, "C/Road.md", "[[A/Tavern]]", "A/Tavern.md"}, {ab, "C/Road.md", "[[B/Tavern|other]]", "B/Tavern.md"},
		{ab, "C/Road.md", "[[B/Tavern.md#Part|other]]", "B/Tavern.md"}, {ab, "C/Road.md", "![[B/Tavern#^block]]", "B/Tavern.md"},
		{ab, "C/Road.md", "[[b/TAVERN]]", "B/Tavern.md"}, {ab, "C/Road.md", "[[/B/Tavern]]", "B/Tavern.md"},
		{ab, "C/Road.md", "| a | [[B/Tavern\\|x]] |", "B/Tavern.md"},
		{"x/y/Tavern.md x/z/Tavern.md C/Road.md", "C/Road.md", "[[z/Tavern]]", "x/z/Tavern.md"},
		{"B/Tavern.md A/B/Tavern.md A/Inn.md", "A/Inn.md", "[[B/Tavern]]", "B/Tavern.md"},
		// A path from the note's folder, written as Markdown writes it.
		{ab, "C/Road.md", "[text](../B/Tavern.md#Part)", "B/Tavern.md"}, {ab, "A/Inn.md", "[text](Tavern.md)", "A/Tavern.md"},
		{ab, "A/Inn.md", "[text](./Tavern.md)", "A/Tavern.md"}, {ab, "A/Inn.md", "[text](../B/Tavern.md \"title\")", "B/Tavern.md"},
		{"B/My Tavern.md C/Road.md", "C/Road.md", "[x](../B/My%20Tavern.md)", "B/My Tavern.md"},
		{"B/My Tavern.md C/Road.md", "C/Road.md", "[x](<../B/My Tavern.md#Part One>)", "B/My Tavern.md"},
		{"B/Tavern (old).md C/Road.md", "C/Road.md", "[x](../B/Tavern%20(old).md)", "B/Tavern (old).md"},
		{ab, "C/Road.md", "[[../A/Tavern]]", "A/Tavern.md"}, {ab, "C/Road.md", "[[../D/Tavern]]", ""},
		// A short link: the note's folder, then the shortest path, then the user.
		{ab, "A/Inn.md", "[[Tavern]]", "A/Tavern.md"}, {ab, "B/Tavern.md", "[[Tavern]]", "B/Tavern.md"},
		{"Tavern.md " + ab, "C/Road.md", "[[Tavern]]", "Tavern.md"}, {"Tavern.md " + ab, "A/Inn.md", "[[Tavern]]", "A/Tavern.md"},
		{"A/x/Tavern.md B/Tavern.md C/Road.md", "C/Road.md", "[[Tavern]]", "B/Tavern.md"},
		{"Aa/Tavern.md B/Tavern.md C/Road.md", "C/Road.md", "[[Tavern]]", "B/Tavern.md"},
		{ab, "C/Road.md", "[[Tavern]]", "A/Tavern.md?B/Tavern.md"}, {ab, "C/Road.md", "[[Cellar]]", ""},
		{ab, "C/Road.md", "[[#Part]]", "C/Road.md"}, {ab, "C/Road.md", "[[Inn#Part|x]]", "A/Inn.md"},
		// Twins: notes whose paths differ in case or in the form of accents alone.
		{"Inn.md inn.md C/Road.md", "C/Road.md", "[[inn]]", "inn.md"}, {"Inn.md inn.md C/Road.md", "C/Road.md", "[[Inn]]", "Inn.md"},
		{nfc + " " + nfd + " C/Road.md", "C/Road.md", "[[" + strings.TrimSuffix(nfc, ".md") + "]]", nfc},
		{nfc + " " + nfd + " C/Road.md", "C/Road.md", "[[" + strings.TrimSuffix(nfd, ".md") + "]]", nfd},
		{"A/" + nfd + " C/Road.md", "C/Road.md", "[[" + strings.TrimSuffix(nfc, ".md") + "]]", "A/" + nfd},
		{"A/inn.md B/Inn.md C/Road.md", "C/Road.md", "[[Inn]]", "B/Inn.md"},
		{"A/inn.md A/Inn.md B/x.md", "B/x.md", "[[A/Inn]]", "A/Inn.md"}, {"A/inn.md A/Inn.md B/x.md", "B/x.md", "[x](../A/Inn.md)", "A/Inn.md"},
	} {
		files := map[string]string{}
		for _, p := range strings.Split(strings.ReplaceAll(tc.vault, "My Tavern", "My_Tavern"), " ") {
			files[strings.ReplaceAll(p, "_", " ")] = "x"
		}
		if strings.Contains(tc.vault, "(old)") {
			files = map[string]string{"B/Tavern (old).md": "x", "C/Road.md": "x"}
		}
		v := newTestVault(t, exchangetest.Files(files))
		if err := v.indexNotes(); err != nil {
			t.Fatal(err)
		}
		from := v.notes[slices.IndexFunc(v.notes, func(n *note) bool { return n.Path == tc.from })]
		got := ""
		for _, r := range v.referencesIn(from, tc.link) {
			if r.to != nil {
				got = r.to.Path
			}
		}
		for _, a := range v.asked {
			got += "?" + strings.Join(a.Others, "?")
		}
		if got != tc.want {
			t.Errorf("%s: %s in %s reaches %q, want %q", tc.vault, tc.link, tc.from, got, tc.want)
		}
	}
}
