package play_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/waittest"
	"loregate/internal/world/worldtest"
)

// stream is the stream around a player, as somebody follows it.
type stream struct {
	t *testing.T
	c chan op.Message
}

// follow opens the stream around a player, after a message if after is not "".
func follow(t *testing.T, who worldtest.Player, about worldtest.Player, after string) stream {
	t.Helper()
	return followFeed(t, who.Actor, about.Scene.Ops.Feeds()[0], map[string]string{"id": about.ID.String()}, after)
}

func followFeed(t *testing.T, who worldtest.Actor, feed *op.Feed, vars map[string]string, after string) stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	st, err := who.Scene.Ops.Follow(ctx, who.Caller, op.FeedRequest{Ask: op.Ask{World: "main"}, Feed: feed, Vars: vars,
		After: after})
	if err != nil {
		t.Fatal(err)
	}
	c := make(chan op.Message, 100)
	go func() {
		for m, err := range st.Messages {
			if err != nil {
				return
			}
			c <- m
		}
	}()
	return stream{t, c}
}

// next returns the next message.
func (s stream) next() op.Message {
	s.t.Helper()
	return waittest.Receive(s.t, s.c, "the next message")
}

// turn reads the messages of one turn, and returns them with the narration.
func (s stream) turn() (list []op.Message, text string) {
	s.t.Helper()
	parts := ""
	for {
		m := s.next()
		list = append(list, m)
		var told struct{ Text string }
		if err := json.Unmarshal(m.Data, &told); err != nil {
			s.t.Fatal(err)
		}
		switch m.Event {
		case "narration.delta":
			parts += told.Text
		case "narration.done":
			if parts != told.Text || list[0].Event != "turn.began" || list[1].Event != "result" {
				s.t.Fatalf("a turn of %d messages: %q, in parts %q", len(list), told.Text, parts)
			}
			return list, told.Text
		}
	}
}

func (s stream) wants(event string, parts ...string) {
	s.t.Helper()
	m := s.next()
	for _, p := range parts {
		if m.Event != event || !strings.Contains(string(m.Data), p) {
			s.t.Errorf("want %s with %s, got %s %s", event, p, m.Event, m.Data)
		}
	}
}

func TestPlayerStream(t *testing.T) {
	s := worldtest.New(t)
	p, q := s.Joins("Mira"), s.Joins("Tam")
	one := follow(t, p, p, "")
	p.Does("look")
	first, text := one.turn()
	if !strings.Contains(string(first[1].Data), `"type":"Player.Look"`) ||
		!strings.HasPrefix(text, "Quay. Black stone") {
		t.Errorf("%s\n%s", first[1].Data, text)
	}
	q.Does("talk to nobody. look. n")
	m := one.next()
	if m.Event != "event" || !strings.Contains(string(m.Data), q.ID.String()) ||
		strings.Contains(string(m.Data), "narration") {
		t.Errorf("what another does here: %s", m.Data)
	}
	one.wants("event", "Player.Move")
	q.Does("look")
	p.Does("i")
	if list, _ := one.turn(); !strings.Contains(string(list[1].Data), `"verb":"inventory"`) {
		t.Errorf("what happens elsewhere was shown: %s", list[1].Data)
	}
	for i, had := range first[1:] {
		again := follow(t, p, p, had.ID)
		for _, want := range append(first[i+2:], m) {
			if got := again.next(); got.ID != want.ID || string(got.Data) != string(want.Data) {
				t.Errorf("after %s: %s %s, want %s", had.ID, got.ID, got.Data, want.Data)
			}
		}
	}
	if _, err := s.Ops.Follow(t.Context(), q.Caller, op.FeedRequest{Ask: op.Ask{World: "main"}, Feed: s.Ops.Feeds()[0],
		Vars: map[string]string{"id": p.ID.String()}}); err == nil {
		t.Error("another player follows")
	}
	for _, after := range []string{"garbage", "01900000-0000-7000-8000-000000000000"} {
		if _, err := s.Ops.Follow(t.Context(), p.Caller, op.FeedRequest{Ask: op.Ask{World: "main"}, Feed: s.Ops.Feeds()[0],
			Vars: map[string]string{"id": p.ID.String()}, After: after}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a stream after %q: %v", after, err)
		}
	}
}
