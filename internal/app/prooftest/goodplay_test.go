package prooftest

import (
	"encoding/json"
	"strings"

	"loregate/internal/access"
	"loregate/internal/app"
)

// fields has the members of an object.
type fields = map[string]any

// list returns a list of values, which may be placeholders of ids.
func list(v ...any) []any { return v }

// aimedAtPlaces has inputs about places, players, lore and proposals beside which the story hides
// something: exits, people, things, facts, standing approvals and games of others.
var aimedAtPlaces = map[string][]example{
	"get-location-context": {given("locationId", "loc-market", "tick", "43200000"),
		given("locationId", "$harbour", "as_of", "2026-01-02T03:08:00Z"), given("locationId", "$chapel")},
	"get-player-context": {given("playerId", "$mira", "as_of", "2026-01-02T03:09:00Z"), given("playerId", "$ben")},
	"get-atmosphere": {given("locationId", "$market", "tick", 1000),
		given("locationId", "loc-chapel")},
	"get-map":             {given(), given("pictureId", "loc-market")},
	"get-spatial-context": {given("depth", 5), given("locationId", "loc-chapel", "depth", "3")},
	"get-recent-events": {given("scope", "location", "scopeId", "$harbour"),
		given("scope", "player", "scopeId", "$mira", "limit", 3),
		given("scope", "location", "scopeId", "loc-market"), given("scope", "player", "scopeId", "$ben")},
	"get-location": {given("locationId", "$market")},
	"list-exits":   {given("locationId", "loc-market"), given("as_of", "2026-01-02T03:08:00Z")},
	"parse-command": {given("text", "tkae the iron key and talk to tam reed", "playerId", "$mira"),
		given("text", "go down, take the purse", "locationId", "$harbour")},
	"send_command": {given("id", "$mira", "text", "go east then go west then go down"),
		given("id", "$mira", "text", "talk to tam reed then inventory"),
		given("id", "$mira", "text", "take the rope then examine the stone then west"),
		given("id", "$mira", "text", "take the purse then examine ghost"),
		given("id", "$mira", "text", "buy two loaves then sell the loaf"), given("id", "$mira", "text", "buy salt"),
		given("id", "$mira", "text", "what do you sell?"), given("id", "$mira", "text", "haggle over the loaf")},
	"set-stock": {given("sellerId", "tam_reed", "commodityId", "ware-loaf", "quantity", 5, "dry_run", true),
		given("sellerId", "$market", "commodityId", "$loaf", "quantity", "5", "price", 4, "dry_run", true)},
	"suggest-price-adjustments": {given("commodityId", "ware-loaf"), given("commodityId", "$loaf")},
	"simulate-faction-tick": {given("factionId", "faction_mist", "horizonSteps", 3, "seed", "5"),
		given("factionId", "$lodge")},
	"generate-event-arc": {given("seed", "4", "constraints", fields{"locationId": "loc-harbour", "beats": 2}),
		given("seed", 1)},
	"adopt-event-arc": {after(newArc, given("seed", 4, "constraints", fields{"beats": 2}, "expectedHash", "$", "adopt",
		[]int{1}, "world", "lendwater"))},
	"detect-anomalies":   {given("range", fields{"from": "2026-01-02T00:00:00Z", "to": "2026-01-03T00:00:00Z"})},
	"advance-time":       {given("minutes", "20", "dry_run", true)},
	"get-canonical-fact": {given("factId", "fact_debt"), given("factId", "$lodge")},
	"search-lore": {given("query", "lantern road owed"), given("query", "the owing", "k", "20"),
		given("query", "mist lodg")},
	"semantic-search-lore": {given("query", "what is owed to the sea", "k", 20)},
	"propose-ambience": {given("locationId", "$harbour", "layerType", "ambient", "text",
		"A rope creaks in its own time.", "idempotencyKey", "creak")},
	"propose-canon-change": {given("op", fields{"name": "update_card",
		"arguments": fields{"name": "Lendwater", "content": "<p>Salt.</p>"}}, "reason", "It is so."),
		given("op", fields{"name": "create_card", "arguments": fields{"name": "Nemesis", "content": "x"}}, "reason",
			"It is wanted."),
		given("op", fields{"name": "create_card", "arguments": fields{"name": "Salt Quay+cellar+shelf"}}, "reason",
			"It is wanted.")},
	"propose-npc-dialogue": {given("npcId", "$keeper", "playerId", "$mira", "draftText",
		"Mind the third step, it is wet.")},
	"propose-action": {given("playerId", "$mira", "actionEnvelope",
		fields{"frames": list(fields{"verb": "look", "confidence": 1, "order": 0})}),
		given("playerId", "$mira", "actionEnvelope",
			fields{"frames": list(fields{"verb": "move", "direction": "down", "order": 0})})},
	"give-standing-approval": {given("kind", "quest", "perHour", "1", "world", "lendwater"),
		given("kind", "canon_change", "operation", "update_card", "under", "Nemesis", "perHour", 2, "world",
			"lendwater")},
	"get-proposal": {given("proposalId", "$change"), given("proposalId", "$waits2")},
	"list-proposals": {given(), given("status", "pending_review", "limit", 1),
		given("mine", true, "kind", "ambience")},
	"replay-proposal":  {given("proposalId", "$change")},
	"approve-proposal": {given("proposalId", "$waits", "expectedHash", strings.Repeat("a", 64))},
	"join_game":        {given("id", "$game", "name", "Late")},
	"command_game": {given("id", "$game", "type", "advance"),
		given("id", "$lobby", "type", "remove", "player_id", "p1"),
		given("id", "$game", "type", "chat", "text", "I have no seat.")},
	"get_game":      {given("id", "$lobby")},
	"get_encounter": {given("id", "$fight")},
	"encounter_act": {given("id", "$fight", "kind", "dodge"), given("id", "$fight", "kind", "end"),
		given("id", "$fight", "kind", "attack", "actor", "Nemesis", "targets", list("Ada"))},
	"cast_spell":        {given("id", "$fight", "spell", "Spark", "targets", list("Ada"))},
	"rules_lookup":      {given("name", ":quay-crab"), given("name", "Quay Crab"), given("name", "Maw")},
	"suggest_encounter": {given("levels", list(1), "danger", "easy", "seed", strings.Repeat("0", 64))},
	"start_encounter": {given("player_sides", list("a"), "fighters", list(fields{"side": "a", "card": "Quay Crab"},
		fields{"side": "b", "card": "Quay Crab", "name": "Other"}))},
	"forget": {given("id", "$mira", "npcId", "$keeper"), given("id", "$ben", "dry_run", true)},
	"get-narration-context": {given("playerId", "$mira", "npcId", "$keeper", "purpose", "dialogue"),
		given("playerId", "$ben", "npcId", "$keeper", "purpose", "dialogue", "maxTokens", "8000"),
		given("locationId", "$harbour", "maxTokens", "8000"), given("locationId", "$market", "maxTokens", "200")},
	"list_runs":      {given(), given("card", "Harbour", "limit", 1)},
	"generate_scene": {given("card", "Harbour", "seed", 7, "target", "blender", "audience", "user", "dry_run", true)},
	"plan_create": {given("intent", "build Harbour at dusk and export it to glb", "card", "Harbour", "seed",
		5), given("intent", "build Harbour", "card", "Harbour", "audience", "user")},
}

