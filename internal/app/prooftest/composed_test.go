package prooftest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// TestNoComposedTextLeaks has game masters and admins make every write that composes a text out of the canon, and then
// looks in all that lower callers read for marks that they may not see.
func TestNoComposedTextLeaks(t *testing.T) {
	skipWithRace(t)
	onEachStore(t, func(t *testing.T, on string) {
		skipOnPostgres(t, on)
		t.Parallel()
		o := newOracle(t, on, (*story).tellForComposers)
		for _, who := range []string{"gm", "admin"} {
			if who == "gm" || isLong() {
				o.tryGood(who, access.Write, access.Destroy, access.Propose)
			}
			o.compose(who)
		}
		for i, who := range []string{"user", "alice", "gm"} {
			o.tryGood(who, access.Read)
			for _, r := range otherCalls(o.known, i) {
				o.call(who, r)
			}
			o.readCards(who)
		}
	})
}

// tellForComposers creates open cards from whose texts an operation could go on to something hidden, and cards that
// were hidden once.
func (s *story) tellForComposers() {
	for i, l := range []access.Label{forGM, forAlice, forAdmin} {
		room, reader := "Strongroom "+itoa(i), access.NewLabel(access.LevelUser)
		if i == 0 {
			reader = forAlice // she sees the letter by name, and not the room
		}
		s.tellHidden(func() {
			s.putCard(canon.NewCard{Name: s.newSecretName("name above a linked room", l) + "+" + room, Label: &l})
		})
		s.tellVisible(func() {
			s.putCard(canon.NewCard{Name: "Letter " + itoa(i), Content: "<p>The " + room + " is shut.</p>", Label: &reader})
			once := canon.NewCard{Name: "Once Hidden " + itoa(i), Label: &l}
			s.tellHidden(func() { once.Content = "<p>" + s.newSecret("text before a revelation", l) + "</p>" })
			s.putCard(canon.NewCard{Name: "Open " + itoa(i), Content: "<p>Open.</p>"})
			c, below := s.putCard(once), s.putCard(canon.NewCard{Name: "Open " + itoa(i) + "+Drawer", Label: &l,
				Content: "<p>" + s.newSecret("text below before a revelation", l) + "</p>"})
			s.editCard(s.visibleCard("Open "+itoa(i)), "<p>Open, and painted.</p>")
			for _, c := range []canon.Card{c, below} {
				s.editCard(c.ID, "<p>Nothing.</p>")
				s.planOnCard(c.ID, func(p *canon.Plan, c canon.Card) error {
					_, err := p.SetLabel(c, access.NewLabel(access.LevelUser))
					return err
				})
			}
			s.ids["revealed"+itoa(i)] = c.ID.String()
		})
	}
}

// compose makes the writes that compose a text, beside those of the good inputs, as somebody. It fails where one that
// must succeed does not.
func (o *oracle) compose(who string) {
	o.t.Helper()
	try := func(operation string, in fields) bool {
		of, ok := o.app.Ops.Find(operation)
		if !ok {
			o.t.Fatalf("there is no operation %s", operation)
		}
		return o.invoke(who, of, in, true)
	}
	must := func(operation string, in fields) {
		if !try(operation, in) {
			o.t.Errorf("%s %v as %s: %s", operation, in, who, o.last[operation])
		}
	}
	must("create_weekly_summary", fields{"days": 92, "create": true, "title": "Week of " + who})
	must("create_weekly_summary", fields{"days": 92, "create": true, "title": "Hidden week of " + who, "level": "gm"})
	o.composeAsOlderClient(who)
	for i := range 3 {
		must("auto_link", fields{"name": "Letter " + itoa(i), "mode": "apply", "dry_run": false})
		for n := range 3 {
			try("restore_card", fields{"name": "~" + o.ids["revealed"+itoa(i)], "to_version": n + 1})
			try("restore_card", fields{"name": "Open " + itoa(i), "to_version": n + 1})
		}
		o.undoAll(who, "~"+o.ids["revealed"+itoa(i)])
	}
	must("spoiler_scan", fields{"terms_card": "Terms", "results_card": "Spoilers of " + who, "scope": "player"})
	must("rename_tag", fields{"from": "history", "to": "annals of " + who, "dry_run": false})
	for _, text := range []string{"look", "look at everything", "examine ghost then talk to ghost", "inventory", "exits"} {
		try("send_command", fields{"id": o.ids["mira"], "text": text})
	}
	for _, format := range []string{"markdown", "lorebook", "table", "memory"} {
		got := o.call(who, request{operation: "export_world", method: "GET", path: "/api/export?role=user&format=" + format})
		if got.status != 200 {
			o.t.Errorf("export as %s for %s: %s", format, who, clip(got.body, 300))
		}
		o.checkAnswer("user", request{operation: "export_world"}, got.body)
	}
}

// composeAsOlderClient writes the weekly summary of the card wiki's older client, which lists the cards that its
// caller sees and names no level.
func (o *oracle) composeAsOlderClient(who string) {
	o.t.Helper()
	var b strings.Builder
	b.WriteString("# Weekly Work Summary\n\n## Wiki Card Updates\n\n")
	for offset := 0; ; offset += 100 {
		var page struct {
			Cards []struct{ Name string }
			Next  *int `json:"next_offset"`
		}
		got := o.call(who, request{operation: "search_cards", method: "GET",
			path: "/api/mcp/cards?limit=100&updated_since=2020-01-01T00:00:00Z&include_virtual=false&offset=" + itoa(offset)})
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != 200 {
			o.t.Fatalf("%d %.300s", got.status, got.body)
		}
		for _, c := range page.Cards {
			fmt.Fprintf(&b, "- `%s` (2026-01-02)\n", c.Name)
		}
		if page.Next == nil {
			break
		}
	}
	body, _ := json.Marshal(fields{"name": "Weekly Work Summaries+Of " + who, "type": "Markdown", "content": b.String()})
	got := o.call(who, request{operation: "create_card", method: "POST", path: "/api/mcp/cards", body: string(body)})
	if got.status != 201 {
		o.t.Errorf("the summary of the older client: %s", clip(got.body, 300))
	}
}

// undoAll tries to undo every change of a card, latest first.
func (o *oracle) undoAll(who, card string) {
	o.t.Helper()
	var page struct {
		Versions []struct {
			Change string `json:"change_id"`
		}
	}
	got := o.call(who, request{operation: "get_card_history", method: "GET", path: "/api/mcp/cards/" + card + "/history?limit=100"})
	if err := json.Unmarshal([]byte(got.body), &page); err != nil || len(page.Versions) == 0 {
		o.t.Fatalf("the history of %s for %s: %s", card, who, clip(got.body, 300))
	}
	for _, v := range page.Versions {
		o.call(who, request{operation: "undo_change", method: "POST", path: "/api/mcp/changes/" + v.Change + "/undo", body: "{}"})
	}
}

// readCards reads every card that somebody sees, in all forms and versions.
func (o *oracle) readCards(who string) {
	o.t.Helper()
	seen := slices.Concat(o.listAll(who, "cards"), o.listAll(who, "changes"))
	o.listAll(who, "wanted")
	o.listAll(who, "tags")
	slices.Sort(seen)
	for _, id := range slices.Compact(seen) {
		card := "/api/mcp/cards/~" + id
		for _, path := range []string{card + "?full=true", card + "?rendered=true&with_children=true", card + "/file"} {
			o.call(who, request{operation: "read", method: "GET", path: path})
		}
		for n := 1; o.call(who, request{operation: "read", method: "GET",
			path: card + "/history/" + itoa(n)}).status == 200; n++ {
		}
	}
}
