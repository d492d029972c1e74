package console

import (
	"strings"
	"testing"
)

// An outline has a ring for each part of an area and for each hole, and stays within the area's cells.
func TestOutlineFollowsAnArea(t *testing.T) {
	for name, of := range map[string]struct {
		cells []cell
		rings int
		bends int
	}{
		"one cell":      {[]cell{{2, 1}}, 1, 4},
		"a row":         {[]cell{{0, 0}, {1, 0}, {2, 0}}, 1, 4},
		"a corner":      {[]cell{{0, 0}, {0, 1}, {1, 1}}, 1, 6},
		"two apart":     {[]cell{{0, 0}, {2, 0}}, 2, 8},
		"two at a tip":  {[]cell{{0, 0}, {1, 1}}, 2, 8},
		"the other tip": {[]cell{{1, 0}, {0, 1}}, 2, 8},
		"a ring":        {[]cell{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 2}}, 2, 8},
	} {
		var a area
		for _, c := range of.cells {
			a.add(c)
		}
		path := outlineOf(a, 5)
		if rings, bends := strings.Count(path, "Z"), strings.Count(path, "Q"); rings != of.rings || bends != of.bends {
			t.Errorf("%s: %d rings with %d bends, want %d with %d: %s", name, rings, bends, of.rings, of.bends, path)
		}
	}
	var a area
	a.add(cell{1, 0})
	want := "M367 5Q379 5 379 17L379 79Q379 91 367 91L209 91Q197 91 197 79L197 17Q197 5 209 5Z"
	if got := outlineOf(a, 5); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Each region has a label of its own place, and a smaller one lies within a larger one.
func TestRegionsAreLabelled(t *testing.T) {
	realms := []mapRealm{{near{Name: "Ward"}, "political"}, {near{Name: "The Wide and Weathered Country of Marl"}, "weather"},
		{near{Name: "Elsewhere"}, "geographic"}}
	list := drawRegions(frame{World: "w"}, realms, []area{{cell{0, 0}: true}, {cell{0, 0}: true, cell{0, 1}: true}, nil})
	if len(list) != 2 || list[0].Places != 2 || list[0].Label != "The Wide and Weathered …" || list[1].Label != "" {
		t.Errorf("%+v", list)
	}
	if !strings.Contains(list[0].Outline, "Q3 3 ") || !strings.Contains(list[1].Outline, "Q7 7 ") {
		t.Errorf("outlines cover each other: %s, %s", list[0].Outline, list[1].Outline)
	}
}
