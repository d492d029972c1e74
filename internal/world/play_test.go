package world

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// player is a person who plays, with its own token.
type player struct {
	actor
	id canon.CardID
}

// joins creates a player.
func (s *scene) joins(name string) player {
	s.t.Helper()
	got := s.as("host").call("create_player", `{"name":"`+name+`"}`)
	u, err := uuid.Parse(got.at("player.id").(string))
	if err != nil || got.at("token") != "token of "+u.String() {
		s.t.Fatalf("%v: %s", err, got.Raw)
	}
	return player{actor{s, access.Caller{Subject: access.Subject("player-" + u.String()),
		Roles:    map[access.WorldID]access.Role{s.id: access.RoleUser},
		Audience: audiencePlay, Player: u}}, canon.CardID(u)}
}

// does sends a command.
func (p player) does(text string, more ...func(*op.Request)) answer {
	p.s.t.Helper()
	b, _ := json.Marshal(map[string]string{"id": p.id.String(), "text": text})
	r := op.Request{Operation: "send_command", Input: b}
	for _, m := range more {
		m(&r)
	}
	got, err := p.invoke(r)
	if err != nil {
		p.s.t.Fatalf("%s: %v", text, err)
	}
	return p.checked("send_command", text, got)
}

func keyed(key string) func(*op.Request) { return func(r *op.Request) { r.IdempotencyKey = key } }

func (p player) stands() string {
	p.s.t.Helper()
	name, _ := p.call("get_player", `{"id":"`+p.id.String()+`"}`).at("player.location.name").(string)
	return name
}

func TestAPlayerWalksAndLooks(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira Lowtide")
	got := p.does("go north then look at the well")
	got.is("frames.#", 2, "results.0.outcome", "done", "results.1.outcome", "done", "events.#", 3, "events.0.type",
		"Player.Move", "events.0.scope", "loc:"+s.idOf("Square").String(),
		"events.0.actor.kind", "player", "events.0.actor.id", p.id.String(), "events.0.version", 1,
		"events.0.payload.direction", "north", "events.1.type", "Player.Clock.Reconciled", "events.1.payload.policy", "slow",
		"events.2.type", "Player.Look", "clock", 125000,
		"results.1.text", "In the middle stands an old well, and it hums.")
	if n := got.at("narration").(string); !strings.Contains(n, "You go north.") ||
		!strings.Contains(n, "Ways out: south, east.") || !strings.Contains(n, "Oda Tarn") {
		t.Errorf("narration: %s", n)
	}
	if p.stands() != "Square" {
		t.Errorf("the player stands at %s", p.stands())
	}
	s.as("user").call("get-location-context", `{"locationId":"loc-square"}`).is("item.tick", 120000,
		"item.nearbyPlayers.0.name", "Mira Lowtide", "item.recentEvents.#", 2,
		"item.recentEvents.0.eventType", "Player.Look", "item.recentEvents.1.actorKind", "player",
		"item.recentEvents.0.status", "processed")
	s.as("user").call("get-player-context", `{"playerId":"`+p.id.String()+`"}`).is("item.player.name", "Mira Lowtide",
		"item.player.heading", "north", "item.player.clock", 125000,
		"item.location.name", "Square", "item.inventory.#", 0, "item.recentEvents.#", 3, "item.warnings.#", 0)
	p.does("go back").is("results.0.outcome", "done", "clock", 185000)
	if p.stands() != "Quay" {
		t.Errorf("back at %s", p.stands())
	}
}

func TestImpossibleActChangesNothing(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	for text, want := range map[string]string{
		"go east": "no_exit", "go up": "forbidden", "take the anvil": "absent", "take the hound": "fixed",
		"drop the lamp": "absent", "talk to the king": "absent", "go to Rome": "absent",
		"give lamp to hound": "absent", "look at the dragon": "absent", "attack Mira": "absent", "go down": "no_exit",
		"look at the ghost": "absent", "use lamp": "absent", "throw lamp at hound": "absent",
	} {
		got := p.does(text)
		got.is("results.0.outcome", "impossible", "results.0.reason", want, "clock", 0, "events.#", 0)
		if got.at("narration") == "" {
			t.Errorf("%s: no sentence", text)
		}
	}
	if p.stands() != "Quay" {
		t.Error("the player moved")
	}
	p.does("go east, take the lamp").is("results.0.outcome", "impossible", "results.1.outcome", "skipped")
	p.does("look at the dragon and go north").is("results.0.outcome", "impossible", "results.1.outcome", "done")
	p.does("frobnicate").is("results.#", 0, "events.#", 0)
	p.does("take it").is("results.#", 0, "ambiguities.0.kind", "pronoun")
}

