package record

import (
	"cmp"
	"iter"
	"strings"

	"loregate/internal/exchange"
)

// directions lists the directions of exits, each with its step east, north and up. Only the first
// ten have a step.
var directions = []struct {
	name  string
	steps [3]int
}{
	{"north", [3]int{0, 1, 0}}, {"south", [3]int{0, -1, 0}}, {"east", [3]int{1, 0, 0}}, {"west", [3]int{-1, 0, 0}},
	{"northeast", [3]int{1, 1, 0}}, {"northwest", [3]int{-1, 1, 0}}, {"southeast", [3]int{1, -1, 0}},
	{"southwest", [3]int{-1, -1, 0}},
	{"up", [3]int{0, 0, 1}}, {"down", [3]int{0, 0, -1}}, {"in", [3]int{}}, {"out", [3]int{}},
}

// GridSteps yields the directions that have a step on a grid, with that step.
func GridSteps() iter.Seq2[string, [3]int] {
	return func(yield func(string, [3]int) bool) {
		for _, d := range directions {
			if d.steps != [3]int{} && !yield(d.name, d.steps) {
				return
			}
		}
	}
}

// spareOrder is the order in which free directions are tried for an exit without a direction of its
// own.
var spareOrder = []string{"in", "out", "up", "down", "northeast", "northwest", "southeast", "southwest", "north",
	"south", "east", "west"}

func isDirection(word string) bool {
	for _, d := range directions {
		if d.name == word {
			return true
		}
	}
	return false
}

// DirectionIn returns the one direction named in a text, or "" if the text names none or
// several.
func DirectionIn(text string) (found string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		word = strings.TrimSuffix(word, "wards")
		if !isDirection(word) || word == "in" || word == "out" {
			continue
		}
		if found != "" && found != word {
			return ""
		}
		found = word
	}
	return found
}

// DirectionBetween returns the direction from one grid point to another at any
// distance. It returns "" if no direction matches.
func DirectionBetween(from, to []int) string {
	if len(from) != 3 || len(to) != 3 {
		return ""
	}
	var step [3]int
	for i := range step {
		step[i] = cmp.Compare(to[i], from[i])
	}
	for _, d := range directions {
		if d.steps == step && step != [3]int{} {
			return d.name
		}
	}
	return ""
}

// UsedDirections records the directions that already have an exit, by place.
type UsedDirections map[*exchange.Sheet]map[string]bool

// Take reserves the given direction at a place, or the next free one if it is used. ok is
// false if all directions are used.
func (w UsedDirections) Take(at *exchange.Sheet, direction string) (given string, ok bool) {
	if w[at] == nil {
		w[at] = map[string]bool{}
	}
	for _, d := range append([]string{direction}, spareOrder...) {
		if isDirection(d) && !w[at][d] {
			w[at][d] = true
			return d, true
		}
	}
	return "", false
}
