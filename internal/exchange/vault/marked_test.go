package vault

import (
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/markup"
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
		"tags: [town, '%%HID%%']", "fields: {deep: {dm-notes: HID}}",
		"fields: {npcs: [{secret: true, note: HID}]}"} {
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

// TestRemovedTagsGo removes tags of a note at the source: they go from the card, and those that were added here stay.
func TestRemovedTagsGo(t *testing.T) {
	for _, adds := range []bool{false, true} {
		s := newScene(t)
		for _, step := range []struct{ tags, open, added string }{{"town, KILLER", "town KILLER", "town KILLER"},
			{"town", "town", "town here"}, {"town, river", "town river", "town here river"}, {"", "", "here"}, {"", "", "here"},
			{"mill", "mill", "here mill"}} {
			s.importAs("gm", map[string]string{"Quay.md": "---\ntags: [" + step.tags + "]\nrace: elf\n---\nBusy."}, Options{})
			want := step.open
			if adds {
				want = step.added
			}
			_, text, _ := s.Content("gm", "Quay+tags")
			if got := strings.Join(markup.Items(text), " "); got != want {
				t.Errorf("added here %t, tags %q: the card has %q, want %q", adds, step.tags, got, want)
			}
			if adds && !strings.Contains(text, "here") {
				s.Edit("Quay+tags", func(p *canon.Plan, c canon.Card) error {
					next := markup.AddItems(text, []string{"here"}, nil)
					_, err := p.Update(c, canon.Edit{Content: &next})
					return err
				})
			}
		}
	}
}