func TestThingsChangeHands(t *testing.T) {
	s := newScene(t)
	p, q := s.joins("Mira"), s.joins("Tam")
	p.does("n")
	q.does("n")
	p.does("take the key").is("results.0.text", "You take Iron Key.", "events.0.type", "Player.Act",
		"events.0.payload.objects.0.name", "Iron Key")
	q.does("take the key").is("results.0.outcome", "impossible")
	p.does("take 3 coins").is("results.0.text", "You take Copper Coin (3).")
	p.does("take 3 coins").is("results.0.reason", "too_few")
	q.does("take pennies").is("results.0.text", "You take Copper Coin.")
	p.does("i").is("results.0.text", "You carry Copper Coin (3) and Iron Key.")
	p.does("give two coins to Tam").is("results.0.text", "You give Copper Coin (2) to Tam.")
	q.does("inventory").is("results.0.text", "You carry Copper Coin (3).")
	p.does("drop the coin").is("results.0.text", "You put Copper Coin down.")
	q.does("take all").is("results.0.text", "You take Copper Coin (2).")
	p.does("take anvil").is("results.0.reason", "fixed")
	p.call("get_player", `{"id":"`+p.id.String()+`"}`).is("player.inventory.#", 1, "player.inventory.0.name", "Iron Key",
		"player.inventory.0.quantity", 1)
}

func TestLockedExitOpensWithKey(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	p.does("n")
	p.does("east").is("results.0.reason", "locked")
	p.does("unlock the door").is("results.0.reason", "locked")
	p.does("take key and use the key on the door").is("results.0.outcome", "done", "results.1.outcome", "done",
		"events.1.payload.effect", "unlocked")
	p.does("go to the chapel").is("results.0.outcome", "done")
	p.does("up. down. west").is("results.2.outcome", "done")
	if p.stands() != "Square" {
		t.Errorf("at %s", p.stands())
	}
}

func TestTalkAndFight(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	p.does("attack the hound").is("results.0.text", "You strike Salt Hound, who gives ground.", "clock", 6000,
		"events.0.payload.effect", "wounded")
	p.does("hit hound").is("events.0.payload.effect", "beaten")
	p.does("hit hound").is("results.0.reason", "beaten", "events.#", 0)
	p.does("rest").is("clock", int(hour))
	p.does("flee").is("results.0.outcome", "done", "events.0.payload.direction", "north")
	got := p.does("talk to Oda")
	if n := got.at("narration").(string); !strings.HasPrefix(n, "Oda Tarn says: “") {
		t.Errorf("%s", n)
	}
	p.does("say hello").is("results.0.outcome", "done")
	p.does("examine Oda").is("results.0.text", "She counts everything twice.")
}

func TestPendingExitRecordsHintOncePerMinute(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	p.does("west").is("results.0.outcome", "impossible", "results.0.reason", "pending", "narration",
		"The mist has not lifted yet.", "events.#", 1,
		"events.0.type", "Navigation.Exit.GenerationHint", "events.0.payload.direction", "west", "clock", 0)
	p.does("west").is("events.#", 0)
	s.now = s.now.Add(59 * time.Second)
	p.does("west").is("events.#", 0)
	s.now = s.now.Add(time.Second)
	p.does("west").is("events.#", 1)
	q := s.joins("Tam")
	q.does("west").is("events.#", 1)
}

func TestRepeatedCommandIsDoneOnce(t *testing.T) {
	s := newScene(t)
	p := s.joins("Mira")
	first := p.does("north. take key. look", keyed("k1"))
	again := p.does("north. take key. look", keyed("k1"))
	if first.Raw != again.Raw || !again.Reply.Replayed {
		t.Errorf("first %s\nagain %s", first.Raw, again.Raw)
	}
	if _, err := p.invoke(op.Request{Operation: "send_command",
		Input: json.RawMessage(`{"id":"` + p.id.String() + `","text":"south"}`), IdempotencyKey: "k1"}); err == nil {
		t.Error("the key was taken for another command")
	}
	p.does("west", keyed("k2"))
	p.does("south. west", keyed("k3")).is("events.#", 3)
	p.does("south. west", keyed("k3")).is("events.#", 3)
}

func TestPace(t *testing.T) {
	s := newScene(t, func(c *Config) { c.Pace = Pace{Moves: 3, Looks: 2} })
	p, q := s.joins("Mira"), s.joins("Tam")
	p.does("n. s. n. s").is("results.2.outcome", "done", "results.3.outcome", "limited", "results.3.reason",
		"rate_limited")
	p.fails("rate_limited", "send_command", `{"id":"`+p.id.String()+`","text":"south"}`)
	p.does("look. look")
	p.fails("rate_limited", "send_command", `{"id":"`+p.id.String()+`","text":"look"}`)
	p.does("take key")
	q.does("n")
	s.now = s.now.Add(time.Minute)
	p.does("s")
}

