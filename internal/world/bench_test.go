package world

import (
	"encoding/json"
	"testing"
	"time"

	"loregate/internal/op"
)

// BenchmarkLocationContext reads the context of a place where players are.
func BenchmarkLocationContext(b *testing.B) {
	s := newScene(b)
	s.joins("Mira").does("look. n. s")
	u := s.as("user")
	for b.Loop() {
		if _, err := u.invoke(op.Request{Operation: "get-location-context", Input: json.RawMessage(`{"locationId":"loc-square"}`)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommand lets a player look, and walk to and fro, a few seconds after each act.
func BenchmarkCommand(b *testing.B) {
	for name, texts := range map[string][]string{"look": {"look"}, "move": {"n", "s"}} {
		b.Run(name, func(b *testing.B) {
			s := newScene(b, func(c *Config) { c.Pace = Pace{Moves: -1, Looks: -1} })
			p := s.joins("Mira")
			for i := 0; b.Loop(); i++ {
				s.now = s.now.Add(5 * time.Second)
				input := json.RawMessage(`{"id":"` + p.id.String() + `","text":"` + texts[i%len(texts)] + `"}`)
				if _, err := p.invoke(op.Request{Operation: "send_command", Input: input}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
