package exchange

import (
	"cmp"
	"strings"
)

// directions are the ways out of a place, in the order in which one is chosen where a
// format gives none, each with its step east, north and up. The last four have none.
var directions = []struct {
	name  string
	steps [3]int
}{
	{"north", [3]int{0, 1, 0}}, {"south", [3]int{0, -1, 0}}, {"east", [3]int{1, 0, 0}}, {"west", [3]int{-1, 0, 0}},
	{"northeast", [3]int{1, 1, 0}}, {"northwest", [3]int{-1, 1, 0}}, {"southeast", [3]int{1, -1, 0}}, {"southwest", [3]int{-1, -1, 0}},
	{"up", [3]int{0, 0, 1}}, {"down", [3]int{0, 0, -1}}, {"in", [3]int{}}, {"out", [3]int{}},
}

// spareOrder is the order in which a direction is given to a way that has none.
var spareOrder = []string{"in", "out", "up", "down", "northeast", "northwest", "southeast", "southwest", "north", "south", "east", "west"}

func isDirection(word string) bool {
	for _, d := range directions {
		if d.name == word {
			return true
		}
	}
	return false
}

// saidDirection finds the one direction that a text names; "" where it names none or
// several.
func saidDirection(text string) (found string) {
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

// heading is the direction between two points on a grid, whatever their distance; "" for
// none that is named.
func heading(from, to []int) string {
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

// ways are the directions that are used at places.
type ways map[*sheet]map[string]bool

// take gives a way its direction where that is free, and else another that is.
func (w ways) take(at *sheet, direction string) (given string, ok bool) {
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
