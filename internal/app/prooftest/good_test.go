package prooftest

import (
	"maps"
	"strings"

	"loregate/internal/access"
	"loregate/internal/app"
)

// example is a call that succeeds for callers of a role and above. prepare makes the call that
// it depends on, and returns a value for input.
type example struct {
	least   string // "user", "gm", "admin", "operator" or "approver"
	prepare func(s *story) string
	sure    bool           // it is always made over MCP, and must succeed for some caller
	input   map[string]any // the value "$" stands for the result of prepare, "$x" for the id that the story notes as x
}

func given(least string, kv ...any) example {
	in := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		in[kv[i].(string)] = kv[i+1]
	}
	return example{least: least, input: in}
}

// after returns an example with a call to make before it.
func after(prepare func(s *story) string, e example) example {
	e.prepare = prepare
	return e
}

// mustSucceed marks an example as useless if it is refused.
func mustSucceed(e example) example {
	e.sure = true
	return e
}

// outputOf returns a function that makes a call as the keeper and returns one member of its
// output.
func outputOf(operation, member string, input map[string]any) func(s *story) string {
	return func(s *story) (text string) {
		s.tellVisible(func() { text, _ = s.do(keeper, operation, input)[member].(string) })
		return text
	}
}

// outputAs is outputOf with another caller, for calls whose answer only their own caller may
// have.
func outputAs(role access.Role, operation, member string, input map[string]any) func(s *story) string {
	return func(s *story) (text string) {
		s.tellVisible(func() { text, _ = s.do(newAuthor(role.String(), access.RoleAdmin), operation, input)[member].(string) })
		return text
	}
}

// newBackup returns a function that makes a backup as the operator and returns a member of the
// output.
func newBackup(member string) func(s *story) string {
	return func(s *story) (text string) {
		s.tellVisible(func() { text, _ = s.do(app.Operator(), "create_backup", map[string]any{})[member].(string) })
		if text == "" { // with a database the product makes no backups
			text = "loregate-0123456789abcdef.db"
		}
		return text
	}
}

// etagOf returns a function that reads something completely as the audience, and returns its
// etag. A write of the whole must send this tag: without it an agent changes nothing over MCP.
func etagOf(operation string, input map[string]any) func(s *story) string {
	return func(s *story) (tag string) {
		s.tellVisible(func() { tag, _ = s.do(s.who, operation, input)["etag"].(string) })
		if !strings.HasPrefix(tag, "whole-") {
			s.t.Fatalf("%s %v gives the tag %q", operation, input, tag)
		}
		return tag
	}
}

// good has calls of every operation that succeed. An operation without an entry fails the
// proofs.
var good = func() map[string][]example {
	all := map[string][]example{}
	for _, part := range []map[string][]example{ofArchive, ofWorld, ofCampaign, ofGames, ofStudio} {
		maps.Copy(all, part)
	}
	return all
}()

