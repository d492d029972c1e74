package play_test

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// followWorld opens the world feed.
func followWorld(t *testing.T, who worldtest.Actor, after string) stream {
	t.Helper()
	feeds := who.Scene.Ops.Feeds()
	return followFeed(t, who, feeds[len(feeds)-1], nil, after)
}

type worldEvent struct {
	Position int
	Type     string
	Text     string
	PlayerID string
}

func (s stream) worldEvent() (op.Message, worldEvent) {
	s.t.Helper()
	m := s.next()
	var e worldEvent
	if err := json.Unmarshal(m.Data, &e); err != nil {
		s.t.Fatal(err)
	}
	return m, e
}

func TestWorldFeedTellsOfGrantedPlayers(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	narrator := s.As("narrator")
	s.Change(func(plan *canon.Plan) error {
		c, err := plan.Card("Mira")
		if err == nil {
			_, err = plan.Update(c, canon.Edit{Fields: []byte(`{"narrators":["narrator"]}`)})
		}
		return err
	})
	p.Does("look") // it begins the world's clock
	own, all, stranger := followWorld(
		t,
		narrator,
		"",
	), followWorld(
		t,
		s.As("gm"),
		"",
	), followWorld(
		t,
		s.As("stranger"),
		"",
	)
	p.Does("say hello")
	q.Does("say welcome")
	s.Change(func(plan *canon.Plan) error {
		return plan.Event(canon.Event{Type: string(world.NPCTick), Scope: "global:world", Version: 1,
			Label: access.NewLabel(access.LevelGM), Payload: []byte(`{"text":"secrettick"}`)})
	})
	s.Change(func(plan *canon.Plan) error {
		return plan.Event(
			canon.Event{
				Type:    string(world.NPCTick),
				Scope:   "global:world",
				Version: 1,
				Payload: []byte(`{"mood":"calm"}`),
			},
		)
	})
	p.Does("look")
	first, e := own.worldEvent()
	if e.Position != 1 || e.Text != "Mira says: “hello”" || e.PlayerID != p.ID.String() {
		t.Errorf("the narrator is told %s", first.Data)
	}
	var got []string
	for n := range 2 {
		m, e := own.worldEvent()
		got = append(got, e.Type)
		if e.Position != n+2 || strings.Contains(string(m.Data), "secret") {
			t.Errorf("%s", m.Data)
		}
	}
	if strings.Join(got, " ") != "NPC.Tick Player.Look" {
		t.Errorf("the narrator is told of %v", got)
	}
	if _, e := followWorld(t, narrator, first.ID).worldEvent(); e.Position != 2 || e.Type != "NPC.Tick" {
		t.Errorf("resumed: %+v", e)
	}
	for n := range 5 { // both players, both ticks, the look
		if _, e := all.worldEvent(); e.Position != n+1 {
			t.Errorf("the game master is told %+v", e)
		}
	}
	if _, e := stranger.worldEvent(); e.Type != "NPC.Tick" || e.Position != 1 {
		t.Errorf("a stranger is told %+v", e)
	}
	feeds := s.Ops.Feeds()
	for _, who := range []worldtest.Actor{s.As("gm"), s.As("stranger")} {
		if _, err := s.Ops.Follow(t.Context(), who.Caller, op.FeedRequest{Ask: op.Ask{World: "main"}, Feed: feeds[len(feeds)-1],
			After: first.ID}); err == nil {
			t.Error("the position of another reader opens")
		}
	}
	request := op.FeedRequest{Ask: op.Ask{World: "main"}, Feed: feeds[len(feeds)-1]}
	if _, err := s.Ops.Follow(t.Context(), p.Caller, request); err == nil {
		t.Error("a token to play with opens the feed")
	}
}

func TestWorldFeedAsResource(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	for range 60 {
		p.Does("say hello")
	}
	q.Does("say welcome")
	read := func(who worldtest.Actor) string {
		t.Helper()
		c, err := s.Ops.ReadResource(
			t.Context(),
			who.Caller,
			op.ResourceRequest{Ask: op.Ask{World: "main"}, URI: "world://feed"},
		)
		if err != nil {
			t.Fatal(err)
		}
		return c.Text
	}
	got := read(s.As("gm"))
	if n := strings.Count(got, "“hello”"); n != 49 || !strings.Contains(got, "welcome") || got != read(s.As("gm")) {
		t.Errorf("the feed has %d: %s", n, got)
	}
	if got := read(s.As("stranger")); strings.Contains(got, "say") ||
		!strings.Contains(got, "World.Clock.Advanced") {
		t.Errorf("a stranger reads %s", got)
	}
}
