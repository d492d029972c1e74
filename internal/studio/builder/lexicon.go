package builder

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Brief describes the place to build.
type Brief struct {
	Title   string // of the card; "" without one
	Text    string // of the card
	Terrain string // of the card: open-plain, dense-forest, …
	Words   string // the caller's words, which have more weight
	Style   string // day, dusk, night, overcast; "": taken from the words
	Seed    uint64
}

// maxCount is the largest number of one prop in a scene.
const maxCount = 60

var wordForm = regexp.MustCompile(`[\p{L}]+|[0-9]+`)

// reading is a parsed brief.
type reading struct {
	kind   string
	style  string
	things map[string]int  // with their numbers
	has    map[string]bool // all words of the brief
}

// parseBrief parses a brief. The caller's words are read last, so that their counts replace earlier
// ones.
func (lib *library) parseBrief(b Brief) reading {
	r := reading{things: map[string]int{}, has: map[string]bool{}}
	score := map[string]int{}
	for i, text := range []string{b.Text, b.Title, b.Words} {
		words := wordForm.FindAllString(strings.ToLower(text), 4000)
		weight := []int{1, 8, 12}[i]
		for at, w := range words {
			r.has[w] = true
			for kind, p := range lib.Places {
				if n := slices.Index(p.Words, w); n >= 0 {
					score[kind] += weight * max(4-n, 1)
				}
			}
			if thing := lib.thingByWord[toSingular(w)]; thing != "" {
				n := lib.countBefore(words[:at], w)
				if i < 2 {
					n = max(n, r.things[thing])
				}
				r.things[thing] = n
			}
		}
	}
	r.kind = bestKind(score)
	if r.kind == "" {
		r.kind = lib.kindByTerrain(b.Terrain)
	}
	r.style = lib.chooseStyle(b, r.has)
	return r
}

// kindByTerrain returns the kind of place for a terrain, or a house if no recipe names the terrain.
func (lib *library) kindByTerrain(terrain string) string {
	for kind, p := range lib.Places {
		if slices.Contains(p.Terrain, terrain) {
			return kind
		}
	}
	return "house"
}

// bestKind returns the kind with the highest score; among equal ones the first by name.
func bestKind(score map[string]int) string {
	top := ""
	for _, k := range slices.Sorted(maps.Keys(score)) {
		if top == "" || score[k] > score[top] {
			top = k
		}
	}
	return top
}

// countBefore returns the number within the three words before a word; without one, 1, or 4 for a
// plural.
func (lib *library) countBefore(before []string, word string) int {
	for i := len(before) - 1; i >= 0 && i >= len(before)-3; i-- {
		if n, err := strconv.Atoi(before[i]); err == nil && n > 0 && n <= maxCount { // greater numbers are years and the like
			return n
		}
		if n := lib.Numbers[before[i]]; n > 0 {
			return n
		}
	}
	if toSingular(word) != word {
		return 4
	}
	return 1
}

func toSingular(w string) string {
	switch {
	case strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}

// chooseStyle returns the light: the caller's choice, else the first one that the words name,
// else the last.
func (lib *library) chooseStyle(b Brief, has map[string]bool) string {
	if b.Style != "" {
		return b.Style
	}
	for _, s := range lib.Styles {
		for _, w := range s.Words {
			if has[w] && strings.Contains(strings.ToLower(b.Words+" "+b.Text), w) {
				return s.Name
			}
		}
	}
	return lib.Styles[len(lib.Styles)-1].Name
}

// features lists the things and their counts by name, for people.
func (r reading) features() []string {
	list := []string{}
	for _, name := range slices.Sorted(maps.Keys(r.things)) {
		list = append(list, strconv.Itoa(r.things[name])+" "+name)
	}
	return list
}
