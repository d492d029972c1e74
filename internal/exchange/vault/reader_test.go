package vault

import (
	"strings"
	"testing"

	"loregate/internal/exchange"
)

// TestNamesOfReaders imports notes that name the people who read them, in both dialects.
func TestNamesOfReaders(t *testing.T) {
	const all, one, none = "user alice gm", "alice gm", "gm"
	for _, tc := range []struct{ meta, seen string }{
		{"subjects: [alice]", one}, {"players: Alice", one}, {"visible_to: [gm, alice]", one}, {"Visible To: " +
			"'[[alice]]'", one},
		{"players: [alice, Ghost]", none}, {"subjects: Ghost", none}, {"players: [Ghost, Shade]", none},
		{"players: [alice]\nsecret: true", none}, {"players: all", all}, {"players: 4", all}, {"visible_to: everyone", all},
		{"visible_to: gm", none}, {"players: false", none},
	} {
		for _, native := range []string{"", "loregate: 1\nname: N\n"} {
			if native != "" && strings.Contains(tc.meta, "secret") {
				continue
			}
			s := newScene(t)
			s.AddMember("alice")
			s.importAs("admin", map[string]string{"N.md": "---\n" + native + tc.meta + "\n---\nTEXT %%HID%%"}, Options{})
			for _, who := range []string{"user", "alice", "bob", "gm"} {
				got := strings.Join(s.Listing(who), "\n")
				want := strings.Contains(tc.seen, who) || who == "bob" && strings.Contains(tc.seen, "user")
				if strings.Contains(got, "TEXT") != want || strings.Contains(got, "HID") != (who == "gm") {
					t.Errorf("%q %q: %s sees\n%s", native, tc.meta, who, got)
				}
			}
		}
	}
}

// TestHandwrittenNotesHide checks that the marks of front matter hide a note in our own dialect too.
func TestHandwrittenNotesHide(t *testing.T) {
	s := newScene(t)
	s.importAs("admin", map[string]string{
		"A.md": "---\nloregate: 1\nname: A\nvisibility: gm\n---\nHID", "B.md": "---\nloregate: 1\nname: B\npublish: " +
			"false\n---\nHID",
		"C.md": "---\nloregate: 1\nname: C\ngm notes: HID\nrace: SEEN\n---\nSEEN",
		"D.md": "---\nloregate: 1\nname: D\nsubjects: [alice]\n---\nHID",
	}, Options{Options: exchange.Options{Label: "v"}})
	players, all := strings.Join(s.Listing("user"), "\n"), strings.Join(s.Listing("gm"), "\n")
	if strings.Contains(players, "HID") || strings.Count(players, "SEEN") != 2 || strings.Count(all, "HID") != 4 {
		t.Errorf("players read\n%s\nthe GM\n%s", players, all)
	}
}
