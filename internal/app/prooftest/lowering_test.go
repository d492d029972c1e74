package prooftest

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
)

// lowered is a way in which a card that only game masters saw comes to be seen by players, or might.
type lowered struct {
	what string
	// makes hides a card and writes it while only game masters see it. write gives a card the text with marks.
	makes func(s *stage, write func(name string))
	opens func(s *stage) error
	seen  string // name under which players read the open text; "" if nobody may read it
}

// loweringText has an open word and hidden ones. Its fields have others.
const loweringText = "Everybody knows openwords.\n\n%%SECRETPART%%\n\n> [!secret]\n> SECRETCALLOUT\n"

// loweringWays are the operations of point 5 of the contract.
func loweringWays() []lowered {
	create := func(s *stage, name, level string) {
		s.do(keeper, "create_card", map[string]any{"name": name, "level": level, "text_format": "markdown", "content": "Plain.",
			"as_written": level == "user"})
	}
	level := func(s *stage, name, level string) (change string) {
		change, _ = s.do(keeper, "set_card_level", map[string]any{"name": name, "level": level})["change_id"].(string)
		return change
	}
	rename := func(s *stage, name, to string) error {
		_, err := s.tryDo(keeper, "rename_card", map[string]any{"name": name, "new_name": to})
		return err
	}
	rules := func(s *stage, parts ...string) error {
		return configureRules(s, parts)
	}
	var change string
	return []lowered{
		{"set_card_level", func(s *stage, write func(string)) { create(s, "Mill", "gm"); write("Mill") },
			func(s *stage) error { level(s, "Mill", "user"); return nil }, "Mill"},
		{"set_card_level of the card above", func(s *stage, write func(string)) {
			create(s, "Mill", "gm")
			create(s, "Mill+Cellar", "user")
			write("Mill+Cellar")
		}, func(s *stage) error { level(s, "Mill", "user"); return nil }, "Mill+Cellar"},
		{"set_card_level of a card with a hidden field", func(s *stage, write func(string)) {
			create(s, "Mill", "user")
			s.do(keeper, "update_card", map[string]any{"name": "Mill", "format": "markdown",
				"content": "A mill. %%SECRETOLD%%"})
			level(s, "Mill", "gm")
			write("Mill")
		}, func(s *stage) error { level(s, "Mill", "user"); return nil }, "Mill"},
		{"a name rule that goes", func(s *stage, write func(string)) {
			must(s, rules(s, "gm", "keeper"))
			create(s, "Mill", "user")
			create(s, "Mill+Keeper", "user")
			write("Mill+Keeper")
			create(s, "Mill+Keeper+Cellar", "user")
			write("Mill+Keeper+Cellar")
		}, func(s *stage) error { return rules(s, "gm") }, "Mill+Keeper+Cellar"},
		{"the name rule of hidden parts", func(s *stage, write func(string)) {
			create(s, "Mill", "user")
			create(s, "Mill+GM", "user")
			write("Mill+GM")
			s.do(keeper, "update_card", map[string]any{"name": "Mill", "format": "markdown",
				"content": "Everybody knows openwords. %%SECRETPLACE%%"})
		}, func(s *stage) error { return rules(s, "other") }, "Mill"},
		{"a name X+GM where no rule hides it", func(s *stage, write func(string)) {
			must(s, rules(s, "other"))
			create(s, "Mill+GM", "user")
			write("Mill+GM")
		}, func(*stage) error { return nil }, "Mill+GM"},
		{"restore below a card that has opened", func(s *stage, write func(string)) {
			create(s, "Mill", "gm")
			create(s, "Mill+Cellar", "user")
			write("Mill+Cellar")
			s.do(keeper, "delete_card", map[string]any{"name": "Mill+Cellar"})
			level(s, "Mill", "user")
		}, func(s *stage) error {
			_, err := s.tryDo(keeper, "restore_card", map[string]any{"name": "Mill+Cellar"})
			return err
		}, ""},
		{"restore after a name rule has gone", func(s *stage, write func(string)) {
			must(s, rules(s, "gm", "keeper"))
			create(s, "Mill", "user")
			create(s, "Mill+Keeper", "user")
			write("Mill+Keeper")
			s.do(keeper, "delete_card", map[string]any{"name": "Mill", "confirm": "Mill"})
			must(s, rules(s, "gm"))
		}, func(s *stage) error {
			_, err := s.tryDo(keeper, "restore_card", map[string]any{"name": "Mill"})
			return err
		}, ""},
		{"restore of a version that was hidden", func(s *stage, write func(string)) {
			create(s, "Mill", "gm")
			write("Mill")
			s.do(keeper, "update_card", map[string]any{"name": "Mill", "content": "Everybody knows openwords."})
			level(s, "Mill", "user")
		}, func(s *stage) error {
			if _, err := s.tryDo(keeper, "restore_card", map[string]any{"name": "Mill", "to_version": 2}); err == nil {
				s.t.Error("a version that only game masters saw is restored to an open card")
			}
			return nil
		}, "Mill"},
		{"undo of a hiding", func(s *stage, write func(string)) {
			create(s, "Mill", "user")
			create(s, "Mill+Cellar", "user")
			change = level(s, "Mill", "gm")
			write("Mill+Cellar")
		}, func(s *stage) error {
			_, err := s.tryDo(keeper, "undo_change", map[string]any{"id": change})
			return err
		}, ""},
		{"rename of X+GM to X", func(s *stage, write func(string)) { create(s, "Mill+GM", "user"); write("Mill+GM") },
			func(s *stage) error { return rename(s, "Mill+GM", "Cellar") }, ""},
		{"rename of X+GM to X and set_card_level", func(s *stage, write func(string)) {
			create(s, "Mill+GM", "user")
			write("Mill+GM")
		}, func(s *stage) error { must(s, rename(s, "Mill+GM", "Cellar")); level(s, "Cellar", "user"); return nil }, "Cellar"},
		{"a move below an open card", func(s *stage, write func(string)) {
			create(s, "Mill", "user")
			create(s, "Plot", "gm")
			create(s, "Plot+Spy", "user")
			write("Plot+Spy")
		}, func(s *stage) error { return rename(s, "Plot+Spy", "Mill+Spy") }, ""},
		{"approval of a lower level", func(s *stage, write func(string)) { create(s, "Mill", "gm"); write("Mill") },
			func(s *stage) error {
				s.giveKeys("admin")
				got := s.send("admin", request{operation: "propose", method: "POST", path: "/api/proposals/canon-change", body: `{` +
					`"reason": "It is known.", "op": {"name": "set_card_level", "arguments": {"name": "Mill", "level": "user"}}}`})
				var out map[string]any
				must(s, json.Unmarshal([]byte(got.body), &out))
				hash := s.do(approver, "get-proposal", map[string]any{"proposalId": out["proposalId"]})["expectedHash"]
				_, err := s.tryDo(approver, "approve-proposal", map[string]any{"proposalId": out["proposalId"], "expectedHash": hash})
				return err
			}, "Mill"},
		{"reset of a card that was hidden and moved", func(s *stage, write func(string)) {
			create(s, "Mill", "user")
			s.do(keeper, "update_card", map[string]any{"name": "Mill", "content": "Everybody knows openwords."})
			create(s, "Mill+Cellar", "user")
			forkStage(s)
			must(s, rename(s, "Mill", "Plot+GM"))
			write("Plot+GM")
			write("Plot+GM+Cellar")
		}, resetStage, "Mill"},
		{"reset of a card that was hidden by the card above", func(s *stage, write func(string)) {
			create(s, "Mill", "user")
			create(s, "Mill+Cellar", "user")
			s.do(keeper, "update_card", map[string]any{"name": "Mill+Cellar", "content": "Everybody knows openwords."})
			forkStage(s)
			level(s, "Mill", "gm")
			write("Mill+Cellar")
		}, resetStage, "Mill+Cellar"},
		{"reset of a card in the trash", func(s *stage, write func(string)) {
			create(s, "Mill", "user")
			create(s, "Mill+Cellar", "user")
			s.do(keeper, "update_card", map[string]any{"name": "Mill+Cellar", "content": "Everybody knows openwords."})
			forkStage(s)
			level(s, "Mill", "gm")
			write("Mill+Cellar")
			s.do(keeper, "delete_card", map[string]any{"name": "Mill", "confirm": "Mill"})
		}, resetStage, "Mill+Cellar"},
		{"reset of a name rule", func(s *stage, write func(string)) {
			create(s, "Mill+Keeper", "user")
			s.do(keeper, "update_card", map[string]any{"name": "Mill+Keeper", "content": "Everybody knows openwords."})
			forkStage(s)
			must(s, rules(s, "gm", "keeper"))
			write("Mill+Keeper")
		}, resetStage, "Mill+Keeper"},
	}
}

