package builder

import (
	"fmt"
	"math"
	"sort"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// placeProps places the props that the words name, in alphabetical order.
func (y *yard) placeProps() {
	names := make([]string, 0, len(y.read.props))
	for name := range y.read.props {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if t, ok := props[name]; ok && (name != "boat" || afloat[y.read.kind]) {
			y.strewProps(name, t, y.read.props[name]-y.counts[name], y.front, true)
		}
	}
}

// afloat are the kinds of place where boats are placed at random.
var afloat = map[string]bool{"lighthouse": true, "marsh": true, "plain": true}

// strewProps places n props at free spots in an area. For props that the words name it widens a
// full area, and warns if that is not enough.
func (y *yard) strewProps(name string, t prop, n int, area [4]float64, named bool) {
	rnd := noise.NewSource(y.seed, name)
	for i := range n {
		mesh := y.variantMesh(name, t, i)
		at, ok := y.findSpot(rnd, area, t.room)
		for wider := 0; !ok && named && wider < maxWider; wider++ {
			area = widenArea(area)
			at, ok = y.findSpot(rnd, area, t.room)
		}
		if !ok {
			if named {
				y.warnings = append(y.warnings, fmt.Sprintf("there was room for %d of %d of %s", i, n, name))
			}
			return
		}
		y.addObject(name, mesh, at, rnd.Between(0, 2*math.Pi), rnd.Between(0.92, 1.1))
		if t.lamp > 0 && y.isDark() {
			y.addLamp(at.Add(scene.Vec{0, 0, t.lamp}), 90)
		}
	}
}

// placeProp places one prop at a position.
func (y *yard) placeProp(name string, at scene.Vec, turn, size float64) {
	t := props[name]
	mesh := y.variantMesh(name, t, 0)
	at[2] += y.groundHeight(at[0], at[1])
	y.addObject(name, mesh, at, turn, size)
	y.takeDisc(at[0], at[1], t.room*size)
	if t.lamp > 0 && y.isDark() {
		y.addLamp(at.Add(scene.Vec{0, 0, t.lamp * size}), 90)
	}
}

// maxWider bounds the widening of a full area for props that the words name.
const maxWider = 2

// widenArea returns the area with its width and depth enlarged by half.
func widenArea(a [4]float64) [4]float64 {
	w, d := (a[2]-a[0])/4, (a[3]-a[1])/4
	return [4]float64{a[0] - w, a[1] - d, a[2] + w, a[3] + d}
}

// variantMesh returns the mesh of the i-th prop of a kind, which has a few variants, and makes the
// mesh at its first use.
func (y *yard) variantMesh(name string, t prop, i int) string {
	mesh := fmt.Sprintf("%s kind %d", name, i%t.kind)
	if !y.meshes[mesh] {
		y.useMesh(mesh, t.make(noise.NewSource(y.seed, mesh)))
	}
	return y.id + " " + mesh
}

// plantAround places props in a ring sector behind a place.
func (y *yard) plantAround(name string, n int, from, to, spread float64) {
	rnd := noise.NewSource(y.seed, "around "+name)
	t := props[name]
	for i := range n {
		a, r := rnd.Between(math.Pi/2-spread, math.Pi/2+spread), rnd.Between(from, to)
		x, yy := math.Cos(a)*r, math.Sin(a)*r
		mesh := y.variantMesh(name, t, i)
		if y.isFree(x, yy, t.room) {
			y.takeDisc(x, yy, t.room)
			y.addObject("far "+name, mesh, scene.Vec{x, yy, y.groundHeight(x, yy) - 0.1}, rnd.Between(0, 6.28),
				rnd.Between(0.85, 1.3))
		}
	}
}
