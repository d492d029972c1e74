package play_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/raceenabled"
	"loregate/internal/store/memory"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// questScene is the town with quests of Oda Tarn's: one of three steps in sequence, and one to repeat.
func questScene(t *testing.T) *worldtest.Scene {
	s := worldtest.New(t)
	quest := func(name, fields string, label *access.Label) {
		s.Card(canon.NewCard{Name: name, Type: world.TypeQuest, Fields: json.RawMessage(fields), Label: label})
	}
	quest("The Third Step", `{"giver":"Oda Tarn","order":"sequence","rewards":["3 Copper Coin","her thanks"],"steps":[
		{"text":"Fetch the iron key.","bring":"Iron Key"},
		{"text":"Be at the quay.","locationId":"loc-quay"},
		{"text":"Drive off the hound.","defeat":"Salt Hound"}]}`, nil)
	quest("The Well Money", `{"giver":"Oda Tarn","repeatMinutes":10,"rewards":["Copper Coin"],"fails":[{"waitMinutes":30}],
		"steps":[{"text":"Ask her about the well.","talk":"Oda Tarn","about":"well"}]}`, nil)
	quest("After the Steps", `{"prerequisites":["The Third Step"],
		"steps":[{"text":"Learn of owing.","learn":"owed"}]}`, nil)
	gm := access.NewLabel(access.LevelGM)
	quest("The Ghost's Errand", `{"steps":[{"text":"secretstep","talk":"Ghost"}]}`, &gm)
	quest("The Odd Errand", `{"giver":"Salt Hound",
		"steps":[{"text":"Find it.","talk":"Ghost"},{"text":"And then?"}]}`, nil)
	return s
}

func TestAQuestIsPlayedToItsEnd(t *testing.T) {
	s := questScene(t)
	p := s.Joins("Mira")
	p.Does("accept the third step").Is("results.0.outcome", "impossible") // Oda is not here; the grammar takes it
	p.Does("n")
	p.Does("quests").Is("results.0.text", "You could take on “The Third Step” or “The Well Money”.")
	p.Does("accept it").Is("results.0.reason", "ambiguous", "events.#", 0)
	p.Does("Accept the quest The Third Step").Is("results.0.outcome", "done", "results.0.verb", "accept",
		"results.0.text", "You take on “The Third Step”. Fetch the iron key.",
		"events.0.payload.target.name", "The Third Step")
	p.Does("quests").Is("results.0.text", "The Third Step: Fetch the iron key.\nYou could take on “The Well Money”.")
	p.Does("take the coin").Is("events.#", 1)
	first := p.Does("take the iron key", worldtest.Keyed("k"))
	first.Is("events.#", 2, "events.1.type", "Quest.Advanced", "events.1.payload.quests.0.steps.0", "1",
		"results.0.text", "You take Iron Key. That was a step of “The Third Step”. Next: Be at the quay.")
	if again := p.Does("take the iron key", worldtest.Keyed("k")); again.Raw != first.Raw {
		t.Errorf("%s\n%s", first.Raw, again.Raw)
	}
	s.As("user").Call("get-player-context", `{"playerId":"`+p.ID.String()+`"}`).Is("item.quests.0.name", "The Third Step",
		"item.quests.0.state", "active", "item.quests.0.steps.0.done", true, "item.quests.0.steps.1.open", true,
		"item.quests.0.steps.2.open", false)
	context := s.As("user").Call("get-narration-context", `{"playerId":"`+p.ID.String()+`"}`).Raw
	if !strings.Contains(context, "To do: Be at the quay.") {
		t.Error(context)
	}
	p.Does("s").Is("events.2.payload.quests.0.steps.0", "2")
	p.Does("hit hound")
	p.Does("hit hound").Is("events.1.payload.quests.0.state", "done", "events.1.payload.quests.0.given.0.quantity", 3,
		"results.0.text",
		"You strike Salt Hound, who has had enough. “The Third Step” is done. You get Copper Coin (3), her thanks.")
	p.Does("i").Is("results.0.text", "You carry Copper Coin (4) and Iron Key.")
	p.Does("n")
	p.Does("quests").Is("results.0.text", "You could take on “After the Steps” or “The Well Money”.")
	p.Does("accept after the steps")
	p.Does("talk to Oda Tarn") // her second line, by the clock
	p.Does("talk to Oda Tarn")
	p.Call("get_player", `{"id":"`+p.ID.String()+`"}`).Is("player.quests.1.state", "done",
		"player.quests.0.name", "The Third Step")
}

