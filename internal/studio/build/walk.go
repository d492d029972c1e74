package build

import (
	"fmt"
	"math"
	"slices"

	"loregate/internal/studio/scene"
)

// The measures of a person who walks, in metres, and the bound of the search in cells.
const (
	walkCell  = 0.4
	walkUp    = 0.5
	walkDown  = 1.2
	walkTall  = 1.6
	maxWalked = 400_000
)

// spot is a place where a person can stand: a cell and a height in centimetres.
type spot struct{ x, y, z int }

// findUnreachable finds the markers that nobody can walk to from the first spawn marker.
func (m *Model) findUnreachable(s *space) (out []Finding) {
	start := slices.IndexFunc(m.Markers, func(k Marker) bool { return k.Kind == "spawn" })
	if start < 0 || len(m.Markers) < 2 {
		return nil
	}
	w := walker{Model: m, space: s, seen: map[spot]bool{}}
	w.walkFrom(m.Markers[start].At)
	for i, k := range m.Markers {
		if i == start || k.Kind == "sound" || w.reached(k.At) {
			continue
		}
		text := fmt.Sprintf("nobody can walk there from %s; open a door, add a stair, or move it",
			m.Markers[start].Name)
		if w.full {
			text = fmt.Sprintf("it is too far from %s to tell", m.Markers[start].Name)
		}
		out = append(out, Finding{"unreachable", "marker." + k.Name, "", text})
	}
	return out
}

// walker searches the places that can be reached on foot.
type walker struct {
	*Model
	space *space
	seen  map[spot]bool
	full  bool
}

func cellAt(x float64) int { return int(math.Floor(x / walkCell)) }

func (w *walker) walkFrom(at scene.Vec) {
	margin := 6.0
	low, high := w.bounds.Low, w.bounds.High
	for _, k := range w.Markers {
		for i := range 2 {
			low[i], high[i] = min(low[i], k.At[i]), max(high[i], k.At[i])
		}
	}
	first, ok := w.floorAt(cellAt(at[0]), cellAt(at[1]), at[2])
	if !ok {
		return
	}
	w.seen[first] = true
	queue := []spot{first}
	for len(queue) > 0 {
		here := queue[0]
		queue = queue[1:]
		for _, d := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			x, y := here.x+d[0], here.y+d[1]
			px, py := float64(x)*walkCell, float64(y)*walkCell
			if px < low[0]-margin || px > high[0]+margin || py < low[1]-margin || py > high[1]+margin {
				continue
			}
			next, ok := w.floorAt(x, y, float64(here.z)/100)
			if !ok || w.seen[next] {
				continue
			}
			if len(w.seen) >= maxWalked {
				w.full = true
				return
			}
			w.seen[next] = true
			queue = append(queue, next)
		}
	}
}

// floorAt returns the highest floor of a cell that a person at a height can step to, with headroom.
func (w *walker) floorAt(x, y int, z float64) (spot, bool) {
	px, py := (float64(x)+0.5)*walkCell, (float64(y)+0.5)*walkCell
	at := scene.Vec{px, py, z}
	ground := w.height(px, py)
	floors := []float64{ground}
	var over []Solid
	low, high := at.Add(scene.Vec{-0.1, -0.1, -walkDown - 0.1}), at.Add(scene.Vec{0.1, 0.1, walkUp + walkTall + 0.1})
	w.space.near(low, high, func(_ int, b *body) bool {
		if w.Things[b.thing].width > 0 { // doors open
			return true
		}
		d := at.Sub(b.Middle).Turned(-b.Turn)
		if math.Abs(d[0]) <= b.Half[0]+0.12 && math.Abs(d[1]) <= b.Half[1]+0.12 {
			over = append(over, b.Solid)
			floors = append(floors, b.Middle[2]+b.Half[2])
		}
		return true
	})
	if level, wet := w.water(px, py); wet && ground < level-1 {
		floors = floors[1:]
	}
	slices.Sort(floors)
	for _, f := range slices.Backward(floors) {
		if f > z+walkUp || f < z-walkDown || f < ground-0.05 {
			continue
		}
		free := !slices.ContainsFunc(over, func(s Solid) bool {
			return s.Middle[2]+s.Half[2] > f+0.05 && s.Middle[2]-s.Half[2] < f+walkTall &&
				s.Middle[2]+s.Half[2] > f+walkUp
		})
		if free {
			return spot{x, y, int(math.Round(f * 100))}, true
		}
	}
	return spot{}, false
}

// reached reports whether a place within a step of a point was reached.
func (w *walker) reached(at scene.Vec) bool {
	for x := cellAt(at[0]) - 1; x <= cellAt(at[0])+1; x++ {
		for y := cellAt(at[1]) - 1; y <= cellAt(at[1])+1; y++ {
			if s, ok := w.floorAt(x, y, at[2]); ok && w.seen[s] {
				return true
			}
		}
	}
	return false
}
