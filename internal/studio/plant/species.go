package plant

import (
	"maps"
	"math"
	"slices"
)

// species is the rule by which a tree grows. Angles are in radians.
type species struct {
	low, high float64 // range of the height, in metres
	girth     float64 // radius at the foot, as a fraction of the height
	clear     float64 // height of the lowest bough, as a fraction
	boughs    int
	forks     int        // branches of each bough
	spread    float64    // length of the longest bough, as a fraction of the height
	form      crown      // length of a bough by its height in the crown
	angle     [2]float64 // between bough and trunk: the lowest bough, the highest
	lift      float64    // bend of boughs upwards; below 0 they droop
	wobble    float64
	whorls    bool // boughs stand in rings
	bark      string
	leaf      blade
	leaves    int     // of each branch
	scatter   float64 // distance of leaves from their branch, as a fraction of its length
	hang      float64 // length of hanging strands, as a fraction of the height
}

// blade is a leaf, or a spray of needles.
type blade struct {
	long, wide float64
	colors     []string
	autumn     []string // none: evergreen
}

// crown returns the length of a bough, 0 to 1, by its height in the crown, 0 to 1.
type crown func(t float64) float64

func roundCrown(t float64) float64 { return 0.35 + 0.65*math.Sin(math.Pi*min(0.22+0.78*t, 1)) }
func coneCrown(t float64) float64  { return 1.02 - 0.94*t }
func flatCrown(t float64) float64  { return 0.55 + 0.45*t }
func evenCrown(t float64) float64  { return 0.75 - 0.35*t }

var (
	broad  = []string{"leaf", "leaf2", "leaf3"}
	golden = []string{"leaf_gold", "leaf_rust", "leaf_gold"}
)

// trees are the species of trees.
var trees = map[string]species{
	"oak": {low: 8, high: 12, girth: 0.038, clear: 0.28, boughs: 11, forks: 6, spread: 0.46, form: roundCrown,
		angle: [2]float64{1.35, 0.35}, lift: 0.25, wobble: 0.22, bark: "bark", leaves: 60, scatter: 0.46,
		leaf: blade{0.32, 0.22, broad, []string{"leaf_rust", "leaf_gold", "leaf_rust"}}},
	"alder": {low: 8, high: 13, girth: 0.022, clear: 0.25, boughs: 14, forks: 4, spread: 0.27, form: evenCrown,
		angle: [2]float64{1.2, 0.4}, lift: 0.15, wobble: 0.14, bark: "bark", leaves: 60, scatter: 0.5,
		leaf: blade{0.29, 0.22, []string{"leaf3", "leaf", "leaf3"}, golden}},
	"birch": {low: 8, high: 13, girth: 0.016, clear: 0.3, boughs: 15, forks: 4, spread: 0.24, form: roundCrown,
		angle: [2]float64{0.85, 0.3}, lift: -0.16, wobble: 0.13, bark: "birch_bark", leaves: 34, scatter: 0.34,
		leaf: blade{0.19, 0.14, []string{"leaf2", "leaf", "leaf2"}, []string{"leaf_gold"}}},
	"poplar": {low: 11, high: 16, girth: 0.017, clear: 0.08, boughs: 26, forks: 2, spread: 0.22, form: evenCrown,
		angle: [2]float64{0.4, 0.2}, lift: 0.3, wobble: 0.07, bark: "bark", leaves: 44, scatter: 0.3,
		leaf: blade{0.25, 0.18, broad, []string{"leaf_gold"}}},
	"willow": {low: 7, high: 10, girth: 0.045, clear: 0.3, boughs: 12, forks: 5, spread: 0.42, form: flatCrown,
		angle: [2]float64{1.0, 0.45}, lift: 0.05, wobble: 0.2, bark: "bark", leaves: 12, scatter: 0.2, hang: 0.42,
		leaf: blade{0.34, 0.07, []string{"leaf2", "leaf", "leaf2"}, []string{"leaf_gold"}}},
	"apple": {low: 4, high: 5.5, girth: 0.04, clear: 0.28, boughs: 9, forks: 5, spread: 0.5, form: roundCrown,
		angle: [2]float64{1.25, 0.5}, lift: 0.12, wobble: 0.28, bark: "bark", leaves: 40, scatter: 0.4,
		leaf: blade{0.18, 0.12, []string{"leaf", "leaf2"}, golden}},
	"spruce": {low: 9, high: 16, girth: 0.018, clear: 0.06, boughs: 96, forks: 0, spread: 0.26, form: coneCrown,
		angle: [2]float64{1.75, 1.0}, lift: -0.1, wobble: 0.05, whorls: true, bark: "bark", leaves: 44,
		leaf: blade{0.46, 0.17, []string{"needle", "needle2", "needle"}, nil}},
	"pine": {low: 9, high: 15, girth: 0.022, clear: 0.55, boughs: 18, forks: 4, spread: 0.24, form: roundCrown,
		angle: [2]float64{1.3, 0.55}, lift: 0.28, wobble: 0.16, bark: "pine_bark", leaves: 46, scatter: 0.26,
		leaf: blade{0.34, 0.05, []string{"needle2", "needle"}, nil}},
	"snag": {low: 6, high: 10, girth: 0.034, clear: 0.25, boughs: 9, forks: 4, spread: 0.34, form: roundCrown,
		angle: [2]float64{1.2, 0.4}, lift: 0.1, wobble: 0.3, bark: "dead_bark"},
}

// small are the kinds of plants that grow without a trunk, and the range of their heights in metres.
var small = map[string]struct {
	low, high float64
	grow      func(g *grower, height float64)
}{
	"bush":    {0.9, 1.6, (*grower).growBush},
	"fern":    {0.6, 1, (*grower).growFern},
	"reed":    {1.3, 2, (*grower).growReed},
	"grass":   {0.25, 0.45, (*grower).growGrass},
	"flowers": {0.3, 0.5, (*grower).growFlowers},
	"heather": {0.3, 0.5, (*grower).growHeather},
	"palm":    {6, 10, (*grower).growPalm},
}

// Kinds returns the kinds of plants, sorted.
func Kinds() []string {
	return slices.Sorted(func(yield func(string) bool) {
		maps.Keys(trees)(yield)
		maps.Keys(small)(yield)
	})
}
