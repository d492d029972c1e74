package worldtest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// pend makes exits of Rent Quay pending.
func (h *stage) pend(directions ...string) {
	h.t.Helper()
	fields := `{"terrain":"riverbank","tags":["riverbank"],"exitAvailability":{"pending":{"` +
		strings.Join(directions, `":"The mist has not lifted.","`) + `":"The mist has not lifted."}}}`
	worlds, err := h.app.Canon.Worlds(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	at := slices.IndexFunc(worlds, func(w canon.World) bool { return w.Slug == app.SampleWorld })
	err = h.app.WithGrant(
		h.t.Context(),
		app.Operator(),
		access.Request{Operation: "test", Effect: access.Write, World: worlds[at].ID},
		func(g access.Grant) error {
			_, err := h.app.Canon.Update(h.t.Context(), g, func(p *canon.Plan) error {
				c, err := p.Card("Rent Quay")
				if err == nil {
					_, err = p.Update(c, canon.Edit{Fields: []byte(fields)})
				}
				return err
			})
			return err
		},
	)
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *stage) generate(value string) {
	h.t.Helper()
	if err := h.app.ConfigureWorld(h.t.Context(), app.SampleWorld, func(_ *string, s *canon.Settings) { app.SetGenerate(s, value) }); err != nil {
		h.t.Fatal(err)
	}
}

// does sends a command, and delivers its events.
func (h *stage) does(p madePlayer, text string) (out commandResult) {
	h.t.Helper()
	if code := h.send("POST", "/api/players/"+p.Player.ID+"/commands", p.Token, `{"text":"`+text+`"}`, &out); code != 200 {
		h.t.Fatalf("%s: %d", text, code)
	}
	if _, err := h.app.Events.Round(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	return out
}

// opened lists the directions of Rent Quay that lead somewhere.
func (h *stage) opened(among ...string) (list []string) {
	h.t.Helper()
	var got place
	h.send("GET", "/api/world/location-context", h.keys[access.RoleUser], "", &got)
	for _, e := range got.Exits {
		if e.Availability == "hard" && slices.Contains(among, e.Direction) {
			list = append(list, e.Direction)
		}
	}
	return list
}

func (h *stage) waiting() int {
	h.t.Helper()
	var got struct{ Proposals []struct{ Kind string } }
	answer, err := h.app.Ops.Invoke(h.t.Context(), app.Operator(), op.Request{Operation: "list-proposals",
		World: app.SampleWorld, Input: []byte(`{"status":"pending_review"}`)})
	if err == nil {
		err = json.Unmarshal(answer.Output, &got)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	n := 0
	for _, i := range got.Proposals {
		if strings.HasPrefix(i.Kind, "place_draft") {
			n++
		}
	}
	return n
}

func TestAPlaceBehindAPendingExit(t *testing.T) {
	h := open(t)
	p := h.makePlayer("Mira Lowtide")
	ways := []string{"up", "down", "out", "northeast"}
	h.pend(ways...)
	if got := h.does(p, "up"); got.Narration != "The mist has not lifted." {
		t.Errorf("a pending exit: %s", got.Narration)
	}
	h.generate("propose")
	h.does(p, "down")
	if !(h.waiting() == 1) {
		t.Error("missing: " + "a draft waits for a person")
	}
	if got := h.opened(ways...); len(got) != 0 {
		t.Errorf("without an approval there are ways %v", got)
	}
	h.generate("live")
	h.does(p, "out")
	if !(len(h.opened("out")) == 1) {
		t.Error("missing: " + "the way is there")
	}
	there := h.does(p, "out")
	if !strings.Contains(there.Narration, "The sounds of Rent Quay are faint.") ||
		!strings.Contains(there.Narration, "Ways out: in.") {
		t.Errorf("beyond: %s", there.Narration)
	}
	h.does(p, "in")
	h.does(p, "northeast")
	if !(len(h.opened("northeast")) == 1) {
		t.Error("missing: " + "another way is there")
	}
	more := []string{"northwest", "southwest"}
	h.pend(more...)
	h.does(p, "northwest") // the fourth draft for this player within an hour
	other := h.makePlayer("Tam Undertow")
	h.does(other, "southwest")
	if !(len(h.opened("southwest")) == 1) {
		t.Error("missing: " + "another player's way is there")
	}
	if got := h.opened("northwest"); len(got) > 0 || h.waiting() != 1 {
		t.Errorf("a fourth place was drafted: %v, %d wait", got, h.waiting())
	}
}
