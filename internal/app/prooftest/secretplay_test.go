package prooftest

import (
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// carol proposes; nobody else sees her waiting proposals.
var carol = newAuthor("carol", access.RoleUser)

// tellSecretPlay creates, hidden from all but those of a label, things on the surfaces beside
// the wiki.
func (s *story) tellSecretPlay(l access.Label) {
	s.tellHidden(func() {
		own := func(n canon.NewCard) canon.Card {
			n.Label = &l
			c := s.putCard(n)
			s.known.ids = append(s.known.ids, c.ID.String())
			s.known.hidden = append(s.known.hidden, c.Name)
			return c
		}
		cellar := s.tellSecretPlaces(l, own)
		s.tellSecretNear(l, own, cellar)
		s.tellSecretLore(l, own)
		s.tellSecretEntities(l, own)
		if len(l.Subjects) == 0 && l.Level == access.LevelGM {
			s.tellSecretsOfGM(l, cellar)
		}
		s.tellOthers(l)
		s.deliverEvents()
	})
}

// tellSecretPlaces creates places, exits, realms and layers around the visible ones.
func (s *story) tellSecretPlaces(l access.Label, own func(canon.NewCard) canon.Card) canon.Card {
	word := func(place string) string { return s.newSecret(place, l) }
	cellar := own(canon.NewCard{Name: "Cellar " + s.newSecretName("place's name", l), Type: "Location", Codename: "loc-" +
		word("place's codename"), Content: "<p>" + word("place's content") + " lantern</p>",
		Fields: rawJSON(`{"tags":["` + word("place's tag") + `"],"exitAvailability":{"pending":{"down":"` +
			word("exit's reason") + `"}}}`)})
	s.known.hidden = append(s.known.hidden, cellar.Codename)
	way := func(from, direction, to string) {
		s.linkCards("exit", from, to, `{"direction":"`+direction+`","description":"`+
			s.mint.newUnshownMark("exit's description", l)+`","travelDurationMs":1,"key":"`+
			s.mint.newUnshownMark("exit's key", l)+`"}`, l)
	}
	way("Harbour", "down", cellar.Name)
	way("Harbour", "east", cellar.Name) // a visible exit is added here later
	way("Harbour", "west", "Market")    // a pending exit is here; both of its ends are visible
	way(cellar.Name, "up", "Chapel")    // a shorter route
	order := own(canon.NewCard{Name: "Order " + s.newSecretName("realm's name", l), Type: "Realm",
		Fields: rawJSON(`{"realmType":"functional","scope":"MICRO","narrativeTags":["` + word("realm's tag") + `"]}`)})
	s.linkCards("member_of", "Harbour", order.Name, `{}`, l)
	s.linkCards("within", "Market", order.Name, `{}`, l)
	s.linkCards("within", "Harbour", "Mist Lodge", `{"`+s.mint.newUnshownMark("link's attribute", l)+`":1}`, l)
	for _, on := range []string{"Harbour", "Low Ward", "Market", order.Name, cellar.Name} {
		for _, kind := range []string{"weather", "ambient", "dynamic", "base", "lighting"} {
			s.addLayer(on, canon.Layer{Kind: kind, Text: s.mint.newUnshownMark("layer's text", l), Label: l})
		}
	}
	own(canon.NewCard{Name: "Harbour+tags", Type: "Pointer", Content: "[[" + s.newSecretName("tag of a place", l) + "]]"})
	s.editCard(cellar.ID, "<p>"+word("place's content, later")+"</p>")
	return cellar
}

// tellSecretNear puts people and things into a place where everybody is, and records their
// events.
func (s *story) tellSecretNear(l access.Label, own func(canon.NewCard) canon.Card, cellar canon.Card) {
	spy := own(canon.NewCard{Name: "Spy " + s.newSecretName("player's name", l), Type: "Player", Root: true})
	s.linkCards("at", spy.Name, "Harbour", `{"clock":987654321000,"heading":"up"}`, l)
	ghost := own(canon.NewCard{Name: "Ghost " + s.newSecretName("character's name", l), Type: "Character", Content: "x",
		Fields: rawJSON(`{"says":["` + s.newSecret("line", l) + `"]}`)})
	s.linkCards("at", ghost.Name, "Harbour", `{}`, l)
	own(canon.NewCard{Name: "Tam Reed", Type: "Character", Content: s.newSecret("homonym", l)})
	ware := own(canon.NewCard{Name: "Salt " + s.newSecretName("commodity's name", l), Type: "Commodity", Content: "x",
		Fields: rawJSON(`{"basePrice":3,"currency":"Penny"}`)})
	s.linkCards("stocks", ghost.Name, ware.Name, `{"quantity":7}`, l)
	s.linkCards("stocks", ghost.Name, "Salt Loaf", `{"quantity":987654,"price":1}`, l)
	s.linkCards("stocks", "Harbour", ware.Name, `{"quantity":987653}`, l)
	s.linkCards("stocks", "Harbour", "Salt Loaf", `{"quantity":987652,"price":2}`, l)
	own(canon.NewCard{Name: "Maw " + s.newSecretName("monster's name", l), Type: "Creature", Content: "x",
		Fields: rawJSON(monsterRules)})
	purse := own(canon.NewCard{Name: "Purse " + s.newSecretName("thing's name", l), Type: "Item", Content: "x"})
	s.linkCards("holds", "Mira Low", purse.Name, `{"quantity":7}`, l)
	s.linkCards("at", purse.Name, "Harbour", `{}`, l)
	mira, harbour := s.ids["mira"], s.ids["harbour"]
	for _, scope := range []string{"loc:" + harbour, "player:" + mira, "loc:" + cellar.ID.String(), "global:world"} {
		for _, kind := range []string{"NPC.Tick", "Player.Move", "NPC.Dialogue"} {
			s.recordEvent(canon.Event{Type: kind, Scope: scope, Version: 1, Label: l,
				Actor:   canon.EventActor{Kind: "npc", ID: mira},
				Payload: rawJSON(`{"text":"` + s.mint.newUnshownMark("event's payload", l) + `","clock":987654321000}`)})
		}
	}
}

// tellSecretLore creates facts.
func (s *story) tellSecretLore(l access.Label, own func(canon.NewCard) canon.Card) {
	for i, kind := range []string{"Lore", "Faction", "Artifact"} {
		code := "fact_" + s.newSecret("fact's id", l)
		s.known.hidden = append(s.known.hidden, code)
		own(canon.NewCard{Name: "Truth " + s.newSecretName("fact's name", l), Type: kind, Codename: code,
			Content: "<p>The lantern road is owed to the sea and the mist. " + s.newSecret("fact's text", l) + "</p>",
			Fields: rawJSON(`{"factType":"historical_event","aliases":["the owing","` + s.newSecret("fact's alias", l) +
				`"],"n":` + fmt.Sprint(i) + `}`)})
	}
}

// tellSecretEntities creates hidden parts of a campaign, which would change counts, lists and
// maps.
func (s *story) tellSecretEntities(l access.Label, own func(canon.NewCard) canon.Card) {
	word := func(place string) string { return s.newSecret(place, l) }
	bo := own(canon.NewCard{Name: "Bo " + s.newSecretName("entity's name", l), Type: "Character",
		Content: word("entity's description") + " lends money",
		Fields: rawJSON(`{"age":31,"aliases":["` + word("entity's alias") + `"],"` + word("attribute's name") + `":"` +
			word("attribute") + `"}`)})
	own(canon.NewCard{Name: bo.Name + "+tags", Type: "Pointer", Content: "[[history]]"})
	own(canon.NewCard{Name: "Ann Vale", Type: "Character", Content: word("homonym")})
	tie := func(from, to, tone string) {
		id := s.linkCards("relationship", from, to, `{"type":"ally of","inverse":"ally of","symmetric":true,"tone":"`+tone+
			`","strength":9,"note":"`+s.mint.newUnshownMark("relationship", l)+`"}`, l)
		s.known.ids = append(s.known.ids, id.String())
	}
	tie("Ann Vale", bo.Name, "friendly")
	tie(bo.Name, "Dee Holm", "hostile") // a shorter path between two visible entities
	tie("Ann Vale", "Dee Holm", "romantic")
	event := own(canon.NewCard{Name: "Fall " + s.newSecretName("event's name", l), Type: "Timeline Event",
		Content: word("event's description"), Root: true,
		Fields: rawJSON(`{"date":"1926-03-13","precision":"exact","sort":[192603130000,192603130000]}`)})
	s.linkCards("involves", event.Name, "Ann Vale", `{}`, l)
	s.linkCards("involves", event.Name, bo.Name, `{}`, l)
	own(canon.NewCard{Name: "Session " + s.newSecretName("session's name", l), Type: "Session", Content: word("recap"),
		Root: true,
		Fields: rawJSON(`{"number":2,"sort":2,"date":"2026-01-01","status":"PLANNED","stage":"prep","play_notes":"` +
			word("play notes") + `"}`)})
}

// tellSecretsOfGM creates a GM's secrets by the operations of the campaign and the studio.
func (s *story) tellSecretsOfGM(l access.Label, cellar canon.Card) {
	word := func(place string) string { return s.newSecret(place, l) }
	in := func(kv ...any) map[string]any {
		m := given(kv...).input
		m["campaign_id"] = "lendwater"
		return m
	}
	ann := s.ids["ann"]
	s.do(keeper, "entity_update", in("entity_id", ann, "gm_notes", word("GM's notes"), "discovered_session", 1,
		"attributes", map[string]any{"secrets": word("secret attribute")}))
	s.do(keeper, "entity_update", in("entity_id", ann, "source_document", word("other source"), "attributes",
		map[string]any{"age": 99}))
	s.do(keeper, "session_update", in("session_id", s.ids["one"], "prep_notes", word("preparation"), "play_notes",
		word("play notes"), "actual_notes", word("what really happened")))
	s.do(keeper, "session_update", in("session_id", s.ids["told"], "play_notes", word("play notes not yet published"),
		"actual_notes", word("what is not yet published")))
	hidden, _ := s.do(keeper, "entity_create", in("name", "Eve "+s.newSecretName("unrevealed", l), "entity_type", "npc",
		"description", word("unrevealed"), "gm_notes", word("unrevealed notes")))["id"].(string)
	tie, _ := s.do(keeper, "relationship_create", in("source_id", ann, "target_id", s.ids["cy"], "type", "betrayed",
		"secret", true))["id"].(string)
	event, _ := s.do(keeper, "timeline_add", in("date", "1926-03-15", "precision", "exact", "description",
		word("unknown event"), "entity_ids", []string{ann}))["id"].(string)
	s.known.ids = append(s.known.ids, hidden, tie, event)
	conflicts, _ := s.do(keeper, "canon_check", in())["conflicts"].([]any)
	for _, c := range conflicts {
		m, _ := c.(map[string]any)
		id, _ := m["id"].(string)
		s.known.ids = append(s.known.ids, id)
	}
	s.do(approver, "give-standing-approval", map[string]any{"kind": "canon_change", "operation": "create_card",
		"under": "~" + cellar.ID.String(), "perHour": 1})
	_, err := s.tryDo(keeper, "generate_scene", map[string]any{"card": "~" + cellar.ID.String(), "audience": "gm",
		"seed": 3, "target": "blender", "description": "A vault."})
	if err == nil {
		s.t.Fatal("the studio built a scene without a program")
	}
	s.known.ids = append(s.known.ids, s.latestRun())
	plan, _ := s.do(keeper, "plan_create", map[string]any{"intent": "build a tavern of " +
		s.mint.newUnshownMark("plan's intent", l) + " with ten barrels", "card": cellar.Name,
		"audience": "gm"})["plan"].(map[string]any)
	id, _ := plan["plan_id"].(string)
	s.known.ids = append(s.known.ids, id)
}

// tellOthers creates proposals and games of other people, which no role sees.
func (s *story) tellOthers(l access.Label) {
	propose := func(by access.Caller, operation string, input map[string]any) {
		out := s.do(by, operation, input)
		id, _ := out["proposalId"].(string)
		s.known.ids = append(s.known.ids, id)
	}
	apart := func(place string) string { return s.mint.newUnshownMark(place, forNobody) }
	change := func(name, content, reason string) map[string]any {
		return map[string]any{"op": map[string]any{"name": "update_card",
			"arguments": map[string]any{"name": name, "content": content}}, "reason": reason}
	}
	propose(carol, "propose-canon-change", change("Salt Quay", apart("proposal's text"), apart("proposal's reason")))
	if s.others++; s.others > 1 {
		return // one game is enough, and all share the budgets
	}
	// The audience will propose the same later; carol's proposal must not count as a duplicate.
	propose(carol, "propose-canon-change", change("Lendwater", "<p>Salt.</p>", "It is so."))
	seconds := map[string]any{"sitrep": 86400}
	game, _ := s.do(keeper, "create_game", map[string]any{"seconds": seconds})["game_id"].(string)
	s.known.ids = append(s.known.ids, game)
	for i := range 6 {
		token, _ := s.do(guest(itoa(i)), "join_game", map[string]any{"id": game, "name": apart("name in a game"),
			"job_title": apart("title in a game")})["token"].(string)
		s.keys[fmt.Sprint("other", i+1)] = token
	}
	s.do(keeper, "start_game", map[string]any{"id": game})
	s.chat("other1", game, map[string]any{"text": apart("chat of others")})
	s.tellWhisper()
}

// tellWhisper sends a message in a private channel of the audience's game. The audience has the
// first seat, which does not see it.
func (s *story) tellWhisper() {
	s.chat("p2", s.ids["game"], map[string]any{"channel": "aligned", "text": s.mint.newUnshownMark("whisper", forNobody)})
}

// forNobody is a label that none of the callers sees.
var forNobody = access.NewLabel(access.LevelAdmin+1, "carol")
