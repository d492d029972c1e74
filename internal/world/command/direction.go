package command

import (
	"slices"
)

// Direction is one of the twelve directions in which an exit can lead.
type Direction string

// Directions lists all directions in the order in which they are always listed.
var Directions = []Direction{"north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest", "up",
	"down", "in", "out"}

// opposites lists each pair of opposite directions once.
var opposites = [][2]Direction{
	{"north", "south"}, {"east", "west"}, {"northeast", "southwest"}, {"northwest", "southeast"}, {"up", "down"},
	{"in", "out"},
}

// ParseDirection parses the full name of a direction.
func ParseDirection(s string) (Direction, bool) {
	d := Direction(s)
	return d, d.Valid()
}

// Valid reports whether d is one of Directions.
func (d Direction) Valid() bool { return slices.Contains(Directions, d) }

// Opposite returns the direction back, or "" if d is not a direction.
func (d Direction) Opposite() Direction {
	for _, p := range opposites {
		switch d {
		case p[0]:
			return p[1]
		case p[1]:
			return p[0]
		}
	}
	return ""
}

// Index returns the position of d in listings. An invalid direction comes last.
func (d Direction) Index() int {
	if i := slices.Index(Directions, d); i >= 0 {
		return i
	}
	return len(Directions)
}

// Phrase returns a direction as used in a sentence: "to the north", "up".
func (d Direction) Phrase() string {
	switch d {
	case "up", "down", "in", "out":
		return string(d)
	}
	return "to the " + string(d)
}

// Going returns a direction as used after "you go".
func (d Direction) Going() string {
	if d == "in" || d == "out" {
		return string(d) + "side"
	}
	return string(d)
}
