package play_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/ruleset"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// memories returns the texts of the entries of the kind memory that a caller reads of a character and a player.
func memories(who worldtest.Actor, p worldtest.Player, npc string) (list []string) {
	who.Scene.T.Helper()
	got := who.Call(
		"get-narration-context",
		fmt.Sprintf(`{"playerId":%q,"npcId":%q,"purpose":"dialogue","maxTokens":8000}`,
			p.ID, who.Scene.IDOf(npc)),
	)
	var out struct {
		Item struct {
			Entries []struct{ Kind, Text, Why string }
		}
	}
	if err := json.Unmarshal([]byte(got.Raw), &out); err != nil {
		who.Scene.T.Fatal(err)
	}
	for _, e := range out.Item.Entries {
		if e.Kind == "memory" {
			list = append(list, e.Text)
		}
	}
	return list
}

// scenery reads all that a caller may read about a place, its characters and its players.
func scenery(who worldtest.Actor, players ...worldtest.Player) string {
	who.Scene.T.Helper()
	raw := who.Call("get-location-context", `{"locationId":"loc-square"}`).Raw +
		who.Call("get-recent-events", `{"scope":"location","scopeId":"loc-square","limit":100}`).Raw +
		who.Call("get-narration-context", `{"locationId":"loc-square","maxTokens":8000}`).Raw
	for _, p := range players {
		raw += who.Call("get-player-context", fmt.Sprintf(`{"playerId":%q}`, p.ID)).Raw +
			who.Call("get-recent-events", fmt.Sprintf(`{"scope":"player","scopeId":%q,"limit":100}`, p.ID)).Raw +
			strings.Join(memories(who, p, "Oda Tarn"), "\n")
	}
	return raw
}

// A character remembers what a player told it. Other players learn nothing of it, by no way; game masters, the key that
// created the player and its narrators do.
func TestACharacterRemembersEachPlayerForItself(t *testing.T) {
	s := worldtest.New(t, func(c *worldtest.Setup) { c.Settle = alwaysManages })
	p, q := s.Joins("Mira"), s.Joins("Ben")
	p.Does("north")
	q.Does("north")
	beside := follow(t, q, q, "")
	p.Does("tell Oda that the zephyr sank").Is("events.0.payload.detail", "the zephyr sank")
	p.Does("flatter Oda for the zephyr").Is("results.0.outcome", "done")
	q.Does("tell Oda that the lamp is out")
	p.Does("say “the bell is cracked”")
	for _, who := range []worldtest.Actor{p.Actor, s.As("gm"), s.As("host")} {
		who.Caller.Audience = ""
		got := strings.Join(memories(who, p, "Oda Tarn"), "\n")
		if !strings.Contains(got, "Mira said: “the zephyr sank”") || !strings.Contains(got, "flatter Oda for the zephyr") ||
			strings.Contains(got, "lamp") {
			t.Errorf("%s reads %q", who.Caller.Subject, got)
		}
	}
	for _, who := range []worldtest.Actor{q.Actor, s.As("user"), s.As("stranger")} {
		who.Caller.Audience = ""
		raw := scenery(who, p, q)
		if strings.Contains(raw, "zephyr") || strings.Contains(raw, "trust") {
			t.Errorf("%s reads the words: %t", who.Caller.Subject, strings.Contains(raw, "zephyr"))
		}
		if !strings.Contains(raw, "the bell is cracked") {
			t.Errorf("%s does not hear words that are said aloud", who.Caller.Subject)
		}
	}
	for n := 0; n < 5; n++ {
		if m := beside.next(); strings.Contains(string(m.Data), "zephyr") {
			t.Errorf("heard by the other player: %s", m.Data)
		}
	}
}

func alwaysManages(canon.Settings, string, *int, string, ruleset.Mode) (ruleset.Outcome, string) {
	return ruleset.Outcome{Success: true, Total: 20, Target: 10}, "seed"
}

// Without lines of its own, a character comes back to earlier words, and greets by its attitude.
func TestACharacterAnswersFromItsMemory(t *testing.T) {
	s := worldtest.New(t)
	s.Edit("Oda Tarn", canon.Edit{Fields: json.RawMessage(`{"says":[]}`)})
	p := s.Joins("Mira")
	p.Does("north")
	want := func(text string, parts ...string) {
		t.Helper()
		got, _ := p.Does(text).At("narration").(string)
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q has no %q", text, got, part)
			}
		}
	}
	want("tell Oda that the pump leaks", "Oda Tarn says: “")
	want("talk to Oda", "the pump leaks")
	want("tell Oda that I will mend the pump")
	want("talk to Oda", "I will mend the pump")
	p.Does("attack Oda")
	p.Does("attack Oda")
	p.Does("attack Oda")
	s.Pass(3 * time.Hour)
	p.Does("rest")
	s.Pass(9 * time.Hour)
	want("talk to Oda", "Oda Tarn says: “")
	got := strings.Join(memories(s.As("gm"), p, "Oda Tarn"), "\n")
	if !strings.Contains(got, "Mira beat Oda Tarn") {
		t.Errorf("%s", got)
	}
	s.Edit("Oda Tarn", canon.Edit{Fields: json.RawMessage(`{"says":["x"],"status":"dead"}`)})
	p.Does("talk to Oda").Is("results.0.reason", "dead")
}

