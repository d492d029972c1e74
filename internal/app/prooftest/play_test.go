package prooftest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// This file tells the parts of the story beside the wiki that everybody sees: a town to walk
// in, a campaign, a game, proposals and requests to the studio. The field ids has their ids by
// the names that the inputs by hand use.

// noteID keeps an id under a name.
func (s *story) noteID(name, id string) string {
	s.ids[name] = id
	s.known.ids = append(s.known.ids, id)
	return id
}

// doAndNote makes a visible call, and notes the id in its output.
func (s *story) doAndNote(name string, by access.Caller, operation, member string, input map[string]any) string {
	s.t.Helper()
	var id string
	s.tellVisible(func() { id, _ = s.do(by, operation, input)[member].(string) })
	return s.noteID(name, id)
}

// putVisible creates a visible card, and notes its id.
func (s *story) putVisible(name string, n canon.NewCard) {
	s.t.Helper()
	s.tellVisible(func() { s.noteID(name, s.putCard(n).ID.String()) })
	s.known.names = append(s.known.names, n.Name)
}

// linkCards links two cards by name under a label.
func (s *story) linkCards(kind, from, to, attrs string, l access.Label) (id canon.LinkID) {
	s.t.Helper()
	s.commitPlan(func(p *canon.Plan) error {
		a, err := p.Card(from)
		if err != nil {
			return err
		}
		b, err := p.Card(to)
		if err != nil {
			return err
		}
		id, err = p.Link(canon.Link{ID: canon.LinkIDOf(kind, from, to, attrs), Kind: kind, From: a.ID, To: b.ID,
			Attrs: json.RawMessage(attrs), Label: l})
		return err
	})
	return id
}

// addLayer adds a layer to a card by name.
func (s *story) addLayer(on string, layer canon.Layer) {
	s.t.Helper()
	s.commitPlan(func(p *canon.Plan) error {
		c, err := p.Card(on)
		if err != nil {
			return err
		}
		layer.Card = c.ID
		_, err = p.Layer(layer)
		return err
	})
}

// recordEvent records an event.
func (s *story) recordEvent(e canon.Event) {
	s.t.Helper()
	s.commitPlan(func(p *canon.Plan) error { return p.Event(e) })
}

