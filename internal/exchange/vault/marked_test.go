package vault

import (
	"strings"
	"testing"
)

// TestFrontMatterWithMarksIsTheGMs marks values of front matter: players read the others alone.
func TestFrontMatterWithMarksIsTheGMs(t *testing.T) {
	for _, field := range []string{
		"motto: Seen %%HID%%", "motto: Seen <!-- HID -->", "motto: '[secret]HID[/secret]'",
		"motto: <span class=\"secret\">HID</span>", "plan: |\n  ## GM notes\n  HID", "plan: |\n  > [!secret]\n  > HID",
		"motto: 'Seen [gm:: HID]'", "list: [Seen, '%%HID%%']", "deep: {a: {b: ['%%HID%%']}}",
		"list: [{dm-notes: HID}]", "aliases: [Quay, '%%HID%%']", "tags: [town, '%%HID%%']", "tags: '#town %%HID x%%'",
		"Tags: '%%HID%%'", "'%%HID%%': Seen",
	} {
		s := newScene(t)
		s.importAs("admin", map[string]string{"Quay.md": "---\nrace: SEEN\n" + field + "\n---\nBusy."}, Options{})
		for who, hides := range map[string]bool{"user": true, "gm": false} {
			c, _, ok := s.Content(who, "Quay")
			all := string(c.Fields) + strings.Join(s.Listing(who), "\n")
			if !ok || !strings.Contains(all, "SEEN") || hides && strings.Contains(all, "HID") {
				t.Errorf("%s: %s reads %s", field, who, all)
			}
		}
	}
}

// TestANameWithAMarkHidesItsNote imports notes whose file or folder has a mark in its name.
func TestANameWithAMarkHidesItsNote(t *testing.T) {
	s := newScene(t)
	s.importAs("admin", map[string]string{"Quay %%HID%%.md": "HID", "Mill [spoiler]HID[∕spoiler].md": "HID",
		"Weir <span hidden>HID.md": "HID", "Town %%HID%%/Inn.md": "HID", "Half 50%.md": "SEEN"}, Options{})
	players, all := strings.Join(s.Listing("user"), "\n"), strings.Join(s.Listing("gm"), "\n")
	if strings.Contains(players, "HID") || !strings.Contains(players, "SEEN") || strings.Count(all, "HID") < 4 {
		t.Errorf("players read %s\ngame masters %s", players, all)
	}
}

// TestMarksInOurOwnDialect does the same with notes that name our dialect: first new cards, then with a value that is
// marked later. A value that was opened stays open.
func TestMarksInOurOwnDialect(t *testing.T) {
	s := newScene(t)
	note := func(extra string) string {
		return "---\nloregate: 1\nid: 0198c0de-0000-7000-8000-000000000001\nname: Quay\n" + extra + "\n---\nBusy."
	}
	for _, extra := range []string{"motto: Seen %%HID%%", "fields: {motto: ['<!-- HID -->']}", "aliases: ['[gm:: HID]']",
		"tags: [town, '%%HID%%']", "fields: {deep: {dm-notes: HID}}"} {
		s.importAs("admin", map[string]string{"Quay.md": note("race: SEEN")}, Options{})
		s.importAs("admin", map[string]string{"Quay.md": note("race: SEEN\n" + extra)}, Options{})
		c, _, _ := s.Content("user", "Quay")
		if all := string(c.Fields) + strings.Join(s.Listing("user"), "\n"); strings.Contains(all, "HID") ||
			!strings.Contains(all, "SEEN") {
			t.Errorf("%s: players read %s", extra, all)
		}
	}
	s.importAs("admin", map[string]string{"A.md": "---\nloregate: 1\nname: Mill %%HID%%\n---\nHID"}, Options{})
	if all := strings.Join(s.Listing("user"), "\n"); strings.Contains(all, "HID") {
		t.Errorf("players read %s", all)
	}
}
