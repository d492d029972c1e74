package worldtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
)

// part is one part of an adventure: its first and last place, and the commands between.
type part struct {
	Name, Start, End string
	Walk             []string
}

// readAdventure reads the parts of an adventure of the sample world, in the order of its text.
func (h *stage) readAdventure(name string) (parts []part) {
	h.t.Helper()
	w, _, err := h.app.Canon.WorldBySlug(h.t.Context(), app.SampleWorld)
	if err != nil {
		h.t.Fatal(err)
	}
	r := access.Request{Operation: "read", Effect: access.Read, World: w.ID}
	err = h.app.WithGrant(h.t.Context(), app.Local(access.RoleUser), r, func(g access.Grant) error {
		return h.app.Canon.Read(h.t.Context(), g, func(s *canon.Snapshot) error {
			quest, err := s.Find(h.t.Context(), name)
			if err != nil {
				return err
			}
			text, err := s.Content(h.t.Context(), quest)
			for _, rest := range strings.Split(text, "[["+name+"+")[1:] {
				title, _, _ := strings.Cut(rest, "]]")
				c, err := s.Find(h.t.Context(), name+"+"+title)
				if err != nil {
					return err
				}
				p := part{Name: title}
				if err := json.Unmarshal(c.Fields, &p); err != nil {
					return err
				}
				parts = append(parts, p)
			}
			return err
		})
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return parts
}

type playerState struct {
	Player struct {
		Clock     int64
		Location  struct{ Name string }
		Inventory []struct{ Name string }
	}
}

func (s playerState) hasItem(name string) bool {
	return slices.ContainsFunc(s.Player.Inventory, func(i struct{ Name string }) bool {
		return strings.EqualFold(i.Name, name)
	})
}

// TestTheAdventureIsPlayedByCommands plays The Missing Voice from the first command to the last
// over HTTP, like a player. Every command is understood and done, the clock never goes back, and at
// the end the player has the items of the adventure.
func TestTheAdventureIsPlayedByCommands(t *testing.T) {
	h := open(t)
	m := h.makePlayer("Mira Lowtide")
	path := "/api/players/" + m.Player.ID
	state := func() (s playerState) {
		t.Helper()
		// The GM asks, because a player's reads are limited, and a fast machine reaches the limit.
		if code := h.send("GET", path+"?world="+app.SampleWorld, h.keys[access.RoleGM], "", &s); code != http.StatusOK {
			t.Fatalf("the player: %d", code)
		}
		return s
	}
	commands, clock := 0, state().Player.Clock
	for _, p := range h.readAdventure("The Missing Voice") {
		if at := state().Player.Location.Name; at != p.Start {
			t.Fatalf("%s begins at %s; the player stands at %s", p.Name, p.Start, at)
		}
		for _, command := range p.Walk {
			var out struct {
				commandResult
				Results []struct{ Outcome, Reason, Text string }
			}
			body, _ := json.Marshal(map[string]string{"text": command})
			if code := h.send("POST", path+"/commands", m.Token, string(body), &out); code != http.StatusOK {
				t.Fatalf("%s, %q: %d", p.Name, command, code)
			}
			if len(out.Results) != 1 || out.Results[0].Outcome != "done" || len(out.Events) == 0 || out.Narration == "" {
				t.Fatalf("%s, %q: %+v", p.Name, command, out)
			}
			if out.Clock < clock {
				t.Fatalf("%s, %q: the clock went from %d to %d", p.Name, command, clock, out.Clock)
			}
			clock = out.Clock
			commands++
		}
		if at := state().Player.Location.Name; at != p.End {
			t.Fatalf("%s ends at %s; the player stands at %s", p.Name, p.End, at)
		}
	}
	if s := state(); commands < 30 || !s.hasItem("The Wax Rubbing") || !s.hasItem("The Eel Lantern") ||
		s.hasItem("The Eelskin Bundle") {
		t.Errorf("after %d commands the player has %+v", commands, s.Player.Inventory)
	}
}

// TestTheSampleHasQuestsAndAMarket plays a short quest of the sample world to its end, accepts the long one, and
// spends the reward.
func TestTheSampleHasQuestsAndAMarket(t *testing.T) {
	h := open(t)
	m := h.makePlayer("Mira Lowtide")
	does := func(text, want string) {
		t.Helper()
		var out commandResult
		body, _ := json.Marshal(map[string]string{"text": text})
		code := h.send("POST", "/api/players/"+m.Player.ID+"/commands", m.Token, string(body), &out)
		if code != http.StatusOK || !strings.Contains(out.Narration, want) {
			t.Errorf("%q: %d %q; want %q", text, code, out.Narration, want)
		}
	}
	does("quests", "“Out to the Stone”")
	does("accept out to the stone", "Walk out to the Rent Stone.")
	does("south", "Next: Tell Old Cod Wilkin about the tide.")
	does("north", "Rent Quay")
	does("tell old cod wilkin about the tide", "“Out to the Stone” is done. You get Sound Penny (2).")
	does("inventory", "Sound Penny (2)")
	does("east", "Rope Walk")
	does("north", "Bellfounders' Yard")
	does("accept the missing voice", "Ask Gudrun Tolliver about the iron.")
	does("ask gudrun about the iron", "Next: Take the wax rubbing")
	does("west", "Fishgate Market")
	does("what do you sell?", "Jellied Eel at Fishgate Market: 2 sound pennies a pot")
	does("buy a salt block", "That comes to 12 sound pennies, and you have 2.")
	does("buy a pot of eel", "You buy Jellied Eel from Fishgate Market for 2 sound pennies.")
	does("sell samphire to quince", "You have no")
	does("in", "Thrupp's Bakehouse")
	does("how much is the loaf", "Ninepenny Loaf at Gil Thrupp: 10 sound pennies a loaf")
}
