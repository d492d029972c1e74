package archive

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/access"
)

// TestOlderClientsAreUnderstood sends requests as the card wiki's own client does; archivetest
// replays all of that client's requests.
func TestOlderClientsAreUnderstood(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.wrote("Quay", "rope, rope and rope")
		s.wrote("Quay+Berth", "x")
		s.wrote("Quay+Empty", "")
		u, admin := s.As("user"), s.As("admin")
		u.Call("search_cards", `{"query": "quay", "include_virtual": false}`).WantNames("cards", "Quay, Quay+Berth")
		u.Call("search_cards", `{"name": "quay"}`).Want("total", 3)
		u.Call("list_children", `{"parent_name": "Quay", "include_virtual": false}`).WantNames("children",
			"Quay+Berth").Want("child_count", 1)
		u.Call("find_in_card", `{"name": "Quay", "query": "rope", "context_chars": "5"}`).Want("total", 3)
		u.Call("update_card",
			`{"name": "Quay", "patch": {"mode": "find_replace", "find": "rope", "replace": "cord", "occurrence": "first"}}`)
		u.Call("update_card",
			`{"name": "Quay", "patch": {"mode": "find_replace", "find": "rope", "replace": "twine", "occurrence": "last"}}`)
		u.Call("update_card", `{"name": "Quay", "patch": {"mode": "append", "content": "hemp", "separator": " ~ "}}`)
		u.Call("get_card", `{"card_name": "Quay"}`).Want("content", "cord, rope and twine ~ hemp")
		u.Call("update_card",
			`{"name": "Quay", "patch": {"mode": "find_replace", "find": "r", "replace": "R", "occurrence": "all"}}`)
		u.Call("get_card", `{"name": "Quay"}`).Want("content", "coRd, Rope and twine ~ hemp")
		u.WantFault("validation_error", "update_card",
			`{"name": "Quay", "patch": {"mode": "find_replace", "find": "hemp", "replace": "x", "occurrence": "second"}}`)
		u.WantFault("validation_error", "update_card",
			`{"name": "Quay", "patch": {"mode": "section", "heading": "x", "separator": " "}}`)
		u.Call("search_cards", `{"q": "tags:Rope AND tags:Sea"}`).Want("total", 0)
		s.wrote("Quay+tags", "[[Rope]]\n[[Sea]]")
		u.Call("search_cards", `{"q": "tags:Rope AND tags:Sea"}`).WantNames("cards", "Quay")
		u.Call("search_cards", `{"q": "tags:Nothing OR tags:Sea"}`).WantNames("cards", "Quay")
		admin.WantFault("validation_error", "delete_card", `{"name": "Quay"}`)
		admin.Call("delete_card", `{"name": "Quay", "force": true}`).Want("descendant_count", 3)
		u.WantNotFound("get_card_history", `{"name": "Quay"}`)
		admin.Call("get_card_history", `{"name": "Quay"}`).Want("versions.0.trashed", true)
		admin.WantFault("validation_error", "restore_card", `{"name": "Quay", "act_id": 1, "from_trash": true}`)
		admin.Call("restore_card", `{"name": "Quay", "from_trash": true}`).Want("restored", 4)
		admin.Call("restore_card", `{"name": "Quay", "act_id": "1"}`)
		u.Call("get_card", `{"name": "Quay"}`).Want("content", "rope, rope and rope")
	})
}

func TestAPreviewReturnsTheCurrentVersion(t *testing.T) {
	s := newScene(t)
	s.wrote("Quay", "colour")
	s.As("user").Call("update_card",
		`{"name": "Quay", "patch": {"mode": "regex", "pattern": "colou?r", "replacement": "color", "dry_run": true}}`).
		Want("version", 1).Want("dry_run", true).Want("matches", 1)
	s.As("user").Call("update_card",
		`{"name": "Quay", "patch": {"mode": "regex", "pattern": "colou?r", "replacement": "color"}}`).Want("version", 2)
}

