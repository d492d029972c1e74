package prooftest

import (
	"encoding/json"
	"strings"

	"loregate/internal/app"
)

// fields has the members of an object.
type fields = map[string]any

// list returns a list of values, which may be placeholders of ids.
func list(v ...any) []any { return v }

var ofWorld = map[string][]example{
	"world-context-health": {given("user")},
	"health":               {given("user")},
	"get-location-context": {given("user"), given("user", "locationId", "loc-market", "tick", "43200000"),
		given("user", "locationId", "$harbour", "as_of", "2026-01-02T03:08:00Z"), given("user", "locationId", "$chapel")},
	"get-player-context": {given("user", "playerId", "$mira"),
		given("user", "playerId", "$mira", "as_of", "2026-01-02T03:09:00Z")},
	"get-atmosphere": {given("user"), given("user", "locationId", "$market", "tick", 1000),
		given("user", "locationId", "loc-chapel")},
	"get-spatial-context": {given("user", "depth", 5), given("user", "locationId", "loc-chapel", "depth", "3")},
	"get-recent-events": {given("user", "scope", "location", "scopeId", "$harbour"),
		given("user", "scope", "player", "scopeId", "$mira", "limit", 3),
		given("user", "scope", "location", "scopeId", "loc-market")},
	"get-location": {given("user"), given("user", "locationId", "$market")},
	"list-exits": {given("user"), given("user", "locationId", "loc-market"),
		given("user", "as_of", "2026-01-02T03:08:00Z")},
	"parse-command": {given("user", "text", "go north then look at the well"),
		given("user", "text", "tkae the iron key and talk to tam reed", "playerId", "$mira"),
		given("user", "text", "go down, take the purse", "locationId", "$harbour")},
	"create_player": {given("user", "name", "Oll Reed")},
	"get_player":    {given("user", "id", "$mira")},
	"send_command": {given("user", "id", "$mira", "text", "look"),
		given("user", "id", "$mira", "text", "go east then go west then go down"),
		given("user", "id", "$mira", "text", "talk to tam reed then inventory"),
		given("user", "id", "$mira", "text", "take the purse then examine ghost")},
	"advance-time": {given("gm", "hours", 8), given("gm", "toTick", "90000000"),
		given("gm", "minutes", "20", "dry_run", true)},
	"get-canonical-fact": {given("user", "factId", "fact_debt"), given("user", "factId", "$lodge")},
	"search-lore": {given("user", "query", "lantern road owed"), given("user", "query", "the owing", "k", "20"),
		given("user", "query", "mist lodg")},
	"semantic-search-lore": {given("user", "query", "what is owed to the sea", "k", 20)},
	"propose-ambience": {given("user", "locationId", "$harbour", "layerType", "ambient", "text",
		"A rope creaks in its own time.", "idempotencyKey", "creak"),
		mustSucceed(after(contextRefOf("get-location-context", fields{"locationId": "$market"}),
			given("user", "locationId", "$market", "layerType", "ambient", "text", "The well hums below the stalls.",
				"contextRef", "$")))},
	"propose-canon-change": {given("user", "op", fields{"name": "update_card",
		"arguments": fields{"name": "Lendwater", "content": "<p>Salt.</p>"}}, "reason", "It is so."),
		given("user", "op", fields{"name": "create_card", "arguments": fields{"name": "Nemesis", "content": "x"}}, "reason",
			"It is wanted."),
		given("user", "op", fields{"name": "create_card", "arguments": fields{"name": "Rent Quay+cellar+shelf"}}, "reason",
			"It is wanted."),
		mustSucceed(after(contextRefOf("get-location-context", fields{}),
			given("user", "op", fields{"name": "update_card",
				"arguments": fields{"name": "Rent Quay", "patch": fields{"mode": "append", "content": "<p>Rope.</p>"}}}, "reason",
				"It was said.", "contextRef", "$")))},
	"propose-npc-dialogue": {mustSucceed(after(contextRefOf("get-player-context", fields{"playerId": "$mira"}),
		given("user", "npcId", "$keeper", "playerId", "$mira", "draftText", "Mind the rope by the third step.", "contextRef",
			"$"))), given("user", "npcId", "$keeper", "playerId", "$mira", "draftText", "Mind the third step, it is wet.")},
	"propose-action": {given("user", "playerId", "$mira", "actionEnvelope",
		fields{"frames": list(fields{"verb": "look", "confidence": 1, "order": 0})}),
		given("user", "playerId", "$mira", "actionEnvelope",
			fields{"frames": list(fields{"verb": "move", "direction": "down", "order": 0})})},
	"propose-quest": {given("user", "seedSpec", fields{"title": "A Note Too Few",
		"hook": "The rent song has lost its note.",
		"objectives": list(fields{"id": "ask", "text": "Ask about it."},
			fields{"id": "hear", "text": "Hear it sung.", "requires": list("ask")})})},
	"enqueue-world-event": {given("user", "type", "NPC.Tick", "payload", fields{"mood": "patient"})},
	"give-standing-approval": {given("approver", "kind", "canon_change", "operation", "update_card", "under", "Rent Quay",
		"perHour", 2, "world", "lendwater"),
		given("approver", "kind", "quest", "perHour", "1", "world", "lendwater"),
		given("approver", "kind", "canon_change", "operation", "update_card", "under", "Nemesis", "perHour", 2, "world",
			"lendwater")},
	"list-standing-approvals": {given("approver", "world", "lendwater")},
	"end-standing-approvals": {given("approver", "id", "$standing", "world", "lendwater"),
		given("approver", "world", "lendwater")},
	"get-proposal": {given("user", "proposalId", "$mood"), given("user", "proposalId", "$change"),
		given("user", "proposalId", "$waits2")},
	"list-proposals": {given("user"), given("user", "status", "pending_review", "limit", 1),
		given("user", "mine", true, "kind", "ambience")},
	"replay-proposal": {given("user", "proposalId", "$mood"), given("user", "proposalId", "$change")},
	"approve-proposal": {after(newProposalHash, given("approver", "proposalId", "$fresh", "expectedHash", "$", "world",
		"lendwater")), given("approver", "proposalId", "$waits", "expectedHash", strings.Repeat("a", 64))},
	"reject-proposal":   {given("approver", "proposalId", "$waits2", "note", "Not now.", "world", "lendwater")},
	"withdraw-proposal": {given("user", "proposalId", "$change"), given("user", "proposalId", "$waits2")},
	"classify-intent":   {given("user", "utterance", "I go north")},
	"moderate-content":  {given("user", "text", "A quiet evening by the lantern.")},
	"get-ai-usage":      {given("gm")},
	"list-prompts":      {given("user"), given("user", "tag", "ambience")},
	"get-prompt":        {given("user", "id", "ambience")},
	"render-prompt":     {given("user", "id", "ambience", "variables", fields{"context": "[]"})},
}

