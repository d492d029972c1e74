package prooftest

import (
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// carol is somebody of whom nobody else sees what waits.
var carol = author("carol", access.RoleUser)

// tellSecretPlay tells, out of sight, of what those of a label have on the surfaces beside
// the wiki.
func (s *story) tellSecretPlay(l access.Label) {
	s.unseen(func() {
		own := func(n canon.NewCard) canon.Card {
			n.Label = &l
			c := s.put(n)
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
		s.handOn()
	})
}

// tellSecretPlaces makes places, ways, realms and layers around those in sight.
func (s *story) tellSecretPlaces(l access.Label, own func(canon.NewCard) canon.Card) canon.Card {
	word := func(place string) string { return s.secret(place, l) }
	cellar := own(canon.NewCard{Name: "Cellar " + s.secretName("place's name", l), Type: "Location", Codename: "loc-" + word("place's codename"), Content: "<p>" + word("place's content") + " lantern</p>",
		Fields: object(`{"tags":["` + word("place's tag") + `"],"exitAvailability":{"pending":{"down":"` + word("exit's reason") + `"}}}`)})
	s.known.hidden = append(s.known.hidden, cellar.Codename)
	way := func(from, direction, to string) {
		s.join("exit", from, to, `{"direction":"`+direction+`","description":"`+s.mint.apart("exit's description", l)+`","travelDurationMs":1,"key":"`+s.mint.apart("exit's key", l)+`"}`, l)
	}
	way("Harbour", "down", cellar.Name)
	way("Harbour", "east", cellar.Name) // where one in sight comes later
	way("Harbour", "west", "Market")    // where one is pending; both ends are in sight
	way(cellar.Name, "up", "Chapel")    // a shorter way
	order := own(canon.NewCard{Name: "Order " + s.secretName("realm's name", l), Type: "Realm",
		Fields: object(`{"realmType":"functional","scope":"MICRO","narrativeTags":["` + word("realm's tag") + `"]}`)})
	s.join("member_of", "Harbour", order.Name, `{}`, l)
	s.join("within", "Market", order.Name, `{}`, l)
	s.join("within", "Harbour", "Mist Lodge", `{"`+s.mint.apart("link's attribute", l)+`":1}`, l)
	for _, on := range []string{"Harbour", "Low Ward", "Market", order.Name, cellar.Name} {
		for _, kind := range []string{"weather", "ambient", "dynamic", "base", "lighting"} {
			s.lay(on, canon.Layer{Kind: kind, Text: s.mint.apart("layer's text", l), Label: l})
		}
	}
	own(canon.NewCard{Name: "Harbour+tags", Type: "Pointer", Content: "[[" + s.secretName("tag of a place", l) + "]]"})
	s.edit(cellar.ID, "<p>"+word("place's content, later")+"</p>")
	return cellar
}

// tellSecretNear puts people and things where everybody stands, and tells what they did.
func (s *story) tellSecretNear(l access.Label, own func(canon.NewCard) canon.Card, cellar canon.Card) {
	spy := own(canon.NewCard{Name: "Spy " + s.secretName("player's name", l), Type: "Player", Root: true})
	s.join("at", spy.Name, "Harbour", `{"clock":987654321000,"heading":"up"}`, l)
	ghost := own(canon.NewCard{Name: "Ghost " + s.secretName("character's name", l), Type: "Character", Content: "x", Fields: object(`{"says":["` + s.secret("line", l) + `"]}`)})
	s.join("at", ghost.Name, "Harbour", `{}`, l)
	own(canon.NewCard{Name: "Tam Reed", Type: "Character", Content: s.secret("homonym", l)})
	purse := own(canon.NewCard{Name: "Purse " + s.secretName("thing's name", l), Type: "Item", Content: "x"})
	s.join("holds", "Mira Low", purse.Name, `{"quantity":7}`, l)
	s.join("at", purse.Name, "Harbour", `{}`, l)
	mira, harbour := s.ids["mira"], s.ids["harbour"]
	for _, scope := range []string{"loc:" + harbour, "player:" + mira, "loc:" + cellar.ID.String(), "global:world"} {
		for _, kind := range []string{"NPC.Tick", "Player.Move", "NPC.Dialogue"} {
			s.happen(canon.Event{Type: kind, Scope: scope, Version: 1, Label: l, Actor: canon.EventActor{Kind: "npc", ID: mira},
				Payload: object(`{"text":"` + s.mint.apart("event's payload", l) + `","clock":987654321000}`)})
		}
	}
}

// tellSecretLore makes facts.
func (s *story) tellSecretLore(l access.Label, own func(canon.NewCard) canon.Card) {
	for i, kind := range []string{"Lore", "Faction", "Artifact"} {
		code := "fact_" + s.secret("fact's id", l)
		s.known.hidden = append(s.known.hidden, code)
		own(canon.NewCard{Name: "Truth " + s.secretName("fact's name", l), Type: kind, Codename: code, Content: "<p>The lantern road is owed to the sea and the mist. " + s.secret("fact's text", l) + "</p>",
			Fields: object(`{"factType":"historical_event","aliases":["the owing","` + s.secret("fact's alias", l) + `"],"n":` + fmt.Sprint(i) + `}`)})
	}
}

// tellSecretEntities makes what counts, lists and maps of a campaign would show.
func (s *story) tellSecretEntities(l access.Label, own func(canon.NewCard) canon.Card) {
	word := func(place string) string { return s.secret(place, l) }
	bo := own(canon.NewCard{Name: "Bo " + s.secretName("entity's name", l), Type: "Character", Content: word("entity's description") + " lends money",
		Fields: object(`{"age":31,"aliases":["` + word("entity's alias") + `"],"` + word("attribute's name") + `":"` + word("attribute") + `"}`)})
	own(canon.NewCard{Name: bo.Name + "+tags", Type: "Pointer", Content: "[[history]]"})
	own(canon.NewCard{Name: "Ann Vale", Type: "Character", Content: word("homonym")})
	tie := func(from, to, tone string) {
		id := s.join("relationship", from, to, `{"type":"ally of","inverse":"ally of","symmetric":true,"tone":"`+tone+`","strength":9,"note":"`+s.mint.apart("relationship", l)+`"}`, l)
		s.known.ids = append(s.known.ids, id.String())
	}
	tie("Ann Vale", bo.Name, "friendly")
	tie(bo.Name, "Dee Holm", "hostile") // a shorter way between two in sight
	tie("Ann Vale", "Dee Holm", "romantic")
	event := own(canon.NewCard{Name: "Fall " + s.secretName("event's name", l), Type: "Timeline Event", Content: word("event's description"), Root: true,
		Fields: object(`{"date":"1926-03-13","precision":"exact","sort":[192603130000,192603130000]}`)})
	s.join("involves", event.Name, "Ann Vale", `{}`, l)
	s.join("involves", event.Name, bo.Name, `{}`, l)
	own(canon.NewCard{Name: "Session " + s.secretName("session's name", l), Type: "Session", Content: word("recap"), Root: true,
		Fields: object(`{"number":2,"sort":2,"date":"2026-01-01","status":"PLANNED","stage":"prep","play_notes":"` + word("play notes") + `"}`)})
}

// tellSecretsOfGM makes, by the campaign's and the studio's own operations, what a GM
// keeps from players.
func (s *story) tellSecretsOfGM(l access.Label, cellar canon.Card) {
	word := func(place string) string { return s.secret(place, l) }
	in := func(kv ...any) map[string]any {
		m := given("gm", kv...).input
		m["campaign_id"] = "lendwater"
		return m
	}
	ann := s.ids["ann"]
	s.do(keeper, "entity_update", in("entity_id", ann, "gm_notes", word("GM's notes"), "discovered_session", 1, "attributes", map[string]any{"secrets": word("secret attribute")}))
	s.do(keeper, "entity_update", in("entity_id", ann, "source_document", word("other source"), "attributes", map[string]any{"age": 99}))
	s.do(keeper, "session_update", in("session_id", s.ids["one"], "prep_notes", word("preparation"), "play_notes", word("play notes"), "actual_notes", word("what really happened")))
	s.do(keeper, "session_update", in("session_id", s.ids["told"], "play_notes", word("play notes not yet published"), "actual_notes", word("what is not yet published")))
	hidden, _ := s.do(keeper, "entity_create", in("name", "Eve "+s.secretName("unrevealed", l), "entity_type", "npc", "description", word("unrevealed"), "gm_notes", word("unrevealed notes")))["id"].(string)
	tie, _ := s.do(keeper, "relationship_create", in("source_id", ann, "target_id", s.ids["cy"], "type", "betrayed", "secret", true))["id"].(string)
	event, _ := s.do(keeper, "timeline_add", in("date", "1926-03-15", "precision", "exact", "description", word("unknown event"), "entity_ids", []string{ann}))["id"].(string)
	s.known.ids = append(s.known.ids, hidden, tie, event)
	conflicts, _ := s.do(keeper, "canon_check", in())["conflicts"].([]any)
	for _, c := range conflicts {
		m, _ := c.(map[string]any)
		id, _ := m["id"].(string)
		s.known.ids = append(s.known.ids, id)
	}
	s.do(approver, "give-standing-approval", map[string]any{"kind": "canon_change", "operation": "create_card", "under": "~" + cellar.ID.String(), "perHour": 1})
	_, err := s.tried(keeper, "generate_scene", map[string]any{"card": "~" + cellar.ID.String(), "audience": "gm", "seed": 3, "target": "blender", "description": "A vault."})
	if err == nil {
		s.t.Fatal("the studio built a scene without a program")
	}
	s.known.ids = append(s.known.ids, s.latestRun())
	plan, _ := s.do(keeper, "plan_create", map[string]any{"intent": "build a tavern of " + s.mint.apart("plan's intent", l) + " with ten barrels", "card": cellar.Name, "audience": "gm"})["plan"].(map[string]any)
	id, _ := plan["plan_id"].(string)
	s.known.ids = append(s.known.ids, id)
}

// tellOthers tells what other people propose and play: no role sees that.
func (s *story) tellOthers(l access.Label) {
	propose := func(by access.Caller, operation string, input map[string]any) {
		out := s.do(by, operation, input)
		id, _ := out["proposalId"].(string)
		s.known.ids = append(s.known.ids, id)
	}
	apart := func(place string) string { return s.mint.apart(place, forNobody) }
	change := func(name, content, reason string) map[string]any {
		return map[string]any{"op": map[string]any{"name": "update_card", "arguments": map[string]any{"name": name, "content": content}}, "reason": reason}
	}
	propose(carol, "propose-canon-change", change("Rent Quay", apart("proposal's text"), apart("proposal's reason")))
	if s.others++; s.others > 1 {
		return // once is enough, and budgets are for all
	}
	// What carol asks for and the audience will ask for too must not be known for it.
	propose(carol, "propose-canon-change", change("Lendwater", "<p>Salt.</p>", "It is so."))
	seconds := map[string]any{"sitrep": 86400}
	game, _ := s.do(keeper, "create_game", map[string]any{"seconds": seconds})["game_id"].(string)
	s.known.ids = append(s.known.ids, game)
	for i := range 6 {
		token, _ := s.do(keeper, "join_game", map[string]any{"id": game, "name": apart("name in a game"), "job_title": apart("title in a game")})["token"].(string)
		s.keys[fmt.Sprint("other", i+1)] = token
	}
	s.do(keeper, "start_game", map[string]any{"id": game})
	s.chat("other1", game, map[string]any{"text": apart("chat of others")})
	s.whisper()
}

// whisper has those at the audience's table write to each other who may; the audience
// sits at its first seat, and is none of them.
func (s *story) whisper() {
	s.chat("p2", s.ids["game"], map[string]any{"channel": "aligned", "text": s.mint.apart("whisper", forNobody)})
}

// forNobody is of what none of the callers is shown.
var forNobody = access.NewLabel(access.LevelAdmin+1, "carol")
