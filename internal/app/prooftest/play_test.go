package prooftest

import (
	"encoding/json"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// This file tells what everybody sees beside the wiki: a town to walk in, a campaign, a
// game, proposals and what the studio was asked for. ids has what is there by the names
// that the table good knows it by.

// note keeps an id by a name.
func (s *story) note(name, id string) string {
	s.ids[name] = id
	s.known.ids = append(s.known.ids, id)
	return id
}

// noted makes a call that is in sight, and notes the id that it answers with.
func (s *story) noted(name string, by access.Caller, operation, member string, input map[string]any) string {
	s.t.Helper()
	var id string
	s.seen(func() { id, _ = s.do(by, operation, input)[member].(string) })
	return s.note(name, id)
}

// set makes a card that is in sight, and notes it.
func (s *story) set(name string, n canon.NewCard) {
	s.t.Helper()
	s.seen(func() { s.note(name, s.put(n).ID.String()) })
	s.known.names = append(s.known.names, n.Name)
}

// join links two cards by name under a label.
func (s *story) join(kind, from, to, attrs string, l access.Label) (id canon.LinkID) {
	s.t.Helper()
	s.plan(func(p *canon.Plan) error {
		a, err := p.Card(from)
		if err != nil {
			return err
		}
		b, err := p.Card(to)
		if err != nil {
			return err
		}
		id, err = p.Link(canon.Link{ID: canon.LinkIDOf(kind, from, to, attrs), Kind: kind, From: a.ID, To: b.ID, Attrs: json.RawMessage(attrs), Label: l})
		return err
	})
	return id
}

// lay lays a layer on a card by name.
func (s *story) lay(on string, layer canon.Layer) {
	s.t.Helper()
	s.plan(func(p *canon.Plan) error {
		c, err := p.Card(on)
		if err != nil {
			return err
		}
		layer.Card = c.ID
		_, err = p.Layer(layer)
		return err
	})
}

// happen records an event at a card's scope.
func (s *story) happen(e canon.Event) {
	s.t.Helper()
	s.plan(func(p *canon.Plan) error { return p.Event(e) })
}

// handOn hands events on, as a server does ten times a second.
func (s *story) handOn() {
	s.t.Helper()
	if _, err := s.app.Events.Round(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

var everybody = access.NewLabel(access.LevelUser)

func object(text string) json.RawMessage { return json.RawMessage(text) }

// tellTown tells of a town to walk in, and of somebody who does.
func (s *story) tellTown() {
	s.seen(func() {
		s.plan(func(p *canon.Plan) error {
			return p.Configure("Lendwater", canon.Settings{Starter: "Harbour", Description: "A town by the water.", Extra: map[string]string{"system": "coc-7e"}})
		})
	})
	place := func(name, content, fields string) {
		s.set(strings.ToLower(name), canon.NewCard{Name: name, Type: "Location", Codename: "loc-" + strings.ToLower(name), Content: content, Fields: object(fields)})
	}
	place("Harbour", "<p>Black stone and wet rope by the ferry.</p>", `{"tags":["quay"],"exitAvailability":{"pending":{"west":"The mist has not lifted."},"forbidden":{"up":"There is only sky."}}}`)
	place("Market", "<p>Stalls, and a well that hums.</p>", `{}`)
	place("Chapel", "<p>Cold pews.</p>", `{}`)
	link := func(kind, from, to, attrs string) {
		s.seen(func() { s.join(kind, from, to, attrs, everybody) })
	}
	link("exit", "Harbour", "Market", `{"direction":"north","description":"Up wet steps.","travelDurationMs":120000}`)
	link("exit", "Market", "Harbour", `{"direction":"south"}`)
	link("exit", "Market", "Chapel", `{"direction":"east","lockState":"locked","key":"iron key"}`)
	s.set("ward", canon.NewCard{Name: "Low Ward", Type: "Realm", Fields: object(`{"realmType":"political","scope":"LOCAL","narrativeTags":["tar","gossip"]}`)})
	s.set("key", canon.NewCard{Name: "Iron Key", Type: "Item", Codename: "iron-key", Content: "<p>Rust.</p>"})
	s.set("keeper", canon.NewCard{Name: "Tam Reed", Type: "Character", Codename: "tam_reed", Content: "<p>Keeps the lantern.</p>", Fields: object(`{"says":["Mind the third step."]}`)})
	s.set("debt", canon.NewCard{Name: "Old Debt", Type: "Lore", Codename: "fact_debt", Content: "<p>The lantern road is owed to the sea.</p>", Fields: object(`{"aliases":["the owing"]}`)})
	s.set("lodge", canon.NewCard{Name: "Mist Lodge", Type: "Faction", Codename: "faction_mist", Content: "<p>They keep the ferry and the mist.</p>"})
	link("within", "Harbour", "Low Ward", `{}`)
	link("within", "Market", "Low Ward", `{}`)
	link("at", "Iron Key", "Market", `{}`)
	link("at", "Tam Reed", "Harbour", `{}`)
	s.seen(func() {
		s.lay("Low Ward", canon.Layer{Kind: "weather", Text: "Thin rain.", Label: everybody})
		s.lay("Harbour", canon.Layer{Kind: "ambient", Text: "Gulls quarrel.", ToTick: 1 << 40, Label: everybody})
	})
	var made map[string]any
	s.seen(func() { made = s.do(s.who, "create_player", map[string]any{"name": "Mira Low"}) })
	one, _ := made["player"].(map[string]any)
	id, _ := one["id"].(string)
	s.keys["mira"], _ = made["token"].(string)
	s.note("mira", id)
	s.seen(func() { s.do(s.who, "send_command", map[string]any{"id": id, "text": "look then go north"}) })
	s.seen(func() {
		s.do(s.who, "send_command", map[string]any{"id": id, "text": "take the iron key then go south"})
	})
	s.seen(s.handOn)
	s.known.words = append(s.known.words, "sea owing", "gulls")
}

// tellTownLater tells what comes after some of what is hidden: ways out and texts where
// hidden ones are already.
func (s *story) tellTownLater() {
	s.seen(func() { s.join("exit", "Harbour", "Chapel", `{"direction":"east"}`, everybody) })
	s.seen(func() {
		s.lay("Market", canon.Layer{Kind: "dynamic", Text: "A cart has lost a wheel.", Label: everybody})
	})
	s.seen(func() {
		s.do(player, "update_card", map[string]any{"name": "Harbour", "content": "<p>Black stone, wet rope, and the ferry gone.</p>"})
	})
	s.seen(s.handOn)
	s.seen(func() {
		s.do(s.who, "send_command", map[string]any{"id": s.ids["mira"], "text": "look around and say hello to tam"})
	})
}

// tellCampaign tells what the players know of a campaign.
func (s *story) tellCampaign() {
	in := func(kv ...any) map[string]any {
		m := given("user", kv...).input
		m["campaign_id"] = "lendwater"
		return m
	}
	ann := s.noted("ann", keeper, "entity_create", "id", in("name", "Ann Vale", "entity_type", "npc", "revealed", true, "description", "Lends money by the lantern; kin of [[Cy Marsh]].",
		"attributes", map[string]any{"age": 30}, "tags", []string{"history"}, "aliases", []string{"the Vale"}, "source_document", "Book", "source_confidence", "AUTHORITATIVE"))
	cy := s.noted("cy", keeper, "entity_create", "id", in("name", "Cy Marsh", "entity_type", "npc", "revealed", true, "description", "Ferryman."))
	dee := s.noted("dee", keeper, "entity_create", "id", in("name", "Dee Holm", "entity_type", "npc", "revealed", true))
	s.noted("tie", keeper, "relationship_create", "id", in("source_id", ann, "target_id", cy, "type", "ally of", "tone", "friendly"))
	s.noted("tie2", keeper, "relationship_create", "id", in("source_id", cy, "target_id", dee, "type", "parent of"))
	s.noted("met", keeper, "timeline_add", "id", in("date", "1926-03-14", "precision", "exact", "description", "They met.", "is_player_known", true, "entity_ids", []string{ann, cy}))
	s.noted("snow", keeper, "timeline_add", "id", in("date", "1926", "precision", "year", "description", "Snow.", "is_player_known", true))
	s.noted("one", keeper, "session_create", "id", in("number", 1, "status", "COMPLETED", "recap", "They came by ferry."))
	s.noted("sung", keeper, "session_create", "id", in("number", 4, "status", "COMPLETED", "play_notes", "One song."))
	s.noted("told", keeper, "session_create", "id", in("number", 3, "status", "COMPLETED", "recap", "They sang.", "play_notes", "Two songs.", "actual_notes", "Three songs.", "publish_notes", true))
	s.known.names = append(s.known.names, "Ann Vale", "Cy Marsh", "Dee Holm")
}

// tellGame tells of a game that the audience hosts, with six at the table.
func (s *story) tellGame() {
	long := 86400
	seconds := map[string]any{"sitrep": long, "pulse_check": long, "discussion": long, "extension": long, "nomination": long, "trial": long, "verdict": long, "night": long}
	game := s.noted("game", s.who, "create_game", "game_id", map[string]any{"seconds": seconds, "mandate": "total_transparency"})
	for _, name := range []string{"p1", "p2", "p3", "p4", "p5", "p6"} {
		s.seen(func() {
			in := map[string]any{"id": game, "name": "Player " + name}
			if name == "p6" {
				in["as"] = "mcp"
			}
			out := s.do(s.who, "join_game", in)
			if s.keys[name], _ = out["token"].(string); name == "p6" {
				s.keys[name], _ = out["mcp_key"].(string)
			}
		})
	}
	s.seen(func() { s.do(s.who, "start_game", map[string]any{"id": game}) })
	s.seen(func() { s.chat("p2", game, map[string]any{"text": "Good morning by the lantern."}) })
	s.noted("lobby", s.who, "create_game", "game_id", map[string]any{"seconds": seconds})
	s.seen(func() { s.do(s.who, "join_game", map[string]any{"id": s.ids["lobby"], "name": "Ada"}) })
}

// chat writes in a game as a seat.
func (s *story) chat(seat, game string, input map[string]any) {
	s.t.Helper()
	input["type"] = "chat"
	b, err := json.Marshal(input)
	if err != nil {
		s.t.Fatal(err)
	}
	r := s.send(seat, request{operation: "chat", method: "POST", path: "/api/games/" + game + "/commands", body: string(b)})
	if r.status >= 300 {
		s.t.Fatalf("%s cannot chat: %s", seat, r)
	}
}

// tellMade tells of proposals by the audience, and of what the studio was asked for.
func (s *story) tellMade() {
	propose := func(name, operation string, input map[string]any) {
		s.noted(name, s.who, operation, "proposalId", input)
	}
	propose("mood", "propose-ambience", map[string]any{"locationId": s.ids["market"], "layerType": "ambient", "text": "Rain drums upon the awnings."})
	propose("change", "propose-canon-change", map[string]any{"op": map[string]any{"name": "update_card", "arguments": map[string]any{"name": "Rent Quay", "content": "<p>Wet.</p>"}}, "reason": "It rained."})
	s.standing("standing", "Rent Quay")
	propose("waits", "propose-canon-change", map[string]any{"op": map[string]any{"name": "create_card", "arguments": map[string]any{"name": "Rope Walk", "content": "<p>Long.</p>"}}, "reason": "It is missing."})
	s.noted("waits2", player, "propose-canon-change", "proposalId", map[string]any{"op": map[string]any{"name": "create_card", "arguments": map[string]any{"name": "Salt Shed", "content": "<p>White.</p>"}}, "reason": "It is missing too."})
	s.seen(func() {
		out := s.do(keeper, "plan_create", map[string]any{"intent": "build Harbour at dusk and export it to glb", "card": "Harbour", "audience": "user", "seed": 5})
		made, _ := out["plan"].(map[string]any)
		id, _ := made["plan_id"].(string)
		s.note("plan", id)
	})
	s.seen(func() {
		_, err := s.tried(keeper, "generate_scene", map[string]any{"card": "Harbour", "audience": "user", "seed": 7, "target": "blender"})
		if err == nil {
			s.t.Fatal("the studio built a scene without a program")
		}
	})
	s.note("run", s.latestRun())
}

// standing gives a standing approval of changes below a card, and notes it.
func (s *story) standing(name, under string) {
	s.t.Helper()
	s.seen(func() {
		list, _ := s.do(approver, "give-standing-approval", map[string]any{"kind": "canon_change", "operation": "create_card", "under": under, "perHour": 1})["standing"].([]any)
		last, _ := list[len(list)-1].(map[string]any)
		id, _ := last["id"].(string)
		s.note(name, id)
	})
}

// latestRun is the id of the studio's latest run.
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

// aside tells what the audience does not see while it looks on: no time passes.
func (s *story) aside(f func()) {
	if !s.whole {
		return
	}
	now := s.src.Now()
	s.src.hide(true)
	f()
	s.src.hide(false)
	s.src.set(now)
}

func (s *source) set(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}