// newProposalHash proposes something as alice, and returns the hash that an approver is shown.
func newProposalHash(s *story) (hash string) {
	s.tellVisible(func() {
		s.asked++
		body := `{"reason": "It is wanted.", "op": {"name": "create_card", "arguments": {"name": "Shed ` +
			itoa(s.asked) + `"}}}`
		got := s.send("alice", request{operation: "propose", method: "POST", path: "/api/proposals/canon-change", body: body})
		var out struct{ ProposalID string }
		if err := json.Unmarshal([]byte(got.body), &out); err != nil || out.ProposalID == "" {
			s.t.Fatalf("alice cannot propose: %s", got)
		}
		s.ids["fresh"] = out.ProposalID
		hash, _ = s.do(approver, "get-proposal", fields{"proposalId": out.ProposalID})["expectedHash"].(string)
	})
	return hash
}

// contextRefOf returns a function that reads a context as the audience, and returns the
// reference that a proposal cites.
func contextRefOf(operation string, input fields) func(s *story) string {
	return func(s *story) (ref string) {
		s.tellVisible(func() {
			a, err := s.doForAnswer(s.who, operation, s.fillIDs(input, ""))
			if err != nil {
				s.t.Fatal(err)
			}
			if ref, _ = a.Reply.Meta["contextRef"].(string); ref == "" {
				s.t.Fatalf("%s gives no contextRef", operation)
			}
		})
		return ref
	}
}

// approver may decide on waiting proposals.
var approver = app.Operator()

func inCampaign(least string, kv ...any) example {
	return given(least, append(kv, "campaign_id", "lendwater")...)
}

