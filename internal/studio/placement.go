package studio

import (
	"encoding/json"
	"math"

	"loregate/internal/studio/noise"
)

// Placement is the position of an instance in metres, and its turn about the vertical in radians.
type Placement struct {
	Location [3]float64 `json:"location"`
	Turn     float64    `json:"turn"`
	Scale    float64    `json:"scale"`
}

// Strew places instances over an area. The density defines a grid with one instance per cell, moved
// at random within the cell, so that instances stand apart but not in rows. It returns the first of
// them in a random order, up to the budget, and the number left out. The same input and seed give
// the same placements.
func Strew(in PopulateIn, seed uint64, ground func(x, y float64) float64) (list []Placement, cut int) {
	area := in.Area
	if area == [4]float64{} {
		area = [4]float64{-10, -10, 10, 10}
	}
	w, d := area[2]-area[0], area[3]-area[1]
	if w <= 0 || d <= 0 {
		return nil, 0
	}
	want := int(math.Round(w * d * in.Density))
	if want == 0 {
		return nil, 0
	}
	side := math.Sqrt(w * d / float64(want))
	nx := max(int(math.Round(w/side)), 1)
	ny := (want + nx - 1) / nx
	rnd := noise.NewSource(seed, "strew")
	order := pickShuffled(nx*ny, rnd, min(want, in.Most))
	for _, cell := range order {
		own := noise.NewSource(noise.Hash(seed, uint32(cell), 1), "cell")
		x := area[0] + w*(float64(cell%nx)+own.Between(0.15, 0.85))/float64(nx)
		y := area[1] + d*(float64(cell/nx)+own.Between(0.15, 0.85))/float64(ny)
		list = append(list, Placement{Location: [3]float64{roundDecimals(x), roundDecimals(y), roundDecimals(ground(x, y))},
			Turn: roundDecimals(own.Between(0, 2*math.Pi)), Scale: roundDecimals(own.Between(0.9, 1.15))})
	}
	return list, want - len(list)
}

// roundDecimals rounds to four decimals: a tenth of a millimetre.
func roundDecimals(x float64) float64 { return math.Round(x*1e4)/1e4 + 0 }

// pickShuffled returns k different numbers below n in a random order.
func pickShuffled(n int, rnd *noise.Source, k int) []int {
	moved := map[int]int{} // a Fisher-Yates shuffle that stores only the swapped entries
	at := func(i int) int {
		if v, ok := moved[i]; ok {
			return v
		}
		return i
	}
	out := make([]int, 0, k)
	for i := range min(k, n) {
		j := i + rnd.Intn(n-i)
		out = append(out, at(j))
		moved[j] = at(i)
	}
	return out
}

// PlacementsJSON encodes the placements for an artifact.
func PlacementsJSON(in PopulateIn, list []Placement) []byte {
	b, err := json.MarshalIndent(struct {
		Asset      string      `json:"asset"`
		Level      string      `json:"level"`
		Unit       string      `json:"unit"`
		Up         string      `json:"up_axis"`
		Placements []Placement `json:"placements"`
	}{in.Asset, in.Level, "metre", "Z", list}, "", " ")
	if err != nil {
		return nil // finite numbers and strings always have a JSON form
	}
	return append(b, '\n')
}
