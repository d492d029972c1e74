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

// part is one part of an adventure: where it begins and ends, and the commands between.
type part struct {
	Name, Start, End string
	Walk             []string
}

// adventure reads the parts of the sample's adventure in the order of its text.
func (h *house) adventure(name string) (parts []part) {
	h.t.Helper()
	w, _, err := h.app.Canon.WorldBySlug(h.t.Context(), app.SampleWorld)
	if err != nil {
		h.t.Fatal(err)
	}
	r := access.Request{Operation: "read", Effect: access.Read, World: w.ID}
	err = h.app.As(h.t.Context(), app.Local(access.RoleUser), r, func(g access.Grant) error {
		return h.app.Canon.Read(h.t.Context(), g, func(l *canon.Snapshot) error {
			quest, err := l.Find(h.t.Context(), name)
			if err != nil {
				return err
			}
			text, err := l.Content(h.t.Context(), quest)
			for _, rest := range strings.Split(text, "[["+name+"+")[1:] {
				title, _, _ := strings.Cut(rest, "]]")
				c, err := l.Find(h.t.Context(), name+"+"+title)
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

type seen struct {
	Player struct {
		Clock     int64
		Location  struct{ Name string }
		Inventory []struct{ Name string }
	}
}

func (s seen) has(name string) bool {
	return slices.ContainsFunc(s.Player.Inventory, func(i struct{ Name string }) bool { return strings.EqualFold(i.Name, name) })
}

// TestTheAdventureIsPlayedByCommands plays The Missing Voice from its first command to its
// last as a player does, over HTTP: every command is understood and done, the clock rises
// with each, and what was fetched comes to whom it is for.
func TestTheAdventureIsPlayedByCommands(t *testing.T) {
	h := open(t)
	m := h.player("Mira Lowtide")
	path := "/api/players/" + m.Player.ID
	state := func() (s seen) {
		t.Helper()
		// Asked by the GM: how often a player may look is limited, and a quick machine is there soon.
		if code := h.send("GET", path+"?world="+app.SampleWorld, h.keys[access.RoleGM], "", &s); code != http.StatusOK {
			t.Fatalf("the player: %d", code)
		}
		return s
	}
	commands, clock := 0, state().Player.Clock
	for _, p := range h.adventure("The Missing Voice") {
		if at := state().Player.Location.Name; at != p.Start {
			t.Fatalf("%s begins at %s; the player stands at %s", p.Name, p.Start, at)
		}
		for _, command := range p.Walk {
			var out struct {
				told
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
	if s := state(); commands < 30 || !s.has("The Wax Rubbing") || !s.has("The Eel Lantern") || s.has("The Eelskin Bundle") {
		t.Errorf("after %d commands the player has %+v", commands, s.Player.Inventory)
	}
}
