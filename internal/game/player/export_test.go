package player

import (
	"fmt"
	"strings"
)

// Line is a line, and the category that it is used up with.
type Line struct{ Category, Text string }

// Lines are all lines of all categories.
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
	for reason, lines := range common {
		add("common "+string(reason), lines)
	}
	add("answers", answers)
	return all
}

// Made reports whether a text was made of the line.
func (l Line) Made(text string) bool {
	head, tail := ends(l.Text)
	if head == l.Text {
		return text == head
	}
	return len(text) >= len(head)+len(tail) && strings.HasPrefix(text, head) && strings.HasSuffix(text, tail)
}