func must(s *stage, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// configureRules changes the name parts that hide cards.
func configureRules(s *stage, parts []string) error {
	_, err := s.app.ChangeWorld(s.t.Context(), app.WorldChange{World: s.world.String(),
		Edit: func(_ *string, c *canon.Settings) { c.GMParts = parts }})
	return err
}

// forkStage forks the stage's world, and goes on in the fork.
func forkStage(s *stage) {
	s.t.Helper()
	w, err := s.app.ForkWorld(s.t.Context(), s.world.String(), canon.NewWorld{Slug: "playthrough", Title: "Playthrough"})
	must(s, err)
	s.world = w.ID
}

func resetStage(s *stage) error {
	_, err := s.app.ResetWorld(s.t.Context(), s.world.String())
	return err
}

// TestLoweringShowsNoMarkedText opens cards that only game masters saw, by each operation that can. Players read
// the open words, and find no hidden one in texts, fields, versions and searches.
func TestLoweringShowsNoMarkedText(t *testing.T) {
	for _, way := range loweringWays() {
		t.Run(way.what, func(t *testing.T) {
			s := newStage(t, "embedded")
			way.makes(s, func(name string) {
				s.do(keeper, "update_card", map[string]any{"name": name, "text_format": "markdown", "content": loweringText,
					"fields": map[string]any{"secrets": "the cook is SECRETFIELD", "about": "%%SECRETMARK%%"}})
			})
			must(s, way.opens(s))
			if way.seen != "" {
				out := s.do(player, "get_card", map[string]any{"name": way.seen, "format": "markdown"})
				if text, _ := out["content"].(string); !strings.Contains(text, "openwords") {
					t.Errorf("a player reads %v", out)
				}
			}
			for _, leak := range secretsIn(s, player) {
				t.Error(leak)
			}
		})
	}
}

// secretsIn returns the answers to a caller that hold a word of the hidden ones.
func secretsIn(s *stage, who access.Caller) (found []string) {
	read := func(operation string, in map[string]any) map[string]any {
		answer, err := s.doForAnswer(who, operation, in)
		if err != nil {
			return nil
		}
		if text := string(answer.Output); strings.Contains(text, "SECRET") {
			found = append(found, operation+" answers "+text)
		}
		var out map[string]any
		must(s, json.Unmarshal(answer.Output, &out))
		return out
	}
	var names []any
	list, _ := read("search_cards", map[string]any{})["results"].([]any)
	for _, one := range list {
		card, _ := one.(map[string]any)
		names = append(names, card["name"])
	}
	if len(names) == 0 {
		names = []any{"Mill", "Mill+Cellar", "Mill+Keeper", "Cellar", "Mill+GM", "Mill+Spy"}
	}
	for _, name := range names {
		read("get_card", map[string]any{"name": name})
		read("get_card_history", map[string]any{"name": name})
		for n := 1; n <= 9; n++ {
			read("get_revision", map[string]any{"name": name, "version": n})
		}
	}
	for _, word := range []string{"SECRETPART", "SECRETCALLOUT", "SECRETFIELD", "SECRETMARK", "SECRETPLACE", "SECRETOLD"} {
		found := read("search_cards", map[string]any{"q": strings.ToLower(word)})
		if n, _ := found["total"].(float64); n > 0 {
			s.t.Errorf("a search for %s finds %v", word, found)
		}
	}
	read("recent_changes", map[string]any{})
	return found
}

// TestNameRulesListWhatOpens tries other name rules, and then applies them.
func TestNameRulesListWhatOpens(t *testing.T) {
	s := newStage(t, "embedded")
	must(s, configureRules(s, []string{"gm", "keeper"}))
	s.do(keeper, "create_card", map[string]any{"name": "Mill"})
	s.do(keeper, "create_card", map[string]any{"name": "Mill+Keeper", "content": "Flour."})
	change := app.WorldChange{World: s.world.String(), DryRun: true,
		Edit: func(_ *string, c *canon.Settings) { c.GMParts = []string{"gm"} }}
	for _, change.DryRun = range []bool{true, false} {
		r, err := s.app.ChangeWorld(t.Context(), change)
		must(s, err)
		if len(r.Opened) != 1 || r.Opened[0].Name != "Mill+Keeper" || r.Opened[0].To.Level != access.LevelUser ||
			r.DryRun != change.DryRun {
			t.Errorf("dry run %t: opens %+v", change.DryRun, r.Opened)
		}
		if _, err := s.tryDo(player, "get_card", map[string]any{"name": "Mill+Keeper"}); (err == nil) != !change.DryRun {
			t.Errorf("dry run %t: a player reads the card: %v", change.DryRun, err)
		}
	}
}