var ofCampaign = map[string][]example{
	"campaign_list": {given("user")},
	"campaign_get":  {inCampaign("user")},
	"entity_search": {inCampaign("user", "query", "lends money"), inCampaign("user"),
		inCampaign("user", "entity_type", "npc", "tags", list("history"), "limit", 1), inCampaign("user", "query", "an vale"),
		inCampaign("user", "offset", 2, "limit", 2)},
	"entity_get": {inCampaign("user", "entity_id", "$ann"), inCampaign("user", "entity_id", "$dee")},
	"entity_compare": {inCampaign("user", "entity_id", "$ann", "other_id", "$cy"),
		inCampaign("user", "entity_id", "$ann", "other_id", "$dee")},
	"entity_create": {inCampaign("gm", "name", "Fay Lund", "entity_type", "npc"),
		inCampaign("gm", "name", "Ann Vail", "entity_type", "npc")},
	"entity_update": {inCampaign("gm", "entity_id", "$cy", "attributes", fields{"age": 53}),
		inCampaign("gm", "entity_id", "$ann", "description", "Lends.", "source_document", "Rumour")},
	"entity_delete": {inCampaign("gm", "entity_id", "$ann", "dry_run", true)},
	"relationship_create": {inCampaign("gm", "source_id", "$ann", "target_id", "$dee", "type", "employs"),
		inCampaign("gm", "source_id", "$dee", "target_id", "$ann", "type", "ally of")},
	"relationship_delete":      {inCampaign("gm", "relationship_id", "$tie2", "dry_run", true)},
	"relationship_types":       {inCampaign("user")},
	"relationship_type_create": {inCampaign("gm", "name", "sings to", "inverse", "sung to by")},
	"relationship_map": {inCampaign("user", "entity_id", "$ann", "depth", 4),
		inCampaign("user", "entity_id", "$dee")},
	"timeline_query": {inCampaign("user"), inCampaign("user", "entity_id", "$ann"),
		inCampaign("user", "start_date", "1926-03", "end_date", "1926-04", "limit", 1)},
	"timeline_add": {inCampaign("gm", "date", "1926-05", "precision", "month", "description", "Thaw.", "entity_ids",
		list("$cy"))},
	"timeline_update": {inCampaign("gm", "event_id", "$snow", "description", "Snow again.")},
	"timeline_delete": {inCampaign("gm", "event_id", "$snow", "dry_run", true)},
	"session_create": {inCampaign("gm", "recap", "They left.", "prep_notes", "A storm."),
		inCampaign("gm", "play_notes", "They sang.", "actual_notes", "Off key.", "publish_notes", true)},
	"session_update": {inCampaign("gm", "session_id", "$one", "actual_notes", "They ran."),
		inCampaign("gm", "session_id", "$sung", "recap", "They sang by the well.", "publish_notes", true)},
	"session_list": {inCampaign("user"), inCampaign("user", "status", "PLANNED")},
	"reveal":       {inCampaign("gm", "items", list(fields{"entity_id": "$dee"}), "dry_run", true)},
	"unreveal":     {inCampaign("gm", "items", list(fields{"entity_id": "$dee"}), "dry_run", true)},
	"preview_as": {inCampaign("gm", "tool", "entity_get", "arguments", fields{"entity_id": "$ann"}),
		inCampaign("gm", "tool", "campaign_get", "subject", "alice")},
	"player_knowledge":  {inCampaign("gm", "entity_id", "$ann"), inCampaign("gm", "subject", "alice", "as_of_session", 1)},
	"canon_check":       {inCampaign("gm"), inCampaign("gm", "entity_id", "$ann")},
	"canon_acknowledge": {after(newConflict("ack"), inCampaign("gm", "conflict_id", "$"))},
	"canon_resolve":     {after(newConflict("res"), inCampaign("gm", "conflict_id", "$", "resolution", "keep"))},
	"system_get":        {given("user", "system_code", "coc-7e")},
}

// newConflict returns a function that makes a conflict about an entity of its own, and returns
// its id.
func newConflict(name string) func(s *story) string {
	return func(s *story) (id string) {
		s.tellVisible(func() {
			s.conflicts++
			entity := s.do(keeper, "entity_create", inCampaign("gm", "name", "Quarrel "+name+" "+itoa(s.conflicts),
				"entity_type", "item", "allow_similar", true,
				"attributes", fields{"n": 1}, "source_document", "Book", "source_confidence", "AUTHORITATIVE").input)["id"]
			s.do(keeper, "entity_update", inCampaign("gm", "entity_id", entity, "source_document", "Rumour", "attributes",
				fields{"n": 2}).input)
			open, _ := s.do(keeper, "canon_check", inCampaign("gm", "entity_id", entity).input)["conflicts"].([]any)
			one, _ := open[0].(fields)
			id, _ = one["id"].(string)
		})
		return id
	}
}

var ofGames = map[string][]example{
	"create_game":  {given("user", "mandate", "aggressive_growth")},
	"list_games":   {given("user")},
	"join_game":    {given("user", "id", "$lobby", "name", "Bea"), given("user", "id", "$game", "name", "Late")},
	"start_game":   {after(newFullLobby, given("user", "id", "$")), given("user", "id", "$lobby")},
	"reissue_seat": {given("user", "id", "$lobby", "player_id", "p1")},
	"command_game": {given("user", "id", "$game", "type", "advance"),
		given("user", "id", "$lobby", "type", "remove", "player_id", "p1"),
		given("user", "id", "$game", "type", "chat", "text", "I have no seat.")},
	"get_game":    {given("user", "id", "$game"), given("user", "id", "$lobby")},
	"replay_game": {given("user", "id", "$game")},
}