// The only quest that is offered is taken on in the words that people use, and a thing that the player has already
// counts.
func TestAQuestIsTakenOnInPlainWords(t *testing.T) {
	for i, words := range []string{"ok i'll do it", "Alright, I'll do it!", "yes i will take it on",
		"sure, i accept your errand oda", "i'll take on the errand from Oda Tarn"} {
		s := worldtest.New(t)
		s.Card(canon.NewCard{Name: "A Key to the Quay", Type: world.TypeQuest, Fields: []byte(`{"giver":"Oda Tarn","steps":[
			{"id":"key","text":"Take the iron key.","bring":"Iron Key"},
			{"text":"Be at the quay.","locationId":"loc-quay","requires":["key"]}]}`)})
		p := s.Joins("Mira")
		p.Does("n")
		p.Does("any errands here?").Is("results.0.text", "You could take on “A Key to the Quay”.")
		if i == 0 {
			p.Does("take the iron key")
		}
		p.Does(words).Is("results.0.verb", "accept", "results.0.outcome", "done")
		if i == 0 {
			p.Does("look")
			p.Does("my errands").Is("results.0.text", "A Key to the Quay: Be at the quay.")
			p.Does("s").Is("events.2.payload.quests.0.state", "done")
			p.Does("how am i doing").Is("results.0.text", "Nothing asks to be done, here and now.")
		}
	}
}

func TestQuestsRepeatFailAndEnd(t *testing.T) {
	s := questScene(t)
	p := s.Joins("Mira")
	p.Does("n")
	p.Does("accept well")
	p.Does("accept well").Is("results.0.reason", "absent")
	p.Does("talk to Oda Tarn about the well").Is("events.1.payload.quests.0.state", "done")
	p.Does("accept well").Is("results.0.outcome", "impossible")
	for range 3 {
		p.Does("climb the well") // nothing: there are no rules
		p.Does("defend")
	}
	s.Pass(20 * time.Minute)
	for range 10 {
		p.Does("use coin")
		p.Does("talk to oda")
	}
	p.Does("accept well").Is("results.0.outcome", "done")
	p.Does("abandon the well").Is("results.0.text", "You give up “The Well Money”.")
	p.Does("abandon well").Is("results.0.outcome", "impossible")
	p.Does("talk to Oda Tarn about the well").Is("events.#", 1)
	p.Does("i").Is("results.0.text", "You carry Copper Coin.")
}

// A quest fails in time, and a quest that cannot be played is refused alike if a card is hidden or absent.
func TestQuestsFailAndAreRefused(t *testing.T) {
	s := questScene(t)
	p := s.Joins("Mira")
	got := p.Does("accept the odd errand")
	got.Is("results.0.reason", "unplayable", "results.0.text",
		"Nobody could tell you how that is to be done: there is no \"Ghost\"; step 2 has no condition.")
	p.Does("accept the ghost's errand").Is("events.#", 0)
	p.Does("n")
	p.Does("accept well")
	p.Does("rest").Is("events.1.payload.quests.0.state", "failed")
	p.Does("talk to Oda Tarn about the well").Is("events.#", 1)
}

// No reward is given twice or lost, under retries and under acts whose process ended before their quests moved.
func TestRewardsAreGivenOnce(t *testing.T) {
	for seed := range uint64(raceenabled.Share(3, 3)) {
		s := worldtest.Empty(t, memory.New(), func(c *worldtest.Setup) { c.Pace.Moves, c.Pace.Looks = -1, -1 })
		r := rand.New(rand.NewPCG(seed, 3))
		s.Build()
		s.Card(canon.NewCard{Name: "Token", Type: "Item"})
		s.Card(canon.NewCard{Name: "Errand", Type: world.TypeQuest, Fields: json.RawMessage(
			`{"repeatMinutes":0,"rewards":["Token"],"order":"sequence",
				"steps":[{"locationId":"Square"},{"locationId":"Quay"}]}`)})
		p := s.Joins("Mira")
		ends, at, active, step := 0, "Quay", false, 0
		act := func() { // the rules of the quest, written without the product's
			switch {
			case active && step == 0 && at == "Square":
				step = 1
			case active && step == 1 && at == "Quay":
				step, active, ends = 0, false, ends+1
			}
		}
		for n := range 150 {
			s.Now = s.Now.Add(time.Minute)
			key := worldtest.Keyed(fmt.Sprint(n))
			switch r.IntN(5) {
			case 0:
				p.Does("accept errand", key)
				p.Does("accept errand", key)
				active = true
			case 1: // an act whose quests do not move at once
				s.Change(func(plan *canon.Plan) error {
					event, err := proposed(s, p.ID.String(), `{"verb":"look"}`).Plan(t.Context(), plan,
						access.NewLabel(access.LevelUser))
					if err != nil {
						return err
					}
					return plan.Event(event)
				})
				act()
			default:
				command, to := "north", "Square"
				if at == "Square" {
					command, to = "south", "Quay"
				}
				first, again := p.Does(command, key), p.Does(command, key)
				if first.Raw != again.Raw {
					t.Fatalf("seed %d: %s\n%s", seed, first.Raw, again.Raw)
				}
				at = to
				act()
			}
		}
		p.Does("look")
		act()
		var got struct {
			Player struct {
				Inventory []struct{ Quantity int }
				Quests    []struct{ State string }
			}
		}
		if err := json.Unmarshal([]byte(p.Call("get_player", `{"id":"`+p.ID.String()+`"}`).Raw), &got); err != nil {
			t.Fatal(err)
		}
		if ends < 5 || len(got.Player.Inventory) != 1 || got.Player.Inventory[0].Quantity != ends {
			t.Errorf("seed %d: %d ends, and %+v", seed, ends, got.Player)
		}
	}
}