// Forty exchanges are kept. Older ones are summed up and their words are erased; promises stay.
func TestOldExchangesAreSummedUp(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("north")
	p.Does("tell Oda that I will bring the anchor")
	for n := range world.MaxRecent + 5 {
		word := []string{"rain", "fog"}[n%2]
		if n == 3 {
			word = "a whale in the harbour"
		}
		p.Does("tell Oda that there is " + word)
	}
	got := memories(s.As("gm"), p, "Oda Tarn")
	all := strings.Join(got, "\n")
	if !strings.Contains(got[0], "I will bring the anchor") || !strings.Contains(got[len(got)-1], "whale") {
		t.Errorf("%q", got)
	}
	if n := strings.Count(all, "fog"); n > 12 {
		t.Errorf("the summary repeats itself: %d times", n)
	}
	var r world.Regard
	s.Change(func(p *canon.Plan) (err error) {
		links, _, err := p.Links(t.Context(), canon.LinkQuery{Kinds: []string{world.LinkRegards}, From: s.IDOf("Oda Tarn"),
			Page: canon.Page{Limit: 2}})
		if err == nil && len(links) != 1 {
			t.Fatalf("%d links", len(links))
		}
		world.DecodeFields(links[0].Attrs, &r)
		if l := links[0].Label; l.Level != access.LevelGM || len(l.Subjects) != 2 {
			t.Errorf("the memory is open to %s", l)
		}
		return err
	})
	if len(r.Recent) > world.MaxRecent || len(r.Recent) < world.MaxRecent/2 || r.Summary == (canon.Hash{}) ||
		r.Met != world.MaxRecent+6 {
		t.Errorf("%+v", r)
	}
}

// A player and a game master can have characters forget; the words are gone from the store, attitudes stay, and
// the tables still follow from the stream.
func TestWordsAreForgotten(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Ben")
	for _, who := range []worldtest.Player{p, q} {
		who.Does("north")
		who.Does("tell Oda that the zephyr sank")
		who.Does("give 0 coins to Oda")
		who.Does("attack hound")
	}
	forget := func(who worldtest.Actor, of worldtest.Player, more string) worldtest.Answer {
		return who.Call("forget", fmt.Sprintf(`{"id":%q%s}`, of.ID, more))
	}
	q.Fails("not_found", "forget", fmt.Sprintf(`{"id":%q}`, p.ID))
	s.As("user").Fails("not_found", "forget", fmt.Sprintf(`{"id":%q}`, p.ID))
	forget(p.Actor, p, fmt.Sprintf(`,"npcId":%q`, s.IDOf("Salt Hound"))).Is("texts", 0)
	if got := memories(s.As("gm"), p, "Oda Tarn"); len(got) != 1 {
		t.Errorf("%q", got)
	}
	forget(p.Actor, p, "").Is("texts", 1)
	forget(p.Actor, p, "").Is("texts", 0)
	if got := memories(s.As("gm"), p, "Oda Tarn"); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if _, err := s.Canon.Rebuild(t.Context(), s.Operator(), s.ID, canon.KeepRebuilt); err != nil {
		t.Fatal(err)
	}
	if raw := scenery(s.As("gm"), p); strings.Contains(raw, "Mira says to") || strings.Count(raw, "zephyr") > 3 {
		t.Errorf("forgotten words in %d bytes", len(raw))
	}
	if got := memories(s.As("gm"), q, "Oda Tarn"); len(got) != 1 || !strings.Contains(got[0], "zephyr") {
		t.Errorf("Ben's words: %q", got)
	}
	p.Does("talk to Oda").Is("results.0.outcome", "done")
	forget(s.As("gm"), q, "").Is("texts", 1)
	if raw := scenery(s.As("gm"), p, q); strings.Contains(raw, "zephyr") {
		t.Errorf("forgotten words in %d bytes", len(raw))
	}
}

// When the card of a player goes to the trash, all its words are erased, even if its deleter may not read them.
func TestADeletedPlayerIsForgotten(t *testing.T) {
	s := worldtest.New(t)
	p := s.Joins("Mira")
	p.Does("north")
	p.Does("tell Oda that the zephyr sank")
	var h canon.Hash
	trash := func(plan *canon.Plan) error {
		c, ok, err := plan.ByID(t.Context(), p.ID)
		if err != nil || !ok {
			t.Fatal(err)
		}
		return plan.Trash(c)
	}
	s.Change(func(plan *canon.Plan) error {
		_, r, err := s.World.Current(plan.Snapshot).RegardOf(t.Context(), s.IDOf("Oda Tarn"), p.ID)
		h = r.Recent[0]
		return err
	})
	if _, err := s.Canon.Update(t.Context(), s.Grant("user"), trash); err != nil {
		t.Fatal(err)
	}
	s.Change(func(plan *canon.Plan) error {
		if text, err := plan.StoredText(t.Context(), h); err != nil || text != "" {
			t.Errorf("the words are still there: %q, %v", text, err)
		}
		return nil
	})
}
