package world

import "slices"

// Direction is one of the twelve ways out of a place.
type Direction string

// Directions are all of them, in the one order in which they are listed.
var Directions = []Direction{"north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest", "up", "down", "in", "out"}

// opposites holds each pair once.
var opposites = [][2]Direction{
	{"north", "south"}, {"east", "west"}, {"northeast", "southwest"}, {"northwest", "southeast"}, {"up", "down"}, {"in", "out"},
}

// ParseDirection reads the full name of a direction.
func ParseDirection(s string) (Direction, bool) {
	d := Direction(s)
	return d, d.Valid()
}

// Valid reports whether d is one of Directions.
func (d Direction) Valid() bool { return slices.Contains(Directions, d) }

// Opposite is the way back; "" for what is no direction.
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

// sortIndex is the place of a direction in every listing; what is none comes last.
func (d Direction) sortIndex() int {
	if i := slices.Index(Directions, d); i >= 0 {
		return i
	}
	return len(Directions)
}

// phrase is a direction as a sentence has it: "to the north", "up".
func (d Direction) phrase() string {
	switch d {
	case "up", "down", "in", "out":
		return string(d)
	}
	return "to the " + string(d)
}