// deliverEvents makes one round of event delivery, as a server does ten times a second.
func (s *story) deliverEvents() {
	s.t.Helper()
	if _, err := s.app.Events.Round(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

var everybody = access.NewLabel(access.LevelUser)

func rawJSON(text string) json.RawMessage { return json.RawMessage(text) }

// tellTown creates a town to walk in, and a player who does.
func (s *story) tellTown() {
	s.tellVisible(func() {
		s.commitPlan(func(p *canon.Plan) error {
			return p.Configure("Lendwater", canon.Settings{Starter: "Harbour", Description: "A town by the water.",
				Extra: map[string]string{"system": "coc-7e"}})
		})
	})
	place := func(name, content, fields string) {
		s.putVisible(strings.ToLower(name), canon.NewCard{Name: name, Type: "Location", Codename: "loc-" +
			strings.ToLower(name), Content: content, Fields: rawJSON(fields)})
	}
	place(
		"Harbour",
		"<p>Black stone and wet rope by the ferry.</p>",
		`{"tags":["quay"],"exitAvailability":{"pending":{"west":"The mist has not lifted."},"forbidden":{"up":"There is only sky."}}}`,
	)
	place("Market", "<p>Stalls, and a well that hums.</p>", `{}`)
	place("Chapel", "<p>Cold pews.</p>", `{}`)
	link := func(kind, from, to, attrs string) {
		s.tellVisible(func() { s.linkCards(kind, from, to, attrs, everybody) })
	}
	link("exit", "Harbour", "Market", `{"direction":"north","description":"Up wet steps.","travelDurationMs":120000}`)
	link("exit", "Market", "Harbour", `{"direction":"south"}`)
	link("exit", "Market", "Chapel", `{"direction":"east","lockState":"locked","key":"iron key"}`)
	s.putVisible("ward", canon.NewCard{Name: "Low Ward", Type: "Realm",
		Fields: rawJSON(`{"realmType":"political","scope":"LOCAL","narrativeTags":["tar","gossip"]}`)})
	s.putVisible("key", canon.NewCard{Name: "Iron Key", Type: "Item", Codename: "iron-key", Content: "<p>Rust.</p>"})
	s.putVisible("keeper", canon.NewCard{Name: "Tam Reed", Type: "Character", Codename: "tam_reed",
		Content: "<p>Keeps the lantern.</p>", Fields: rawJSON(`{"says":["Mind the third step."]}`)})
	s.putVisible("debt", canon.NewCard{Name: "Old Debt", Type: "Lore", Codename: "fact_debt",
		Content: "<p>The lantern road is owed to the sea.</p>", Fields: rawJSON(`{"aliases":["the owing"]}`)})
	s.putVisible("lodge", canon.NewCard{Name: "Mist Lodge", Type: "Faction", Codename: "faction_mist",
		Content: "<p>They keep the ferry and the mist.</p>"})
	s.putVisible("penny", canon.NewCard{Name: "Penny", Type: "Item", Content: "<p>Copper.</p>"})
	s.putVisible(
		"loaf",
		canon.NewCard{Name: "Salt Loaf", Type: "Commodity", Codename: "ware-loaf", Content: "<p>Bread.</p>",
			Fields: rawJSON(`{"basePrice":3,"currency":"Penny","elasticity":1}`)},
	)
	link("stocks", "Tam Reed", "Salt Loaf", `{"quantity":9,"usual":9}`)
	link("stocks", "Tam Reed", "Penny", `{"quantity":90}`)
	link("within", "Harbour", "Low Ward", `{}`)
	link("within", "Market", "Low Ward", `{}`)
	link("at", "Iron Key", "Market", `{}`)
	link("at", "Tam Reed", "Harbour", `{}`)
	s.tellVisible(func() {
		s.addLayer("Low Ward", canon.Layer{Kind: "weather", Text: "Thin rain.", Label: everybody})
		s.addLayer("Harbour", canon.Layer{Kind: "ambient", Text: "Gulls quarrel.", ToTick: 1 << 40, Label: everybody})
	})
	var made map[string]any
	s.tellVisible(func() { made = s.do(s.who, "create_player", map[string]any{"name": "Mira Low"}) })
	one, _ := made["player"].(map[string]any)
	id, _ := one["id"].(string)
	s.keys["mira"], _ = made["token"].(string)
	s.noteID("mira", id)
	link("holds", "Mira Low", "Penny", `{"quantity":90}`)
	s.tellVisible(func() { s.do(s.who, "send_command", map[string]any{"id": id, "text": "look then go north"}) })
	s.tellVisible(func() {
		s.do(s.who, "send_command", map[string]any{"id": id, "text": "take the iron key then go south"})
	})
	s.tellVisible(s.deliverEvents)
	s.known.words = append(s.known.words, "sea owing", "gulls")
}

// tellWordsOfBen has another player tell a character what the audience must not learn, where all see the two speak. An
// audience that may not know the words gets other ones in the twin without secrets.
func (s *story) tellWordsOfBen() {
	ben := newAuthor("bob", access.RoleUser)
	var id string
	s.tellVisible(func() {
		made, _ := s.do(ben, "create_player", map[string]any{"name": "Ben Low"})["player"].(map[string]any)
		id, _ = made["id"].(string)
	})
	s.noteID("ben", id)
	for _, words := range []string{"tell tam reed that the %s sank", "tell tam reed that I will bring the %s", "flatter tam reed for the %s"} {
		word := s.mint.newMark("words to a character", forBob)
		if knows := s.who.EveryRole >= access.RoleGM; knows && s.hidden != nil || !knows && !s.whole {
			word = strings.Repeat("q", len(word)) // in both twins if the audience may know it
		}
		s.tellVisible(func() { s.do(ben, "send_command", map[string]any{"id": id, "text": fmt.Sprintf(words, word)}) })
	}
}

// tellTownLater adds visible exits and texts after some hidden ones, in the same places.
func (s *story) tellTownLater() {
	s.tellVisible(func() { s.linkCards("exit", "Harbour", "Chapel", `{"direction":"east"}`, everybody) })
	s.tellVisible(func() {
		s.addLayer("Market", canon.Layer{Kind: "dynamic", Text: "A cart has lost a wheel.", Label: everybody})
	})
	s.tellVisible(func() {
		s.do(player, "update_card", map[string]any{"name": "Harbour",
			"content": "<p>Black stone, wet rope, and the ferry gone.</p>"})
	})
	s.tellVisible(s.deliverEvents)
	s.tellVisible(func() {
		s.do(s.who, "send_command", map[string]any{"id": s.ids["mira"], "text": "look around and say hello to tam"})
	})
	s.tellWordsOfBen()
}

// tellCampaign creates the part of a campaign that the players know.
func (s *story) tellCampaign() {
	in := func(kv ...any) map[string]any {
		m := given(kv...).input
		m["campaign_id"] = "lendwater"
		return m
	}
	ann := s.doAndNote("ann", keeper, "entity_create", "id",
		in("name", "Ann Vale", "entity_type", "npc", "revealed", true, "description",
			"Lends money by the lantern; kin of [[Cy Marsh]].",
			"attributes", map[string]any{"age": 30}, "tags", []string{"history"}, "aliases", []string{"the Vale"},
			"source_document", "Book", "source_confidence", "AUTHORITATIVE"))
	cy := s.doAndNote("cy", keeper, "entity_create", "id",
		in("name", "Cy Marsh", "entity_type", "npc", "revealed", true, "description", "Ferryman."))
	dee := s.doAndNote("dee", keeper, "entity_create", "id",
		in("name", "Dee Holm", "entity_type", "npc", "revealed", true))
	s.doAndNote("tie", keeper, "relationship_create", "id",
		in("source_id", ann, "target_id", cy, "type", "ally of", "tone", "friendly"))
	s.doAndNote("tie2", keeper, "relationship_create", "id", in("source_id", cy, "target_id", dee, "type", "parent of"))
	s.doAndNote("met", keeper, "timeline_add", "id", in("date", "1926-03-14", "precision", "exact", "description",
		"They met.", "is_player_known", true, "entity_ids", []string{ann, cy}))
	s.doAndNote("snow", keeper, "timeline_add", "id",
		in("date", "1926", "precision", "year", "description", "Snow.", "is_player_known", true))
	s.doAndNote("one", keeper, "session_create", "id",
		in("number", 1, "status", "COMPLETED", "recap", "They came by ferry."))
	s.doAndNote("sung", keeper, "session_create", "id", in("number", 4, "status", "COMPLETED", "play_notes", "One song."))
	s.doAndNote("told", keeper, "session_create", "id",
		in("number", 3, "status", "COMPLETED", "recap", "They sang.", "play_notes", "Two songs.", "actual_notes",
			"Three songs.", "publish_notes", true))
	s.known.names = append(s.known.names, "Ann Vale", "Cy Marsh", "Dee Holm")
}

// tellGame creates a game that the audience hosts, with six at the table.
func (s *story) tellGame() {
	long := 86400
	seconds := map[string]any{"sitrep": long, "pulse_check": long, "discussion": long, "extension": long,
		"nomination": long, "trial": long, "verdict": long, "night": long}
	game := s.doAndNote("game", s.who, "create_game", "game_id",
		map[string]any{"seconds": seconds, "mandate": "total_transparency", "clients_act": true})
	for _, name := range []string{"p1", "p2", "p3", "p4", "p5", "p6"} {
		s.tellVisible(func() {
			in := map[string]any{"id": game, "name": "Player " + name}
			if name == "p6" {
				in["as"] = "mcp"
			}
			by := s.who
			if name != "p1" {
				by = guest(name)
			}
			out := s.do(by, "join_game", in)
			if s.keys[name], _ = out["token"].(string); name == "p6" {
				s.keys[name], _ = out["mcp_key"].(string)
			}
		})
	}
	s.tellVisible(func() { s.do(s.who, "start_game", map[string]any{"id": game}) })
	s.tellVisible(func() { s.chat("p2", game, map[string]any{"text": "Good morning by the lantern."}) })
	s.doAndNote("lobby", s.who, "create_game", "game_id", map[string]any{"seconds": seconds})
	s.tellVisible(func() {
		s.do(newAuthor("alice", access.RoleUser), "join_game", map[string]any{"id": s.ids["lobby"], "name": "Ada"})
	})
}

// guest returns a caller who takes one seat of a game.
func guest(name string) access.Caller { return newAuthor("guest-"+name, access.RoleUser) }

// monsterRules are the rules of a monster, as an import brings them.
const monsterRules = `{"srd":{"type":"beast","armor_class":[{"value":11}],"hit_points":3,"speed":{"walk":"20 ft."},"strength":4,` +
	`"dexterity":11,"constitution":10,"intelligence":2,"wisdom":10,"charisma":3,"challenge_rating":0.125,"xp":25,` +
	`"actions":[{"name":"Pinch","desc":"Melee Weapon Attack: reach 5 ft.","attack_bonus":2,` +
	`"damage":[{"damage_dice":"1d4","damage_type":{"index":"slashing","name":"Slashing"}}]}]}}`

// tellFight starts an encounter in which the audience acts for both sides, and creates a monster.
func (s *story) tellFight() {
	s.putVisible(
		"crab",
		canon.NewCard{Name: "Quay Crab", Type: "Creature", Codename: "quay-crab", Content: "<p>It pinches.</p>",
			Fields: rawJSON(monsterRules)},
	)
	fighter := func(side, name string) fields {
		return fields{"side": side, "creature": fields{"name": name, "armor_class": 12, "hit_points": 1000, "speed": 30,
			"scores": []int{12, 12, 12, 10, 10, 10},
			"attacks": list(fields{"name": "Club", "bonus": 3, "reach": 5,
				"hits": list(fields{"dice": "1d4+1", "type": "bludgeoning"})}),
			"spells": list(fields{"name": "Spark", "level": 0, "range": 120, "attack": true,
				"damage": list(fields{"dice": "1d10", "type": "fire"})})}}
	}
	s.doAndNote("fight", keeper, "start_encounter", "id", fields{"player_sides": list("watch", "thieves"),
		"fighters": list(fighter("watch", "Ada"), fighter("thieves", "Cob"))})
}

// chat writes in a game as a seat.
func (s *story) chat(seat, game string, input map[string]any) {
	s.t.Helper()
	input["type"] = "chat"
	b, err := json.Marshal(input)
	if err != nil {
		s.t.Fatal(err)
	}
	r := s.send(seat, request{operation: "chat", method: "POST", path: "/api/games/" + game + "/commands",
		body: string(b)})
	if r.status >= 300 {
		s.t.Fatalf("%s cannot chat: %s", seat, r)
	}
}

// tellMade makes proposals and requests to the studio, by the audience.
func (s *story) tellMade() {
	propose := func(name, operation string, input map[string]any) {
		s.doAndNote(name, s.who, operation, "proposalId", input)
	}
	propose("mood", "propose-ambience", map[string]any{"locationId": s.ids["market"], "layerType": "ambient",
		"text": "Rain drums upon the awnings."})
	propose("change", "propose-canon-change", map[string]any{"op": map[string]any{"name": "update_card",
		"arguments": map[string]any{"name": "Salt Quay", "content": "<p>Wet.</p>"}}, "reason": "It rained."})
	s.giveStandingApproval("standing", "Salt Quay")
	propose("waits", "propose-canon-change", map[string]any{"op": map[string]any{"name": "create_card",
		"arguments": map[string]any{"name": "Rope Walk", "content": "<p>Long.</p>"}}, "reason": "It is missing."})
	s.doAndNote("waits2", player, "propose-canon-change", "proposalId",
		map[string]any{"op": map[string]any{"name": "create_card",
			"arguments": map[string]any{"name": "Salt Shed", "content": "<p>White.</p>"}}, "reason": "It is missing too."})
	s.tellVisible(func() {
		out := s.do(keeper, "plan_create", map[string]any{"intent": "build Harbour at dusk and export it to glb",
			"card": "Harbour", "audience": "user", "seed": 5})
		made, _ := out["plan"].(map[string]any)
		id, _ := made["plan_id"].(string)
		s.noteID("plan", id)
	})
	s.tellVisible(func() { s.tryScene("user", 7) })
	s.noteID("run", s.latestRun())
}

// giveStandingApproval gives a standing approval of changes below a card, and notes its id.
func (s *story) giveStandingApproval(name, under string) {
	s.t.Helper()
	s.tellVisible(func() {
		list, _ := s.do(approver, "give-standing-approval",
			map[string]any{"kind": "canon_change", "operation": "create_card", "under": under, "perHour": 1})["standing"].([]any)
		last, _ := list[len(list)-1].(map[string]any)
		id, _ := last["id"].(string)
		s.noteID(name, id)
	})
}

// latestRun returns the id of the studio's latest run.
func (s *story) latestRun() string {
	s.t.Helper()
	runs, _ := s.do(keeper, "list_runs", map[string]any{})["runs"].([]any)
	if len(runs) == 0 {
		s.t.Fatal("the studio has no run")
	}
	run, _ := runs[0].(map[string]any)
	id, _ := run["run_id"].(string)
	return id
}

// tellHiddenNow calls f, whose changes are hidden from the audience, while the audience follows
// a feed: no time passes.
func (s *story) tellHiddenNow(f func()) {
	if !s.whole {
		return
	}
	now := s.src.Now()
	s.src.setHidden(true)
	f()
	s.src.setHidden(false)
	s.src.set(now)
}

func (s *source) set(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}
