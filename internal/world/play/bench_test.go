package play_test

import (
	"encoding/json"
	"testing"
	"time"

	"loregate/internal/op"
	"loregate/internal/raceenabled"
	"loregate/internal/world/play"
	"loregate/internal/world/worldtest"
)

// BenchmarkLocationContext reads the context of a place with players.
func BenchmarkLocationContext(b *testing.B) {
	s := worldtest.New(b)
	s.Joins("Mira").Does("look. n. s")
	u := s.As("user")
	for b.Loop() {
		if _, err := u.Invoke(op.Request{Operation: "get-location-context",
			Input: json.RawMessage(`{"locationId":"loc-square"}`)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommand makes a player look around, at a thing of the text and at one that is not there, and walk to and
// fro, with a few seconds after each act.
func BenchmarkCommand(b *testing.B) {
	for name, texts := range map[string][]string{"look": {"look"}, "move": {"n", "s"},
		"named": {"look at the tariff board"}, "absent": {"look at the purple zeppelin"},
		"handled": {"write A on the tariff board", "ring the rope", "tie the rope to the board", "untie the rope"}} {
		b.Run(name, func(b *testing.B) {
			s := worldtest.New(b, func(c *worldtest.Setup) { c.Pace = play.Pace{Moves: -1, Looks: -1} })
			p := s.Joins("Mira")
			for i := 0; b.Loop(); i++ {
				s.Now = s.Now.Add(5 * time.Second)
				input := json.RawMessage(`{"id":"` + p.ID.String() + `","text":"` + texts[i%len(texts)] + `"}`)
				if _, err := p.Invoke(op.Request{Operation: "send_command", Input: input}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The cost of a read or an act depends on the number of its queries and of the columns that they
// read. This test fails if the cost rises.
func TestReadAndActAllocations(t *testing.T) {
	if raceenabled.Detected {
		t.Skip("the race detector allocates too")
	}
	s := worldtest.New(t, func(c *worldtest.Setup) { c.Pace = play.Pace{Moves: -1, Looks: -1} })
	p := s.Joins("Mira")
	invoke := func(a worldtest.Actor, name, input string) {
		if _, err := a.Invoke(op.Request{Operation: name, Input: json.RawMessage(input)}); err != nil {
			t.Fatal(err)
		}
	}
	u := s.As("user")
	n := testing.AllocsPerRun(20, func() { invoke(u, "get-location-context", `{"locationId":"loc-square"}`) })
	if n > 1524 {
		t.Errorf("get-location-context makes %.0f allocations", n)
	}
	texts := []string{"n", "s"}
	i := 0
	move := func() {
		s.Now = s.Now.Add(5 * time.Second)
		invoke(p.Actor, "send_command", `{"id":"`+p.ID.String()+`","text":"`+texts[i%2]+`"}`)
		i++
	}
	for range 60 { // until every statement has been prepared
		move()
	}
	if n = testing.AllocsPerRun(60, move); n > 3426 {
		t.Errorf("a move makes %.0f allocations", n)
	}
}