func TestReplacingEverywhereChangesVisibleCards(t *testing.T) {
	s := newScene(t)
	s.wrote("One", "old rope and <b>old</b> rope")
	s.wrote("Two", "OLD rope, $1")
	s.wrote("Three", "nothing here")
	s.hid(access.LevelGM, "Plot", "old secrets")
	u := s.As("user")
	u.Call("replace_everywhere", `{"find": "old", "replace": "new"}`).WantNames("cards", "One").Want("matches",
		2).Want("dry_run", true).
		Want("looked_through", 3).Lacks("Plot").Lacks("secrets")
	u.Call("get_card", `{"name": "One"}`).Want("version", 1)
	u.Call("replace_everywhere",
		`{"search_pattern": "old", "replace_with": "$new", "case_sensitive": false, "dry_run": false}`).Want("matches", 3)
	u.Call("get_card", `{"name": "One"}`).Want("content", "$new rope and <b>$new</b> rope")
	u.Call("get_card", `{"name": "Two"}`).Want("content", "$new rope, $1")
	s.As("gm").Call("get_card", `{"name": "Plot"}`).Want("content", "old secrets")
	s.As("gm").Call("replace_everywhere",
		`{"find": "o(l)d", "replace": "$1", "regex": true, "dry_run": false}`).WantNames("cards", "Plot")
	s.As("gm").Call("get_card", `{"name": "Plot"}`).Want("content", "l secrets")
	u.WantFault("validation_error", "replace_everywhere", `{"find": "rope", "replace": "x", "limit": 1}`)
	u.WantFault("validation_error", "replace_everywhere", `{"find": "(", "replace": "x", "regex": true}`)
	u.WantFault("validation_error", "replace_everywhere", `{"find": "", "replace": "x"}`)
}

func TestAWeeklySummaryNamesCardsVisibleToItsReaders(t *testing.T) {
	s := newScene(t)
	s.wrote("Quay+Berth", "x")
	s.hid(access.LevelGM, "Plot", "x")
	s.As("gm").Call("create_weekly_summary",
		`{"create": true, "title": "Week one"}`).Has("[[Quay+Berth]]").Lacks("Plot").Want("created", true).Want("changed", 2)
	s.As("user").Call("get_card", `{"name": "Weekly Summaries+Week one"}`).Want("type", "Markdown").Lacks("Plot")
	s.As("gm").Call("create_weekly_summary", `{"create": true, "title": "Week one for us", "level": "gm"}`).Has("Plot")
	s.As("user").WantNotFound("get_card", `{"name": "Weekly Summaries+Week one for us"}`)
	s.As("user").WantFault("permission_denied", "create_weekly_summary", `{"level": "gm"}`)
	s.As("user").Call("create_weekly_summary", `{}`).Want("created", false)
}

func TestStatisticsAndContextOfTheWiki(t *testing.T) {
	s := newScene(t)
	s.wrote("Quay", "<h2>Berths</h2><p>Old rope at [[Harbour]].</p><p>{{Crane}} <a href=\"https://a.example\">x</a> <img src=\"y\"></p>")
	s.hid(access.LevelGM, "Quay+Plot", "x")
	u := s.As("user")
	u.Call("get_card_stats", `{"name": "Quay"}`).Want("sections", 1).Want("paragraphs", 2).Want("links", 1).Want("nests",
		1).Want("external_links", 1).
		Want("images", 1).Want("children", 0)
	s.As("gm").Call("get_card_stats", `{"name": "Quay"}`).Want("children", 1)
	u.Call("get_site_context", `{}`).WantNames("top_cards", "Quay").Want("cards", 1).Want("role", "user")
	s.As("gm").Call("get_site_context", `{}`).Want("cards", 2)
	u.Call("get_template", `{"type": "Character"}`).Want("exists", false).Want("template_card", "Character+*type+*default")
	s.wrote("Character+*type+*default", "<p>Who?</p>")
	u.Call("get_template", `{"type_name": "Character"}`).Want("exists", true).Want("content", "<p>Who?</p>")
}

func TestOlderNamesAreOnlyForREST(t *testing.T) {
	s := newScene(t)
	s.wrote("Quay", "x")
	got, err := s.As("user").invoke("get_card_history", `{"name": "Quay"}`)
	if err != nil || got.Older != nil {
		t.Fatalf("%v, %s", err, got.Older)
	}
	got, err = s.As("user").invoke("get_card_history", `{"name": "Quay"}`, overREST)
	var older struct {
		Revisions []map[string]any `json:"revisions"`
	}
	if err != nil || json.Unmarshal(got.Older, &older) != nil || len(older.Revisions) != 1 ||
		older.Revisions[0]["action"] != "create" || strings.Contains(string(got.Output), "revisions") {
		t.Errorf("%v, %s, %s", err, got.Older, got.Output)
	}
}
