package play_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/world"
	"loregate/internal/world/play"
	"loregate/internal/world/worldtest"
)

func TestAPlayerWalksAndLooks(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira Lowtide")
	got := p.Does("go north then look at the well")
	got.Is("frames.#", 2, "results.0.outcome", "done", "results.1.outcome", "done", "events.#", 3, "events.0.type",
		"Player.Move", "events.0.scope", "loc:"+s.IDOf("Square").String(),
		"events.0.actor.kind", "player", "events.0.actor.id", p.ID.String(), "events.0.version", 1,
		"events.0.payload.direction", "north", "events.1.type", "Player.Clock.Reconciled", "events.1.payload.policy", "slow",
		"events.2.type", "Player.Look", "clock", 125000,
		"results.1.text", "In the middle stands an old well, and it hums.")
	if n := got.At("narration").(string); !strings.Contains(n, "You go north.") ||
		!strings.Contains(n, "Ways out: south, east.") || !strings.Contains(n, "Oda Tarn") {
		t.Errorf("narration: %s", n)
	}
	if p.Stands() != "Square" {
		t.Errorf("the player stands at %s", p.Stands())
	}
	s.As("user").Call("get-location-context", `{"locationId":"loc-square"}`).Is("item.tick", 120000,
		"item.nearbyPlayers.0.name", "Mira Lowtide", "item.recentEvents.#", 2,
		"item.recentEvents.0.eventType", "Player.Look", "item.recentEvents.1.actorKind", "player",
		"item.recentEvents.0.status", "processed")
	s.As("user").Call("get-player-context", `{"playerId":"`+p.ID.String()+`"}`).Is("item.player.name", "Mira Lowtide",
		"item.player.heading", "north", "item.player.clock", 125000,
		"item.location.name", "Square", "item.inventory.#", 0, "item.recentEvents.#", 3, "item.warnings.#", 0)
	p.Does("go back").Is("results.0.outcome", "done", "clock", 185000)
	if p.Stands() != "Quay" {
		t.Errorf("back at %s", p.Stands())
	}
}

func TestImpossibleActChangesNothing(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	for text, want := range map[string]string{
		"go east": "no_exit", "go up": "forbidden", "take the anvil": "absent", "take the hound": "fixed",
		"drop the lamp": "absent", "talk to the king": "absent", "go to Rome": "absent",
		"give lamp to hound": "absent", "look at the dragon": "absent", "attack Mira": "absent", "go down": "no_exit",
		"look at the ghost": "absent", "use lamp": "absent", "throw lamp at hound": "absent",
	} {
		got := p.Does(text)
		got.Is("results.0.outcome", "impossible", "results.0.reason", want, "clock", 0, "events.#", 0)
		if got.At("narration") == "" {
			t.Errorf("%s: no sentence", text)
		}
	}
	if p.Stands() != "Quay" {
		t.Error("the player moved")
	}
	p.Does("go east, take the lamp").Is("results.0.outcome", "impossible", "results.1.outcome", "skipped")
	p.Does("look at the dragon and go north").Is("results.0.outcome", "impossible", "results.1.outcome", "done")
	p.Does("frobnicate").Is("results.#", 0, "events.#", 0)
	p.Does("take it").Is("results.0.outcome", "impossible", "results.0.reason", "no_target", "events.#", 0)
}

func TestThingsChangeHands(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	p.Does("n")
	q.Does("n")
	p.Does("take the key").Is("results.0.text", "You take Iron Key.", "events.0.type", "Player.Act",
		"events.0.payload.objects.0.name", "Iron Key")
	q.Does("take the key").Is("results.0.outcome", "impossible")
	p.Does("take 3 coins").Is("results.0.text", "You take Copper Coin (3).")
	p.Does("take 3 coins").Is("results.0.reason", "too_few")
	q.Does("take pennies").Is("results.0.text", "You take Copper Coin.")
	p.Does("i").Is("results.0.text", "You carry Copper Coin (3) and Iron Key.")
	p.Does("give two coins to Tam").Is("results.0.text", "You give Copper Coin (2) to Tam.")
	q.Does("inventory").Is("results.0.text", "You carry Copper Coin (3).")
	p.Does("drop the coin").Is("results.0.text", "You put Copper Coin down.")
	q.Does("take all").Is("results.0.text", "You take Copper Coin (2).")
	p.Does("take anvil").Is("results.0.reason", "fixed")
	p.Call("get_player", `{"id":"`+p.ID.String()+`"}`).Is("player.inventory.#", 1, "player.inventory.0.name", "Iron Key",
		"player.inventory.0.quantity", 1)
}

func TestLockedExitOpensWithKey(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("n")
	p.Does("east").Is("results.0.reason", "locked")
	p.Does("unlock the door").Is("results.0.reason", "locked")
	p.Does("take key and use the key on the door").Is("results.0.outcome", "done", "results.1.outcome", "done",
		"events.1.payload.effect", "unlocked")
	p.Does("go to the chapel").Is("results.0.outcome", "done")
	p.Does("up. down. west").Is("results.2.outcome", "done")
	if p.Stands() != "Square" {
		t.Errorf("at %s", p.Stands())
	}
}

func TestTalkAndFight(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("attack the hound").Is("results.0.text", "You strike Salt Hound, who gives ground.", "clock", 6000,
		"events.0.payload.effect", "wounded")
	p.Does("hit hound").Is("events.0.payload.effect", "beaten")
	p.Does("hit hound").Is("results.0.reason", "beaten", "events.#", 0)
	p.Does("rest").Is("clock", int(world.Hour))
	p.Does("flee").Is("results.0.outcome", "done", "events.0.payload.direction", "north")
	got := p.Does("talk to Oda")
	if n := got.At("narration").(string); !strings.HasPrefix(n, "Oda Tarn says: “") {
		t.Errorf("%s", n)
	}
	p.Does("say hello").Is("results.0.outcome", "done")
	p.Does("examine Oda").Is("results.0.text", "She counts everything twice.")
}