var ofArchive = map[string][]example{
	"get_card": {given("user", "name", "Lendwater", "with_children", true),
		given("user", "name", "Oda Tarn", "rendered", true), given("user", "name", "Sunken Bell"),
		given("user", "name", "Old Ferry"), given("user", "name", "Annals", "content_offset", 8000),
		given("user", "name", "Sunken Bell Crypt", "rendered", true, "with_children", true),
		given("user", "name", ":oda")},
	"search_cards": {given("user", "q", "lantern", "search_in", "both", "highlight", true), given("user", "q", "place"),
		given("user", "sort", "updated_at"), given("user", "q", "ferry mist", "search_in", "content", "limit", 7,
			"offset", 7),
		given("user", "tag", "history"), given("user", "type", "Lore", "sort", "created_at"),
		given("user", "q", "the", "search_in", "content", "match_mode", "whole_word"),
		given("user", "q", "lant*", "search_in", "content"),
		given("user", "prefix", "Oda Tarn"), given("user", "q", "year quay", "search_in", "both", "match_mode", "phrase")},
	"list_children": {given("user", "name", "Lendwater", "depth", 3),
		given("user", "name", "Place 0 lantern", "depth", 5), given("user", "name", "Rent Quay")},
	"get_card_outline": {given("user", "name", "Lendwater")},
	"find_in_card":     {given("user", "name", "Annals", "q", "lantern", "limit", 3)},
	"get_card_history": {given("user", "name", "Sunken Bell"), given("user", "name", "Oda Tarn"),
		given("user", "name", "Sunken Bell Crypt+Door"), given("user", "name", "Rent Quay")},
	"get_revision": {given("user", "name", "Sunken Bell", "version", 1),
		given("user", "name", "Oda Tarn", "version", 2)},
	"diff_card": {given("user", "name", "Oda Tarn", "from", 1), given("user", "name", "Sunken Bell")},
	"recent_changes": {given("user"), given("user", "type", "Lore", "limit", 5, "offset", 5),
		given("user", "author", "keeper")},
	"list_trash": {given("admin")},
	"get_relationships": {given("user", "name", "Oda Tarn"), given("user", "name", "Lendwater", "kind", "links"),
		given("user", "name", "Lendwater", "kind", "nests"),
		given("user", "name", "Place 1 ferry", "kind", "nested_in")},
	"wanted_cards": {given("user"), given("user", "limit", 2, "offset", 1)},
	"get_tags": {given("user"), given("user", "name", "Oda Tarn"), given("user", "prefix", "tag"),
		given("user", "limit", 1)},
	"search_by_tags": {given("user", "tags", []string{"history"}),
		given("user", "tags", []string{"history", "founder"}, "match", "any")},
	"suggest_tags": {given("user", "name", "Place 0 lantern"), given("user", "name", "Oda Tarn")},
	"run_query": {given("user", "type", "Lore"), given("user", "query_name", "people_of", "args",
		map[string]any{"faction_tag": "founder"}), given("user", "tag", "history", "sort", "updated_at"),
		given("user", "name", "place", "limit", 4)},
	"run_named_query": {given("user", "q", "people_of", "args", map[string]any{"faction_tag": "founder"})},
	"list_queries":    {given("user")},
	"render_snippet": {given("user", "name", "Lendwater"),
		given("user", "html", "<p>{{Oda Tarn}} {{Nemesis}} {{:vault}} {{List of Places|content}}</p>"),
		given("user", "name", "Sunken Bell Crypt", "mode", "text")},
	"render_markdown": {given("user", "markdown", "## [[Nemesis]]\n\n{{Nemesis}}")},
	"list_types":      {given("user")},
	"get_type":        {given("user", "name", "Guildhouse"), given("user", "name", "RichText")},
	"get_attachment":  {given("user", "name", "Rent Quay+map")},
	"get_file_url":    {given("user", "name", "Rent Quay+map"), given("user", "name", "Place 2 road+sketch")},
	"get_card_stats": {given("user", "name", "Lendwater"), given("user", "name", "Oda Tarn"),
		given("user", "name", "Sunken Bell Crypt"), given("user", "name", "Rent Quay")},
	"get_template": {given("user", "type_name", "Guildhouse"), given("user", "type_name", "Lore"),
		given("user", "type_name", "Dreadhouse")},
	"get_site_context": {given("user")},
	"search":           {given("user", "query", "lantern"), given("user", "query", "nemesis lantern road")},
	"fetch": {given("user", "id", "Lendwater"),
		after(outputOf("get_card", "id", map[string]any{"name": "Oda Tarn"}), given("user", "id", "$"))},
	"create_card": {given("user", "name", "Nemesis", "content", "a nemesis of all"),
		given("user", "name", "Rent Quay+cellar+wine", "fields", map[string]any{"+tags": "[[secret]]"}),
		given("user", "name", "House", "type", "Guildhouse", "fields", map[string]any{"rank": 2}, "codename", "vault")},
	"update_card": {given("user", "name", "Oda Tarn", "content", "<p>Oda, anew. {{Nemesis}}</p>", "idempotency_key",
		"again"), given("user", "name", "Oda Tarn", "patch", map[string]any{"mode": "append", "content": "<p>More.</p>"}),
		given("user", "name", "Sunken Bell", "content", "dull", "if_match", 2),
		given("user", "name", "Place 0 lantern", "fields",
			map[string]any{"+tags": map[string]any{"type": "Pointer", "content": "[[secret]]"}}),
		mustSucceed(after(etagOf("get_card", map[string]any{"name": "Oda Tarn", "full": true}),
			given("user", "name", "Oda Tarn", "content", "<p>Oda, read and written.</p>", "if_match", "$"))),
		mustSucceed(after(etagOf("get_card", map[string]any{"name": "Annals", "full": true}),
			given("user", "name", "Annals", "markdown_content", "# Annals\n\nA year by the [[Nemesis]].", "if_match", "$")))},
	"set_card_level": {given("admin", "name", "List of Places", "level", "gm")},
	"delete_card": {given("admin", "name", "Place 4 tide", "dry_run", true),
		given("admin", "name", "Place 4 tide", "confirm", "Place 4 tide")},
	"rename_card":  {given("admin", "name", "Place 5 bell", "new_name", "Place 5 gong")},
	"restore_card": {given("admin", "name", "Gone Tavern"), given("admin", "name", "Oda Tarn", "to_version", 1)},
	"undo_change": {after(outputOf("update_card", "change_id", map[string]any{"name": "Terms", "content": "[[lantern]]"}),
		given("user", "id", "$")), after(partlyVisibleChange, given("user", "id", "$"))},
	"auto_link": {given("user", "name", "Annals"), given("gm", "name", "Place 7 ferry", "mode", "apply", "dry_run",
		false)},
	"batch_cards": {given("user", "ops", []any{map[string]any{"action": "create", "name": "Rent Quay+shed"},
		map[string]any{"action": "create", "name": "Lendwater+GM+x"},
		map[string]any{"action": "update", "name": "Nemesis", "content": "x"}}),
		mustSucceed(after(etagOf("get_card", map[string]any{"name": "Rent Quay", "full": true}),
			given("user", "ops", []any{map[string]any{"action": "update", "name": "Rent Quay",
				"content": "<p>The quay, anew.</p>", "if_match": "$"}})))},
	"upload_attachment": {given("user", "name", "Place 2 road+sketch", "data", "AAEC"),
		mustSucceed(after(etagOf("get_attachment", map[string]any{"name": "Rent Quay+map"}),
			given("user", "name", "Rent Quay+map", "data", "AAED", "if_match", "$")))},
	"upload_from_url": {given("user", "name", "Place 2 road+sketch", "url", "https://files.example/sketch.png")},
	"replace_everywhere": {given("user", "find", "lantern", "replace", "lamp", "limit", 100),
		given("user", "find", "the (road|mist)", "replace", "a $1", "regex", true, "prefix", "Place 1", "limit", 100),
		given("user", "find", "NEMESIS", "replace", "friend", "case_sensitive", false, "limit", 100),
		given("user", "find", "lantern", "replace", "lamp", "tag", "tag lantern", "dry_run", false)},
	"create_weekly_summary": {given("user"), given("user", "days", 92, "card_limit", 5),
		given("user", "title", "Week of Rope", "create", true),
		given("gm", "level", "gm", "title", "The GMs' Week", "create", true)},
	"spoiler_scan": {given("gm", "terms_card", "Terms", "results_card", "Scan+GM", "scope", "player"),
		given("gm", "terms_card", "Terms", "results_card", "Scan+GM", "scope", "ai")},
	"get_job": {after(outputAs(access.RoleGM, "spoiler_scan", "job_id",
		map[string]any{"terms_card": "Terms", "results_card": "Job+GM", "scope": "player"}), given("admin", "id", "$")),
		after(outputAs(access.RoleUser, "spoiler_scan", "job_id",
			map[string]any{"terms_card": "Terms", "results_card": "Job+GM", "scope": "ai"}), given("admin", "id", "$"))},
	"create_backup":   {given("operator")},
	"get_backup":      {after(newBackup("id"), given("operator", "id", "$"))},
	"list_backups":    {given("operator")},
	"download_backup": {after(newBackup("file"), given("operator", "filename", "$"))},
	"delete_backup":   {after(newBackup("file"), given("operator", "filename", "$"))},
}

// partlyVisibleChange returns the id of the last change that is partly visible.
func partlyVisibleChange(s *story) string {
	out := s.do(player, "get_card_history", map[string]any{"name": "Rent Quay"})
	versions, _ := out["versions"].([]any)
	last, _ := versions[0].(map[string]any)
	id, _ := last["change_id"].(string)
	return id
}

// inputs prepares an example and returns its input.
func (s *story) inputs(e example) map[string]any {
	s.t.Helper()
	prepared := ""
	if e.prepare != nil {
		prepared = e.prepare(s)
		s.known.ids = append(s.known.ids, prepared)
	}
	in, _ := s.fillIDs(e.input, prepared).(map[string]any) // the input is an object
	return in
}

// fillIDs replaces "$" and "$x" in a value.
func (s *story) fillIDs(v any, prepared string) any {
	s.t.Helper()
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = s.fillIDs(x, prepared)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = s.fillIDs(x, prepared)
		}
		return out
	case string:
		name, isID := strings.CutPrefix(v, "$")
		switch {
		case v == "$":
			return prepared
		case isID && s.ids[name] == "":
			s.t.Fatalf("the story notes no id %q", name)
		case isID:
			return s.ids[name]
		}
	}
	return v
}