// newFullLobby creates a game of the audience's that can start.
func newFullLobby(s *story) (id string) {
	s.tellVisible(func() { id, _ = s.do(s.who, "create_game", fields{})["game_id"].(string) })
	for range 6 {
		s.tellVisible(func() { s.do(s.who, "join_game", fields{"id": id, "name": "Somebody " + itoa(s.beat)}) })
	}
	return id
}

var ofStudio = map[string][]example{
	"generate_scene": {given("gm", "card", "Harbour", "seed", 7, "target", "blender"),
		given("gm", "card", "Harbour", "seed", 7, "target", "blender", "audience", "user", "dry_run", true)},
	"add_object":       {given("gm", "object_type", "cube", "location", list(0, 0, 1), "target", "blender")},
	"generate_terrain": {given("gm", "width", 20, "height", 20, "detail_level", "low")},
	"generate_texture": {given("gm", "object_name", "Crate", "texture_type", "stone", "size", 64, "target", "blender")},
	"populate_level":   {given("gm", "asset", "Crate", "density", 0.01, "target", "blender")},
	"export_asset":     {given("gm", "format", "glb")},
	"import_asset":     {given("gm", "manifest", "0190d0a0-0000-7000-8000-000000000000.1")},
	"generate_blueprint": {given("gm", "name", "Door", "logic_description", "when the player enters, open the door",
		"target", "godot")},
	"profile_performance": {given("gm", "level_name", "main", "target", "godot")},
	"render_preview":      {given("gm", "width", 64, "height", 64, "target", "blender")},
	"list_objects":        {given("gm", "target", "blender")},
	"plan_create": {given("gm", "intent", "build Harbour at dusk and export it to glb", "card", "Harbour", "seed",
		5), given("gm", "intent", "build Harbour", "card", "Harbour", "audience", "user")},
	"plan_validate": {given("gm", "plan", fields{"name": "A cube", "seed": 1,
		"calls": list(fields{"tool": "add_object", "with": fields{"object_type": "cube", "location": list(0, 0, 1)}})})},
	"plan_execute": {given("gm", "plan_id", "$plan", "dry_run", true),
		given("gm", "plan", fields{"name": "A cube", "seed": 1,
			"calls": list(fields{"tool": "add_object", "with": fields{"object_type": "cube", "location": list(0, 0, 1)}})})},
	"plan_get":          {given("user", "plan_id", "$plan")},
	"list_targets":      {given("user")},
	"list_runs":         {given("user"), given("user", "card", "Harbour", "limit", 1)},
	"get_run":           {given("user", "run_id", "$run")},
	"get_artifact":      {given("user", "artifact_id", "0190d0a0-0000-7000-8000-000000000000.1")},
	"cancel_run":        {given("gm", "run_id", "$run")},
	"undo_run":          {given("gm", "run_id", "$run")},
	"verify_run":        {given("gm", "run_id", "$run")},
	"list_stale":        {given("user")},
	"mcp.list_commands": {given("user")},
	"mcp_list_commands": {given("user")},
	"mcp.help":          {given("user", "command_name", "generate_scene")},
	"mcp_help":          {given("user", "command_name", "generate_scene")},
}

// onlyEmbedded maps operations that no database supports to the text of their best answer.
var onlyEmbedded = map[string]string{"download_backup": "there is no backup", "delete_backup": "there is no backup"}

// unequipped maps operations that need a program or a state that a stage does not have to the
// text of their best answer.
var unequipped = map[string]string{
	"generate_scene": "DEPENDENCY_MISSING", "add_object": "DEPENDENCY_MISSING", "generate_terrain": "DEPENDENCY_MISSING",
	"generate_texture": "DEPENDENCY_MISSING",
	"populate_level":   "DEPENDENCY_MISSING", "generate_blueprint": "DEPENDENCY_MISSING",
	"profile_performance": "DEPENDENCY_MISSING", "render_preview": "DEPENDENCY_MISSING",
	"list_objects": "DEPENDENCY_MISSING", "plan_execute": "DEPENDENCY_MISSING", "export_asset": "DEPENDENCY_MISSING",
	"import_asset": "DEPENDENCY_MISSING",
	// No host is allowed for downloads.
	"upload_from_url": "fetch.hosts",
	// Without a run that made something there is nothing to fetch, undo or repeat.
	"get_artifact": "there is no artifact", "undo_run": "run", "verify_run": "run",
	// A game ends only after hours of its own clock.
	"replay_game": "the game goes on",
}
