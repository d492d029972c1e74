package player

import (
	"fmt"
	"strings"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Suspicion returns seat 1's suspicion of another seat at a table of six, after some messages.
func Suspicion(of rule.Seat, chat ...view.Message) float64 {
	v := view.Own{Table: view.Table{Day: 1, Players: map[string]view.Player{}}}
	for s := rule.Seat(1); s <= 6; s++ {
		v.Players[s.String()] = view.Player{ID: s.String(), Name: names[s], Alive: true, Tokens: 1}
	}
	ines := v.Players[of.String()]
	ines.Name = "Ines"
	v.Players[of.String()] = ines
	c := NewCore(rule.Seed{1}, 1)
	c.Hear(&v.Table, chat)
	return c.suspicionOf(&v, of)
}

// Line is a line, and the category that it is used up with.
type Line struct{ Category, Text string }

// Lines returns all lines of all categories.
func Lines() (all []Line) {
	add := func(category string, lines []string) {
		for _, text := range lines {
			all = append(all, Line{category, text})
		}
	}
	for i, p := range personas {
		for reason, lines := range p.lines {
			add(fmt.Sprintf("persona %d %s", i, reason), lines)
		}
	}
	for reason, lines := range sharedLines {
		add("common "+string(reason), lines)
	}
	add("answers", pulseAnswers)
	return all
}

// Made reports whether a text was made from the line.
func (l Line) Made(text string) bool {
	head, tail := lineEnds(l.Text)
	if head == l.Text {
		return text == head
	}
	return len(text) >= len(head)+len(tail) && strings.HasPrefix(text, head) && strings.HasSuffix(text, tail)
}
