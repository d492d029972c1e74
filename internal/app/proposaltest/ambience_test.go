// Package proposaltest makes proposals to the product as it is served: those of its own agents,
// and those of its guide to the gates.
package proposaltest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/fault"
	"loregate/internal/waittest"
)

// house is the served sample world.
type house struct {
	t    testing.TB
	app  *app.App
	url  string
	keys map[access.Role]string
}

// serve serves the sample world without limits.
func serve(t testing.TB, set func(*app.Config)) *house {
	t.Helper()
	return serveLimited(t, access.ProfileNone, set)
}

// serveLimited serves the sample world with the limits of a profile; "" has the default limits.
func serveLimited(t testing.TB, profile string, set func(*app.Config)) *house {
	t.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data, c.Addr = t.TempDir(), "127.0.0.1:0"
	set(&c)
	made := apptest.Sample(t, c.Data)
	a, err := app.Open(t.Context(), c, app.Options{Version: "1.0.0", Profile: profile,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, app: a, keys: map[access.Role]string{}}
	for _, k := range made.Keys {
		h.keys[k.Role] = k.Secret
	}
	listener, err := a.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- a.Serve(ctx, listener, func(addr string) { ready <- addr }) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		a.Close(context.WithoutCancel(t.Context()))
	})
	select {
	case addr := <-ready:
		h.url = "http://" + addr
	case err := <-done:
		done <- err
		t.Fatal(err)
	}
	return h
}

// call calls over REST with a role's key.
func (h *house) call(role access.Role, line string, in, out any) int {
	h.t.Helper()
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			h.t.Fatal(err)
		}
	}
	method, path, _ := strings.Cut(line, " ")
	status, b := apptest.Send(h.t, method, h.url+path, h.keys[role], string(body))
	if err := json.Unmarshal(b, out); err != nil {
		h.t.Fatalf("%s: %d %s", line, status, b)
	}
	return status
}

// patience bounds the time of the event handlers.
const patience = waittest.Patience

// waitUntil polls over HTTP until a condition holds: no signal shows the progress of the event
// handlers.
func (h *house) waitUntil(what string, holds func() bool) {
	h.t.Helper()
	apptest.Eventually(h.t, what, patience, holds)
}

// TestAMoodByThePlacesName asks for a mood by a place's name, and by a name that no place
// has.
func TestAMoodByThePlacesName(t *testing.T) {
	h := serve(t, func(*app.Config) {})
	for _, want := range []string{"accepted", "skipped"} {
		if got, err := h.app.KeepAmbience(t.Context(), app.SampleWorld, "rope walk"); err != nil || got.Status != want {
			t.Errorf("%+v, %v; want %s", got, err, want)
		}
	}
	if got, err := h.app.KeepAmbience(t.Context(), app.SampleWorld, "The Wharf of Nowhere"); !errors.Is(err,
		fault.NotFound) {
		t.Errorf("%+v, %v", got, err)
	}
}

type mood struct {
	LocationID string
	Ambient    struct {
		Present        bool
		Value, ScopeID string
	}
}

func (h *house) mood(place string) (m mood) {
	h.call(access.RoleUser, "GET /api/world/atmosphere?world="+app.SampleWorld+"&locationId="+place, nil, &m)
	return m
}

type events []struct{ EventType, ActorKind, Status string }

func (h *house) events(place string) (list events) {
	h.call(access.RoleGM, "GET /api/world/recent-events?world="+app.SampleWorld+"&scope=location&limit=100&scopeId="+place,
		nil, &list)
	return list
}

func (e events) count(kind string) (n int) {
	for _, one := range e {
		if one.EventType == kind && one.Status == "processed" {
			n++
		}
	}
	return n
}

// TestAChangedPlaceGetsAMood edits a place in the wiki. If configured to, the served product
// adds a layer of ambience through the gates, once; after a second change it finds the layer
// and adds none.
func TestAChangedPlaceGetsAMood(t *testing.T) {
	h := serve(t, func(c *app.Config) { c.Agents.Ambience = true })
	const name = "Rope Walk" // a place without a layer of its own
	var card struct{ ID string }
	edit := func(text string) {
		t.Helper()
		if code := h.call(access.RoleAdmin, "PATCH /api/mcp/cards/Rope%20Walk?world="+app.SampleWorld,
			map[string]any{"content": text}, &card); code != http.StatusOK {
			t.Fatalf("%s: %d", name, code)
		}
	}
	edit("<p>The awnings are down, and the fish looks surprised.</p>")
	h.waitUntil("the first change is handled",
		func() bool { return h.events(card.ID).count("World.Location.Changed") == 1 })
	first := h.mood(card.ID)
	if !first.Ambient.Present || first.Ambient.ScopeID != card.ID || first.Ambient.Value == "" {
		t.Fatalf("the mood is %+v, after %+v", first, h.events(card.ID))
	}
	if n := h.events(card.ID).count("World.Ambience.Generated"); n != 1 {
		t.Errorf("%d moods were laid over it", n)
	}
	edit("<p>The awnings are up again.</p>")
	h.waitUntil("the second change is handled",
		func() bool { return h.events(card.ID).count("World.Location.Changed") == 2 })
	if again := h.mood(card.ID); again.Ambient != first.Ambient ||
		h.events(card.ID).count("World.Ambience.Generated") != 1 {
		t.Errorf("then it is %+v, after %+v", again, h.events(card.ID))
	}
	var list struct {
		Proposals []struct{ Kind, Status string }
	}
	h.call(access.RoleGM, "GET /api/proposals?world="+app.SampleWorld, nil, &list)
	if len(list.Proposals) != 0 {
		t.Errorf("somebody who may not decide sees %+v", list.Proposals)
	}
}
