package archive

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/store/sqlite/sqlitetest"
)

func TestATagIsRenamedOnAllVisibleCards(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.wrote("Quay", "wet")
		s.wrote("Quay+tags", "[[Rope]]\n[[sea]]\n[[tar]]")
		s.wrote("Mill", "dry")
		s.wrote("Mill+tags", "[[sea]]")
		s.wrote("Barn", "full")
		s.typed("Pointer", "Barn+tags", "[[ropes]]\n[[Cord]]")
		s.hid(access.LevelGM, "Plot", "secret")
		s.hid(access.LevelGM, "Plot+tags", "[[rope]]")
		s.hid(access.LevelGM, "Mill+tags", "[[rope]]")
		u := s.As("user")

		u.Call("rename_tag", `{"from": "rope", "to": "cord"}`).WantNames("cards", "Barn, Quay").Want("count", 2).
			Want("dry_run", true).Lacks("Plot").Lacks("Mill").Lacks("change_id")
		u.Call("get_card", `{"name": "Quay+tags"}`).Want("version", 1)

		u.Call("rename_tag", `{"from": "ROPE", "to": "cord", "dry_run": false}`).WantNames("cards", "Barn, Quay").
			Want("count", 2).Lacks("dry_run").Lacks("Plot").Lacks("Mill").Has("change_id")
		u.Call("get_card", `{"name": "Quay+tags"}`).Want("content", "[[sea]]\n[[tar]]\n[[cord]]")
		u.Call("get_card", `{"name": "Barn+tags"}`).Want("content", "[[Cord]]")
		u.Call("search_by_tags", `{"tags": ["cord"]}`).WantNames("cards", "Barn, Quay")
		u.Call("search_by_tags", `{"tags": ["rope"]}`).Want("total", 0)

		u.Call("rename_tag", `{"from": "rope", "to": "cord", "dry_run": false}`).Want("count", 0).Lacks("change_id")
		s.As("gm").Call("rename_tag", `{"from": "rope", "to": "cord", "dry_run": false}`).WantNames("cards", "Mill, Plot")
		s.As("gm").Call("search_by_tags", `{"tags": ["cord"]}`).WantNames("cards", "Barn, Mill, Plot, Quay")
	})
}

func TestTheSpellingOfATagIsChanged(t *testing.T) {
	for before, want := range map[string]string{
		"[[sea]]\n[[tar]]":               "[[tar]]\n[[Sea]]",
		"[[Sea]]\n[[tar]]":               "[[Sea]]\n[[tar]]",
		"<ul><li>sea</li></ul>":          "<ul><li>[[Sea]]</li></ul>",
		"- sea\n- tar":                   "- tar\n[[Sea]]",
		"seas":                           "[[Sea]]",
		"[[seaside]]":                    "[[seaside]]",
		"":                               "",
		"[[SEA]]\n[[sea]]\n[[S\u00e9a]]": "[[S\u00e9a]]\n[[Sea]]",
	} {
		in := renameTagIn{From: "sea", To: "Sea"}
		got := in.renameIn(before)
		if got != want {
			t.Errorf("%q becomes %q, want %q", before, got, want)
		}
		if again := in.renameIn(got); again != got {
			t.Errorf("%q becomes %q when the tag is renamed again", got, again)
		}
	}
}

func TestRenamingATagIsUndoneAndRepeated(t *testing.T) {
	s := newScene(t)
	s.wrote("Quay", "wet")
	s.wrote("Quay+tags", "[[rope]]")
	u := s.As("user")
	once := func(r *op.Request) { r.IdempotencyKey = "once" }
	done := u.Call("rename_tag", `{"from": "rope", "to": "cord", "dry_run": false}`, once)
	u.Call("rename_tag", `{"from": "rope", "to": "cord", "dry_run": false}`, once).WantNames("cards", "Quay")
	id, _ := done.At("change_id")
	u.Call("undo_change", fmt.Sprintf(`{"id": %q}`, id))
	u.Call("get_card", `{"name": "Quay+tags"}`).Want("content", "[[rope]]").Want("version", 3)
}

func TestRenamingATagIsRefused(t *testing.T) {
	s := newSceneOn(t, sqlitetest.Open(t))
	u := s.As("user")
	for _, input := range []string{`{"from": "...", "to": "a"}`, `{"from": "a", "to": "..."}`,
		`{"from": "a", "to": "[[b]]"}`, `{"from": "a", "to": "b|c"}`, `{"from": "a", "to": "b\n[[c"}`,
		`{"from": "a", "to": "~b"}`, `{"from": "a", "to": ""}`,
		`{"from": "a", "to": "b", "prefix": "+"}`} {
		u.WantFault("validation_error", "rename_tag", input)
	}

	var cards []canon.NewCard
	for i := range maxTagRenames + 1 {
		cards = append(cards, canon.NewCard{Name: fmt.Sprint("Card ", i)},
			canon.NewCard{Name: fmt.Sprint("Card ", i, "+tags"), Content: "[[rope]]"})
	}
	s.made(cards...)
	refused := u.WantFault("validation_error", "rename_tag", `{"from": "rope", "to": "cord", "dry_run": false}`)
	if !strings.Contains(refused, "more than 500 cards have this tag; rename it on a part of them at a time") {
		t.Error(refused)
	}
	u.Call("rename_tag", `{"from": "rope", "to": "cord", "prefix": "Card 1", "dry_run": false}`).Want("count", 111)
	u.Call("rename_tag", `{"from": "rope", "to": "cord", "dry_run": false}`).Want("count", 390)
}