func TestPendingExitRecordsHintOncePerMinute(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("west").Is("results.0.outcome", "impossible", "results.0.reason", "pending", "narration",
		"The mist has not lifted yet.", "events.#", 1,
		"events.0.type", "Navigation.Exit.GenerationHint", "events.0.payload.direction", "west", "clock", 0)
	p.Does("west").Is("events.#", 0)
	s.Now = s.Now.Add(59 * time.Second)
	p.Does("west").Is("events.#", 0)
	s.Now = s.Now.Add(time.Second)
	p.Does("west").Is("events.#", 1)
	q := s.Joins("Tam")
	q.Does("west").Is("events.#", 1)
}

func TestRepeatedCommandIsDoneOnce(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	first := p.Does("north. take key. look", worldtest.Keyed("k1"))
	again := p.Does("north. take key. look", worldtest.Keyed("k1"))
	if first.Raw != again.Raw || !again.Reply.Replayed {
		t.Errorf("first %s\nagain %s", first.Raw, again.Raw)
	}
	if _, err := p.Invoke(op.Request{Operation: "send_command",
		Input: json.RawMessage(`{"id":"` + p.ID.String() + `","text":"south"}`), IdempotencyKey: "k1"}); err == nil {
		t.Error("the key was taken for another command")
	}
	p.Does("west", worldtest.Keyed("k2"))
	p.Does("south. west", worldtest.Keyed("k3")).Is("events.#", 3)
	p.Does("south. west", worldtest.Keyed("k3")).Is("events.#", 3)
}

func TestPace(t *testing.T) {
	s := worldtest.New(t, func(c *worldtest.Setup) { c.Pace = play.Pace{Moves: 3, Looks: 2} })
	p, q := s.Joins("Mira"), s.Joins("Tam")
	p.Does("n. s. n. s").Is("results.2.outcome", "done", "results.3.outcome", "limited", "results.3.reason",
		"rate_limited")
	p.Fails("rate_limited", "send_command", `{"id":"`+p.ID.String()+`","text":"south"}`)
	p.Does("look. look")
	p.Fails("rate_limited", "send_command", `{"id":"`+p.ID.String()+`","text":"look"}`)
	p.Does("take key")
	q.Does("n")
	s.Now = s.Now.Add(time.Minute)
	p.Does("s")
}

func TestPlayTokenIsBoundToItsPlayer(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	other := `{"id":"` + q.ID.String() + `"}`
	absent := p.Fails("not_found", "get_player", `{"id":"01900000-0000-7000-8000-000000000000"}`)
	if got := p.Fails("not_found", "get_player", other); got != absent {
		t.Errorf("another's player: %s", got)
	}
	for _, id := range []string{q.ID.String(), s.IDOf("Oda Tarn").String(), s.IDOf("Ghost").String(), "x", ""} {
		if got := p.Fails("not_found", "send_command", `{"id":"`+id+`","text":"look"}`); got != absent {
			t.Errorf("%s: %s", id, got)
		}
	}
	s.As("stranger").Fails("not_found", "get_player", other)
	s.As("host").Call("get_player", other)
	s.As("gm").Call("get_player", other)
	bound := s.As("gm")
	bound.Caller.Player = uuid.UUID(p.ID)
	bound.Fails("not_found", "get_player", other)
	bound.Call("get_player", `{"id":"`+p.ID.String()+`"}`)
	p.Fails("permission_denied", "get-location-context", `{}`)
	p.Fails("permission_denied", "create_player", `{"name":"Third"}`)
	for _, name := range []string{"Quay+Mira", "~x", ":x", "a|b", "{{x}}", "\u200b", " ", "GM"} {
		b, _ := json.Marshal(map[string]string{"name": name})
		if _, err := s.As("host").Invoke(op.Request{Operation: "create_player", Input: b}); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
	s.As("host").Fails("conflict", "create_player", `{"name":"Mira"}`)
}

func TestParserResolvesNamesAtPlace(t *testing.T) {
	s := worldtest.New(t)
	s.Card(canon.NewCard{Name: "Brass Key", Type: "Item"})
	s.Link(world.LinkAt, "Brass Key", "Square", `{}`)
	u := s.As("user")
	u.Call("parse-command", `{"text":"take the key"}`).Is("needsClarification", false, "intents.0.verb", "take",
		"parseVersion", "rules/3.3")
	u.Call("parse-command", `{"text":"take the key","locationId":"loc-square"}`).Is("needsClarification", true,
		"ambiguities.0.kind", "reference", "ambiguities.0.options.#", 2, "ambiguities.0.span.start", 9)
	u.Call("parse-command", `{"text":"look at the ghost","locationId":"loc-quay"}`).Is("ambiguities.0.kind", "absent",
		"ambiguities.0.critical", false)
	absent := u.Call("parse-command", `{"text":"look at the goose","locationId":"loc-quay"}`).Raw
	hidden := u.Call("parse-command", `{"text":"look at the ghost","locationId":"loc-quay"}`).Raw
	if strings.ReplaceAll(hidden, "ghost", "goose") != absent {
		t.Errorf("hidden %s\nabsent %s", hidden, absent)
	}
	u.Call("parse-command", `{"text":"look at the well","locationId":"loc-square"}`).Is("ambiguities.#", 0)
}