func TestPlayTokenIsBoundToItsPlayer(t *testing.T) {
	s := newScene(t)
	p, q := s.joins("Mira"), s.joins("Tam")
	other := `{"id":"` + q.id.String() + `"}`
	absent := p.fails("not_found", "get_player", `{"id":"01900000-0000-7000-8000-000000000000"}`)
	if got := p.fails("not_found", "get_player", other); got != absent {
		t.Errorf("another's player: %s", got)
	}
	for _, id := range []string{q.id.String(), s.idOf("Oda Tarn").String(), s.idOf("Ghost").String(), "x", ""} {
		if got := p.fails("not_found", "send_command", `{"id":"`+id+`","text":"look"}`); got != absent {
			t.Errorf("%s: %s", id, got)
		}
	}
	s.as("stranger").fails("not_found", "get_player", other)
	s.as("host").call("get_player", other)
	s.as("gm").call("get_player", other)
	bound := s.as("gm")
	bound.caller.Player = uuid.UUID(p.id)
	bound.fails("not_found", "get_player", other)
	bound.call("get_player", `{"id":"`+p.id.String()+`"}`)
	p.fails("permission_denied", "get-location-context", `{}`)
	p.fails("permission_denied", "create_player", `{"name":"Third"}`)
	for _, name := range []string{"Quay+Mira", "~x", ":x", "a|b", "{{x}}", "\u200b", " ", "GM"} {
		b, _ := json.Marshal(map[string]string{"name": name})
		if _, err := s.as("host").invoke(op.Request{Operation: "create_player", Input: b}); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
	s.as("host").fails("conflict", "create_player", `{"name":"Mira"}`)
}

func TestPlayerStream(t *testing.T) {
	s := newScene(t)
	p, q := s.joins("Mira"), s.joins("Tam")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	feed := s.ops.Feeds()[0]
	open := func(who player, after string) <-chan op.Message {
		t.Helper()
		st, err := s.ops.Follow(ctx, who.caller, op.FeedRequest{Ask: op.Ask{World: "main"}, Feed: feed,
			Vars: map[string]string{"id": p.id.String()}, After: after})
		if err != nil {
			t.Fatal(err)
		}
		c := make(chan op.Message, 10)
		go func() {
			for m, err := range st.Messages {
				if err != nil {
					return
				}
				c <- m
			}
		}()
		return c
	}
	next := func(c <-chan op.Message) op.Message {
		t.Helper()
		select {
		case m := <-c:
			return m
		case <-ctx.Done():
			t.Fatal("nothing came")
			return op.Message{}
		}
	}
	one := open(p, "")
	p.does("look")
	first := next(one)
	if !strings.Contains(string(first.Data), `"type":"Player.Look"`) ||
		!strings.Contains(string(first.Data), `"narration":"Quay. Black stone`) {
		t.Errorf("%s", first.Data)
	}
	q.does("talk to nobody. look. n")
	if m := next(one); !strings.Contains(string(m.Data), q.id.String()) || strings.Contains(string(m.Data), "narration") {
		t.Errorf("what another does here: %s", m.Data)
	}
	if m := next(one); !strings.Contains(string(m.Data), "Player.Move") {
		t.Errorf("who leaves is seen leaving: %s", m.Data)
	}
	q.does("look")
	p.does("i")
	if m := next(one); !strings.Contains(string(m.Data), `"verb":"inventory"`) {
		t.Errorf("what happens elsewhere was shown: %s", m.Data)
	}
	again := open(p, first.ID)
	if m := next(again); !strings.Contains(string(m.Data), q.id.String()) {
		t.Errorf("after the last message had: %s", m.Data)
	}
	if _, err := s.ops.Follow(ctx, q.caller, op.FeedRequest{Ask: op.Ask{World: "main"}, Feed: feed,
		Vars: map[string]string{"id": p.id.String()}}); err == nil {
		t.Error("another player follows")
	}
}

func TestParserResolvesNamesAtPlace(t *testing.T) {
	s := newScene(t)
	s.card(canon.NewCard{Name: "Brass Key", Type: "Item"})
	s.link(linkAt, "Brass Key", "Square", `{}`)
	u := s.as("user")
	u.call("parse-command", `{"text":"take the key"}`).is("needsClarification", false, "intents.0.verb", "take",
		"parseVersion", "rules/1.0")
	u.call("parse-command", `{"text":"take the key","locationId":"loc-square"}`).is("needsClarification", true,
		"ambiguities.0.kind", "reference", "ambiguities.0.options.#", 2, "ambiguities.0.span.start", 9)
	u.call("parse-command", `{"text":"look at the ghost","locationId":"loc-quay"}`).is("ambiguities.0.kind", "absent",
		"ambiguities.0.critical", false)
	absent := u.call("parse-command", `{"text":"look at the goose","locationId":"loc-quay"}`).Raw
	hidden := u.call("parse-command", `{"text":"look at the ghost","locationId":"loc-quay"}`).Raw
	if strings.ReplaceAll(hidden, "ghost", "goose") != absent {
		t.Errorf("hidden %s\nabsent %s", hidden, absent)
	}
	u.call("parse-command", `{"text":"look at the well","locationId":"loc-square"}`).is("ambiguities.#", 0)
}
