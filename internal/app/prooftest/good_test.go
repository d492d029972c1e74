package prooftest

import (
	"encoding/base64"
	"strings"

	"loregate/internal/access"
	"loregate/internal/app"
)

// example is a call that succeeds for callers of a role and above. prepare makes the call that
// it depends on, and returns a value for input.
type example struct {
	prepare func(s *story) string
	rest    bool           // a short proof, too, makes it over REST
	tool    bool           // a short proof, too, makes it over MCP
	sure    bool           // it must succeed for some caller
	input   map[string]any // the value "$" stands for the result of prepare, "$x" for the id that the story notes as x
}

func given(kv ...any) example {
	in := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		in[kv[i].(string)] = kv[i+1]
	}
	return example{input: in}
}

// after returns an example with a call to make before it.
func after(prepare func(s *story) string, e example) example {
	e.prepare = prepare
	return e
}

// mustSucceed marks an example as useless if it is refused.
func mustSucceed(e example) example {
	e.tool, e.sure = true, true
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
		s.tellVisible(func() {
			text, _ = s.do(newAuthor(role.String(), access.RoleAdmin), operation,
				input)[member].(string)
		})
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

// newScene stores the design of a scene as the keeper, and returns its id.
func newScene(s *story) (id string) {
	s.tellVisible(func() {
		out, _ := s.do(keeper, "scene_spec", fields{"card": "Harbour", "spec": fields{"version": 1, "name": "quay",
			"parts": fields{"tower": fields{"tower": fields{"radius": 3, "height": 12}, "material": "stone"}}}})["result"].(fields)
		id, _ = out["spec"].(string)
	})
	return id
}

// newBuiltScene builds a scene as the keeper, notes the id of its file as fresh, and returns the id of the scene.
func newBuiltScene(s *story) (id string) {
	s.tellVisible(func() {
		out, _ := s.do(keeper, "scene_spec", fields{"card": "Harbour", "action": "build", "spec": fields{"version": 1,
			"name": "quay", "parts": fields{"post": fields{"box": fields{"size": list(1, 1, 3)}, "at": list(2, 1)}}}})["result"].(fields)
		id, _ = out["spec"].(string)
		s.ids["fresh"], _ = out["glb"].(string)
	})
	return id
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

// byHand has the inputs that no declared example can state, by operation. Everything else comes from
// Spec.Examples: a new operation needs no line here. Each table's comment gives its reason.
var byHand = []map[string][]example{aimedAtCards, aimedAtPlaces, aimedAtCampaign, afterCall, onOwnCards, ofStage}

// aimedAtCards has inputs about cards beside which the story hides something: names that hidden
// cards share, former names, hidden versions, tags and templates, and pages of lists that hidden
// cards would fill. An example cannot know them.
var aimedAtCards = map[string][]example{
	"get_card": {given("name", "Lendwater", "with_children", true),
		given("name", "Oda Tarn", "rendered", true), given("name", "Sunken Bell"),
		given("name", "Old Ferry"), given("name", "Annals", "content_offset", 8000),
		given("name", "Sunken Bell Crypt", "rendered", true, "with_children", true),
		given("name", ":oda")},
	"search_cards": {
		given("q", "lantern", "search_in", "both", "highlight", true),
		given("q", "place"),
		given("q", "lantren mist which ferri"),
		given("sort", "updated_at"),
		given("q", "ferry mist", "search_in", "content", "limit", 7,
			"offset", 7),
		given("tag", "history"),
		given("type", "Lore", "sort", "created_at"),
		given("q", "the", "search_in", "content", "match_mode", "whole_word"),
		given("q", "lant*", "search_in", "content"),
		given("prefix", "Oda Tarn"),
		given("level", "gm"), given("q", "lantern", "level", "user"),
		given("q", "year quay", "search_in", "both", "match_mode", "phrase"),
	},
	"list_children": {given("name", "Lendwater", "depth", 3),
		given("name", "Place 0 lantern", "depth", 5), given("name", "Salt Quay")},
	"get_card_outline": {given("name", "Lendwater")},
	"find_in_card":     {given("name", "Annals", "q", "lantern", "limit", 3)},
	"get_card_history": {given("name", "Sunken Bell"), given("name", "Oda Tarn"),
		given("name", "Sunken Bell Crypt+Door"), given("name", "Salt Quay")},
	"get_revision": {given("name", "Sunken Bell", "version", 1),
		given("name", "Oda Tarn", "version", 2)},
	"diff_card": {given("name", "Oda Tarn", "from", 1), given("name", "Sunken Bell")},
	"recent_changes": {given(), given("type", "Lore", "limit", 5, "offset", 5),
		given("author", "keeper")},
	"audit_changes": {given(), given("card", "Sunken Bell", "author", "keeper"), given("limit", 5, "offset", 5)},
	"get_relationships": {given("name", "Oda Tarn"), given("name", "Lendwater", "kind", "links"),
		given("name", "Lendwater", "kind", "nests"),
		given("name", "Place 1 ferry", "kind", "nested_in")},
	"wanted_cards": {given(), given("limit", 2, "offset", 1)},
	"get_tags":     {given("prefix", "tag"), given("limit", 1)},
	"search_by_tags": {given("tags", []string{"history"}),
		given("tags", []string{"history", "founder"}, "match", "any")},
	"suggest_tags": {given("name", "Place 0 lantern")},
	"run_query": {given("type", "Lore"), given("query_name", "people_of", "args",
		map[string]any{"faction_tag": "founder"}), given("tag", "history", "sort", "updated_at"),
		given("name", "place", "limit", 4)},
	"run_named_query": {given("q", "people_of", "args", map[string]any{"faction_tag": "founder"})},
	"render_snippet": {given("name", "Lendwater"),
		given("html", "<p>{{Oda Tarn}} {{Nemesis}} {{:vault}} {{List of Places|content}}</p>"),
		given("name", "Sunken Bell Crypt", "mode", "text")},
	"render_markdown": {given("markdown", "## [[Nemesis]]\n\n{{Nemesis}}")},
	"get_type":        {given("name", "Guildhouse")},
	"get_attachment":  {given("name", "Salt Quay+map")},
	"get_file_url":    {given("name", "Salt Quay+map"), given("name", "Place 2 road+sketch")},
	"get_card_stats": {given("name", "Lendwater"), given("name", "Oda Tarn"),
		given("name", "Sunken Bell Crypt"), given("name", "Salt Quay")},
	"get_template": {given("type_name", "Guildhouse"), given("type_name", "Lore"),
		given("type_name", "Dreadhouse")},
	"search": {given("query", "lantern"), given("query", "nemesis lantern road")},
	"fetch":  {given("id", "Lendwater")},
	"create_card": {given("name", "Nemesis", "content", "a nemesis of all"),
		given("name", "Salt Quay+cellar+wine", "fields", map[string]any{"+tags": "[[secret]]"}),
		mustSucceed(given("name", "Net Loft", "children", list(fields{"name": "+hook", "content": "bent"},
			fields{"name": "+beam"}))),
		given("name", "House", "type", "Guildhouse", "fields", map[string]any{"rank": 2}, "codename", "vault")},
	"update_card": {given("name", "Oda Tarn", "content", "<p>Oda, anew. {{Nemesis}}</p>", "idempotency_key",
		"again"), given("name", "Oda Tarn", "patch", map[string]any{"mode": "append", "content": "<p>More.</p>"}),
		given("name", "Sunken Bell", "content", "dull", "if_match", 2),
		given("name", "Place 0 lantern", "fields",
			map[string]any{"+tags": map[string]any{"type": "Pointer", "content": "[[secret]]"}})},
	"restore_card": {given("name", "Gone Tavern"), given("name", "Oda Tarn", "to_version", 1)},
	"auto_link":    {given("name", "Annals"), given("name", "Place 7 ferry", "mode", "apply", "dry_run", false)},
	"batch_cards": {given("ops", []any{map[string]any{"action": "create", "name": "Salt Quay+shed"},
		map[string]any{"action": "create", "name": "Lendwater+GM+x"},
		map[string]any{"action": "update", "name": "Nemesis", "content": "x"}}),
		given("dry_run", true, "ops", []any{map[string]any{"action": "create", "name": "Salt Quay"},
			map[string]any{"action": "create", "name": "Nemesis"}})},
	"upload_attachment": {given("name", "Place 2 road+sketch", "data", "AAEC")},
	"upload_from_url":   {given("name", "Place 2 road+sketch", "url", "https://files.example/sketch.png")},
	"replace_everywhere": {given("find", "lantern", "replace", "lamp", "limit", 100),
		given("find", "the (road|mist)", "replace", "a $1", "regex", true, "prefix", "Place 1", "limit", 100),
		given("find", "NEMESIS", "replace", "friend", "case_sensitive", false, "limit", 100),
		given("find", "lantern", "replace", "lamp", "tag", "tag lantern", "dry_run", false)},
	"create_weekly_summary": {given("days", 92, "card_limit", 5),
		given("level", "gm", "title", "The GMs' Week", "create", true)},
	"spoiler_scan": {given("terms_card", "Terms", "results_card", "Scan+GM", "scope", "player"),
		given("terms_card", "Terms", "results_card", "Scan+GM", "scope", "ai")},
}

// onOwnCards has inputs that delete or hide a card: each takes a card that no other call needs.
var onOwnCards = map[string][]example{
	"set_card_level": {given("name", "List of Places", "level", "gm")},
	"delete_card": {after(doomedCard, given("name", "$", "dry_run", true)),
		after(doomedCard, given("name", "$", "confirm", "Place 4 tide"))},
}

// afterCall has inputs with a value that an earlier call returns: an id, a tag of something read, a
// hash.
var afterCall = map[string][]example{
	"update_card": {mustSucceed(after(etagOf("get_card", map[string]any{"name": "Oda Tarn", "full": true}),
		given("name", "Oda Tarn", "content", "<p>Oda, read and written.</p>", "if_match", "$"))),
		mustSucceed(after(etagOf("get_card", map[string]any{"name": "Annals", "full": true}),
			given("name", "Annals", "markdown_content", "# Annals\n\nA year by the [[Nemesis]].", "if_match", "$")))},
	"batch_cards": {mustSucceed(after(etagOf("get_card", map[string]any{"name": "Salt Quay", "full": true}),
		given("ops", []any{map[string]any{"action": "update", "name": "Salt Quay",
			"content": "<p>The quay, anew.</p>", "if_match": "$"}})))},
	"upload_attachment": {mustSucceed(after(etagOf("get_attachment", map[string]any{"name": "Salt Quay+map"}),
		given("name", "Salt Quay+map", "data", "AAED", "if_match", "$")))},
	"undo_change": {after(outputOf("update_card", "change_id", map[string]any{"name": "Terms", "content": "[[lantern]]"}),
		given("id", "$")), after(partlyVisibleChange, given("id", "$"))},
	"get_job": {after(outputAs(access.RoleGM, "spoiler_scan", "job_id",
		map[string]any{"terms_card": "Terms", "results_card": "Job+GM", "scope": "player"}), given("id", "$")),
		after(outputAs(access.RoleUser, "spoiler_scan", "job_id",
			map[string]any{"terms_card": "Terms", "results_card": "Job+GM", "scope": "ai"}), given("id", "$"))},
	"cancel_job": {after(outputAs(access.RoleGM, "spoiler_scan", "job_id",
		map[string]any{"terms_card": "Terms", "results_card": "Job+GM", "scope": "player"}), given("id", "$"))},
	"scene_describe": {after(newScene, given("spec", "$"))},
	"scene_check":    {after(newScene, given("spec", "$"))},
	"scene_diff":     {after(newScene, given("from", "$", "to", "$"))},
	"scene_merge":    {after(newBuiltScene, given("base", "$", "manifest", "$fresh"))},
	"scene_edit": {after(newScene, given("spec", "$", "edits", list(fields{"do": "add", "path": "well",
		"value": fields{"prop": fields{"kind": "well"}, "at": list(-6, -4)}})))},
	"get_backup":      {after(newBackup("id"), given("id", "$"))},
	"download_backup": {after(newBackup("file"), given("filename", "$"))},
	"delete_backup":   {after(newBackup("file"), given("filename", "$"))},
	"propose-ambience": {mustSucceed(after(contextRefOf("get-location-context", fields{"locationId": "$market"}),
		given("locationId", "$market", "layerType", "ambient", "text", "The well hums below the stalls.",
			"contextRef", "$")))},
	"propose-canon-change": {mustSucceed(after(contextRefOf("get-location-context", fields{}),
		given("op", fields{"name": "update_card",
			"arguments": fields{"name": "Salt Quay", "patch": fields{"mode": "append", "content": "<p>Rope.</p>"}}}, "reason",
			"It was said.", "contextRef", "$")))},
	"propose-place": {after(contextRefOf("get-location-context", fields{"locationId": "$harbour"}),
		given("locationId", "$harbour", "direction", "west", "name", "Silt Landing", "text", "Reeds nod across the mud.",
			"terrain", "riverbank", "wayBack", "east", "contextRef", "$"))},
	"propose-layer-end": {after(contextRefOf("get-location-context", fields{"locationId": "$market"}),
		given("locationId", "$market", "layerId", "01900000-0000-7000-8000-000000000001", "reason", "The well is dry.",
			"contextRef", "$"))},
	"propose-npc-dialogue": {mustSucceed(after(contextRefOf("get-player-context", fields{"playerId": "$mira"}),
		given("npcId", "$keeper", "playerId", "$mira", "draftText", "Mind the rope by the third step.", "contextRef",
			"$")))},
	"approve-proposal": {after(newProposalHash, given("proposalId", "$fresh", "expectedHash", "$", "world",
		"lendwater"))},
	"renew-proposal": {after(newOutdatedProposal, given("proposalId", "$", "world", "lendwater"))},
	"reveal_part": {after(newHiddenPart, given("name", "$fresh", "parts", list("$"), "to", list("ada"), "world", "lendwater")),
		after(newHiddenPart, given("name", "$fresh", "parts", list("$"), "world", "lendwater"))},
	"hide_part":              {after(newHiddenPart, given("name", "$fresh", "text", list("A tale."), "world", "lendwater"))},
	"reject-proposal":        {given("proposalId", "$waits2", "note", "Not now.", "world", "lendwater")},
	"withdraw-proposal":      {given("proposalId", "$change"), given("proposalId", "$waits2")},
	"end-standing-approvals": {given("id", "$standing", "world", "lendwater")},
	"canon_acknowledge":      {after(newConflict("ack"), inCampaign("conflict_id", "$"))},
	"canon_resolve":          {after(newConflict("res"), inCampaign("conflict_id", "$", "resolution", "keep"))},
	"set_member_role":        {after(newMember, given("subject", "$", "role", "gm"))},
	"end_membership":         {after(newMember, given("subject", "$"))},
	"create_sign_in_link":    {after(newMember, given("subject", "$"))},
	"withdraw_invitation":    {after(newInvitation, given("id", "$"))},
	"rotate_key":             {after(newKeyID, given("id", "$"))},
	"end_key":                {after(newKeyID, given("id", "$"))},
	"invite_player":          {given("id", "$lobby")},
	"join_game":              {given("id", "$lobby", "name", "Bea")},
	"reissue_seat":           {given("id", "$lobby", "player_id", "mine")},
	"get_import":             {after(newImport, given("id", "$"))},
	"carry_out_import":       {after(newImport, given("id", "$"))},
	"list_import_cards":      {after(newDoneImport, given("id", "$"))},
	"undo_import":            {after(newDoneImport, given("id", "$", "dry_run", true))},
	"start_game":             {after(newFullLobby, given("id", "$")), given("id", "$lobby")},
}

// doomedCard returns the id of a card that calls delete. Its name is shared by a hidden card, so that a call by
// name is refused where both are seen.
func doomedCard(s *story) string {
	if s.ids["doomed"] == "" {
		s.ids["doomed"] = "~" + s.visibleCard("Place 4 tide").String()
	}
	return s.ids["doomed"]
}

// newMember makes a member of the world.
func newMember(s *story) (subject string) {
	s.tellVisible(func() {
		visitor := app.MemberSpec{Subject: "visitor", Role: access.RoleUser}
		if err := s.app.SetMember(s.t.Context(), "lendwater", visitor); err != nil {
			s.t.Fatal(err)
		}
	})
	return "visitor"
}

// newInvitation makes an invitation and returns its id.
func newInvitation(s *story) (id string) {
	s.tellVisible(func() {
		made, _ := s.do(keeper, "create_invitation", map[string]any{})["invitation"].(map[string]any)
		id, _ = made["id"].(string)
	})
	return id
}

// newImport checks an import as the game master, with a note that is named like something hidden, and returns
// its id.
func newImport(s *story) (id string) {
	s.tellVisible(func() {
		id, _ = s.do(newAuthor("gm", access.RoleGM), "check_import", fields{"filename": "notes.csv",
			"data": base64.StdEncoding.EncodeToString([]byte("name,text\nNemesis,Salt\nSalt Quay,Rope\n"))})["id"].(string)
	})
	return id
}

// newDoneImport imports a note as the game master, and returns the id of the import in the list of changes.
func newDoneImport(s *story) (id string) {
	s.tellVisible(func() {
		gm := newAuthor("gm", access.RoleGM)
		check, _ := s.do(gm, "check_import", fields{"filename": "walks.csv",
			"data": base64.StdEncoding.EncodeToString([]byte("name,text\nRope Walk,Rope\n"))})["id"].(string)
		s.do(gm, "carry_out_import", fields{"id": check})
		imports, _ := s.do(gm, "recent_changes", fields{"limit": 1})["imports"].([]any)
		if len(imports) > 0 {
			last, _ := imports[0].(map[string]any)
			id, _ = last["id"].(string)
		}
	})
	return id
}

// newKeyID makes a key and returns its id.
func newKeyID(s *story) (id string) {
	s.tellVisible(func() {
		made, _ := s.do(keeper, "create_key", map[string]any{"name": "scribe"})["key"].(map[string]any)
		id, _ = made["id"].(string)
	})
	return id
}

// partlyVisibleChange returns the id of the last change that is partly visible.
func partlyVisibleChange(s *story) string {
	out := s.do(player, "get_card_history", map[string]any{"name": "Salt Quay"})
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