// ofStage has inputs that name the programs which a stage lacks, for operations whose examples take
// the instance's own.
var ofStage = map[string][]example{
	"populate_level": {given("asset", "Crate", "density", 0.01, "target", "blender")},
	"list_objects":   {given("target", "blender")},
}

// newArc drafts an arc of events, and returns its hash. It depends on what the drafter sees: an operator drafts only
// where no twin is told the same.
func newArc(s *story) (hash string) {
	by := s.who
	if by.EveryRole < access.RoleGM {
		by = approver
		if s.keys["admin"] == "" {
			return strings.Repeat("0", 64)
		}
	}
	s.tellVisible(func() {
		hash, _ = s.do(by, "generate-event-arc", fields{"seed": 4, "constraints": fields{"beats": 2}})["hash"].(string)
	})
	return hash
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

// newOutdatedProposal returns the id of a proposal of alice, whose card has changed while it waited.
func newOutdatedProposal(s *story) (id string) {
	s.tellVisible(func() {
		s.asked++
		name := "Loft " + itoa(s.asked)
		s.do(keeper, "create_card", fields{"name": name, "content": "<p>Dry.</p>"})
		body := `{"reason": "It rained.", "op": {"name": "update_card", "arguments": {"name": "` + name +
			`", "content": "<p>Wet.</p>"}}}`
		got := s.send("alice", request{operation: "propose", method: "POST", path: "/api/proposals/canon-change", body: body})
		var out struct{ ProposalID string }
		if err := json.Unmarshal([]byte(got.body), &out); err != nil || out.ProposalID == "" {
			s.t.Fatalf("alice cannot propose: %s", got)
		}
		id = out.ProposalID
		hash := s.do(approver, "get-proposal", fields{"proposalId": id})["expectedHash"]
		s.do(keeper, "update_card", fields{"name": name, "patch": fields{"mode": "append", "content": "<p>Damp.</p>"}})
		if _, err := s.doForAnswer(approver, "approve-proposal", fields{"proposalId": id, "expectedHash": hash}); err == nil {
			s.t.Fatal("a proposal on a changed card is approved")
		}
	})
	return id
}

// newHiddenPart makes a card with a hidden part, notes its id as fresh, and returns the id of the part.
func newHiddenPart(s *story) (id string) {
	s.tellVisible(func() {
		s.asked++
		out := s.do(keeper, "create_card", fields{"name": "Tale " + itoa(s.asked), "text_format": "markdown",
			"content": "A tale.\n\n%%Told later.%%\n"})
		s.ids["fresh"], _ = out["id"].(string)
		parts, _ := out["hidden"].([]any)
		if len(parts) != 1 {
			s.t.Fatalf("a card with a mark has no hidden part: %v", out)
		}
		part, _ := parts[0].(map[string]any)
		id, _ = part["id"].(string)
	})
	return id
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

func inCampaign(kv ...any) example {
	return given(append(kv, "campaign_id", "lendwater")...)
}

// aimedAtCampaign has inputs about entities beside which the story hides secrets, relationships,
// events and conflicts. Those that would change a visible part for all later calls are dry runs.
var aimedAtCampaign = map[string][]example{
	"entity_search": {inCampaign("query", "lends money"), inCampaign(),
		inCampaign("entity_type", "npc", "tags", list("history"), "limit", 1), inCampaign("query", "an vale"),
		inCampaign("offset", 2, "limit", 2)},
	"entity_get":     {inCampaign("entity_id", "$dee")},
	"entity_compare": {inCampaign("entity_id", "$ann", "other_id", "$dee")},
	"entity_create":  {inCampaign("name", "Ann Vail", "entity_type", "npc")},
	"entity_update":  {inCampaign("entity_id", "$ann", "description", "Lends.", "source_document", "Rumour")},
	"relationship_create": {inCampaign("source_id", "$ann", "target_id", "$dee", "type", "employs"),
		inCampaign("source_id", "$dee", "target_id", "$ann", "type", "ally of")},
	"relationship_map": {inCampaign("entity_id", "$ann", "depth", 4), inCampaign("entity_id", "$ann", "depth", 4,
		"as_of_session", 1),
		inCampaign("entity_id", "$dee")},
	"timeline_query": {inCampaign(), inCampaign("entity_id", "$ann"),
		inCampaign("start_date", "1926-03", "end_date", "1926-04", "limit", 1)},
	"timeline_add": {inCampaign("date", "1926-05", "precision", "month", "description", "Thaw.", "entity_ids",
		list("$cy"))},
	"session_create": {inCampaign("recap", "They left.", "prep_notes", "A storm."),
		inCampaign("play_notes", "They sang.", "actual_notes", "Off key.", "publish_notes", true)},
	"session_update": {inCampaign("session_id", "$one", "actual_notes", "They ran."),
		inCampaign("session_id", "$sung", "recap", "They sang by the well.", "publish_notes", true)},
	"session_list": {inCampaign(), inCampaign("status", "PLANNED")},
	"reveal":       {inCampaign("items", list(fields{"entity_id": "$dee"}), "dry_run", true)},
	"unreveal":     {inCampaign("items", list(fields{"entity_id": "$dee"}), "dry_run", true)},
	"preview_as": {inCampaign("tool", "entity_get", "arguments", fields{"entity_id": "$ann"}),
		inCampaign("tool", "campaign_get", "subject", "alice")},
	"player_knowledge": {inCampaign("entity_id", "$ann"), inCampaign("subject", "alice", "as_of_session", 1)},
	"canon_check":      {inCampaign("entity_id", "$ann")},
}

// newConflict returns a function that makes a conflict about an entity of its own, and returns
// its id.
func newConflict(name string) func(s *story) string {
	return func(s *story) (id string) {
		s.tellVisible(func() {
			s.conflicts++
			entity := s.do(keeper, "entity_create", inCampaign("name", "Quarrel "+name+" "+itoa(s.conflicts),
				"entity_type", "item", "allow_similar", true,
				"attributes", fields{"n": 1}, "source_document", "Book", "source_confidence", "AUTHORITATIVE").input)["id"]
			s.do(keeper, "entity_update", inCampaign("entity_id", entity, "source_document", "Rumour", "attributes",
				fields{"n": 2}).input)
			open, _ := s.do(keeper, "canon_check", inCampaign("entity_id", entity).input)["conflicts"].([]any)
			one, _ := open[0].(fields)
			id, _ = one["id"].(string)
		})
		return id
	}
}

// newFullLobby creates a game of the audience's that can start.
func newFullLobby(s *story) (id string) {
	s.tellVisible(func() { id, _ = s.do(s.who, "create_game", fields{})["game_id"].(string) })
	for range 6 {
		s.tellVisible(func() {
			s.do(guest(itoa(s.beat)), "join_game", fields{"id": id, "name": "Somebody " + itoa(s.beat)})
		})
	}
	return id
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
	// Without a finished import there is none to list or to undo; undoimport_test.go has those calls.
	"list_import_cards": "nothing at this address", "undo_import": "nothing at this address",
	// A game ends only after hours of its own clock.
	"replay_game": "the game is still running",
	// seatedCalls has the calls of those who have a seat.
	"read_table": "no seat", "list_moves": "no seat", "wait_for_change": "no seat", "make_move": "no seat",
}
