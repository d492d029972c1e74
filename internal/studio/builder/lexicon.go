package builder

import (
	"regexp"
	"sort"
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

// kindWords maps the kinds of place to the words that indicate them.
var kindWords = map[string][]string{
	"inn":        {"inn", "tavern", "taproom", "alehouse", "pub", "bar", "beer", "hostel"},
	"lighthouse": {"lighthouse", "beacon", "light"},
	"quay":       {"quay", "harbour", "harbor", "wharf", "dock", "pier", "landing", "ferry", "jetty", "boathouse"},
	"pans":       {"pans", "saltern", "saltworks", "rakers"},
	"wood":       {"wood", "forest", "grove", "trees", "thicket", "alder", "copse"},
	"square":     {"square", "market", "plaza", "forum", "marketplace"},
	"church":     {"church", "chapel", "temple", "nave", "shrine", "abbey"},
	"marsh":      {"marsh", "swamp", "bog", "fen", "reeds"},
	"tower":      {"tower", "keep", "turret", "watchtower"},
	"hall":       {"hall", "manor", "palace", "registry", "mansion", "school"},
	"gate":       {"gate", "gatehouse", "barbican"},
	"house":      {"cottage", "house", "cottages", "rows", "court", "shop", "dispensary", "smithy", "forge"},
	"plain":      {"plain", "field", "moor", "heath", "beach", "hill", "meadow", "head", "cliff"},
}

// kindByTerrain maps a card's terrain to a kind of place, used if the words indicate none.
var kindByTerrain = map[string]string{"open-plain": "plain", "dense-forest": "wood", "hilltop": "plain",
	"swamp": "marsh", "water": "quay"}

// propWords maps words, in the singular, to the props that they name.
var propWords = map[string]string{
	"anchor": "anchor", "barrel": "barrel", "cask": "barrel", "tankard": "barrel", "crate": "crate", "box": "crate",
	"bale": "crate", "boat": "boat", "ferry": "boat",
	"ship": "boat", "lamp": "lamp", "lantern": "lamp", "light": "lamp", "bench": "bench", "settle": "bench",
	"table": "table", "stool": "bench",
	"stump": "stump", "tree": "tree", "poplar": "conifer", "pine": "conifer", "alder": "tree", "rock": "rock",
	"stone": "rock", "boulder": "rock",
	"bell": "bell", "well": "well", "cart": "cart", "wagon": "cart", "stall": "stall", "fence": "fence", "post": "post",
	"bollard": "post",
	"chimney": "chimney", "flag": "flag", "banner": "flag", "kettle": "kettle", "bucket": "bucket", "pile": "crate",
	"grave": "grave", "bush": "bush",
	"reed": "reed", "net": "crate", "statue": "statue", "fountain": "well", "drain": "drain", "clock": "clock",
	"stair": "steps", "step": "steps",
}

// maxCount is the largest number of one prop in a scene.
const maxCount = 60

var numberWords = map[string]int{
	"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11,
	"twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "eighteen": 18, "twenty": 20, "thirty": 30,
	"forty": 40, "fifty": 50,
	"sixty": 60, "hundred": 60, "several": 4, "some": 3, "many": 12, "few": 3, "dozen": 12, "couple": 2, "pair": 2,
}

var wordForm = regexp.MustCompile(`[\p{L}]+|[0-9]+`)

// reading is a parsed brief.
type reading struct {
	kind  string
	style string
	props map[string]int
	has   map[string]bool // all words of the brief
}

// parseBrief parses a brief. The caller's words are read last, so that their counts replace earlier
// ones.
func parseBrief(b Brief) reading {
	r := reading{props: map[string]int{}, has: map[string]bool{}}
	score := map[string]int{}
	for i, text := range []string{b.Text, b.Title, b.Words} {
		words := wordForm.FindAllString(strings.ToLower(text), 4000)
		weight := []int{1, 8, 12}[i]
		for at, w := range words {
			r.has[w] = true
			for kind, list := range kindWords {
				for n, k := range list {
					if w == k {
						score[kind] += weight * max(4-n, 1)
					}
				}
			}
			if propName := propWords[toSingular(w)]; propName != "" {
				r.props[propName] = max(countBefore(words[:at], w), r.props[propName]*boolToInt(i < 2))
			}
		}
	}
	r.kind = bestKind(score)
	if r.kind == "" {
		r.kind = kindByTerrain[b.Terrain]
	}
	if r.kind == "" {
		r.kind = "house"
	}
	r.style = chooseStyle(b, r.has)
	return r
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bestKind returns the kind with the highest score; among equal ones the first by name.
func bestKind(score map[string]int) string {
	names := make([]string, 0, len(score))
	for k := range score {
		names = append(names, k)
	}
	sort.Strings(names)
	top := ""
	for _, k := range names {
		if top == "" || score[k] > score[top] {
			top = k
		}
	}
	return top
}

// countBefore returns the number within the three words before a word; without one, 1, or 4 for a
// plural.
func countBefore(before []string, word string) int {
	for i := len(before) - 1; i >= 0 && i >= len(before)-3; i-- {
		if n, err := strconv.Atoi(before[i]); err == nil && n > 0 && n <= maxCount { // greater numbers are years and the like
			return n
		}
		if n := numberWords[before[i]]; n > 0 {
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

// chooseStyle returns the light: the caller's choice, else the one that the words name, else day.
func chooseStyle(b Brief, has map[string]bool) string {
	if b.Style != "" {
		return b.Style
	}
	for _, s := range []struct {
		name  string
		words []string
	}{
		{"night", []string{"night", "midnight", "moonlight"}},
		{"dusk", []string{"dusk", "evening", "sunset", "lamplight", "twilight"}},
		{"overcast", []string{"overcast", "fog", "mist", "rain", "grey"}},
	} {
		for _, w := range s.words {
			if has[w] && strings.Contains(strings.ToLower(b.Words+" "+b.Text), w) {
				return s.name
			}
		}
	}
	return "day"
}

// features lists the props and their counts, for people.
func (r reading) features() []string {
	list := []string{}
	for propName, n := range r.props {
		list = append(list, strconv.Itoa(n)+" "+propName)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i][strings.Index(list[i], " "):] < list[j][strings.Index(list[j], " "):]
	})
	return list
}
