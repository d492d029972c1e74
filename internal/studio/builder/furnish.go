package builder

import (
	"fmt"
	"math"
	"sort"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// furnish puts the things that the words name into the place, those first by name.
func (y *yard) furnish() {
	names := make([]string, 0, len(y.read.things))
	for name := range y.read.things {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if t, ok := things[name]; ok && (name != "boat" || afloat[y.read.kind]) {
			y.strew(name, t, y.read.things[name]-y.counts[name], y.front, true)
		}
	}
}

// afloat are the kinds of place where boats lie about.
var afloat = map[string]bool{"lighthouse": true, "marsh": true, "plain": true}

// strew puts things where there is room.
func (y *yard) strew(name string, t thing, n int, area [4]float64, named bool) {
	rnd := noise.NewSource(y.seed, name)
	for i := range n {
		mesh := y.variant(name, t, i)
		at, ok := y.spot(rnd, area, t.room)
		for wider := 0; !ok && named && wider < maxWider; wider++ {
			area = widened(area)
			at, ok = y.spot(rnd, area, t.room)
		}
		if !ok {
			if named {
				y.warnings = append(y.warnings, fmt.Sprintf("there was room for %d of %d of %s", i, n, name))
			}
			return
		}
		y.stand(name, mesh, at, rnd.Between(0, 2*math.Pi), rnd.Between(0.92, 1.1))
		if t.lamp > 0 && y.dark() {
			y.lamp(at.Add(scene.Vec{0, 0, t.lamp}), 90)
		}
	}
}

// place puts one thing where it belongs.
func (y *yard) place(name string, at scene.Vec, turn, size float64) {
	t := things[name]
	mesh := y.variant(name, t, 0)
	at[2] += y.ground(at[0], at[1])
	y.stand(name, mesh, at, turn, size)
	y.take(at[0], at[1], t.room*size)
	if t.lamp > 0 && y.dark() {
		y.lamp(at.Add(scene.Vec{0, 0, t.lamp * size}), 90)
	}
}

// maxWider is how often an area that is full is widened for what was asked for by name.
const maxWider = 2

// widened is an area with half its width and depth more.
func widened(a [4]float64) [4]float64 {
	w, d := (a[2]-a[0])/4, (a[3]-a[1])/4
	return [4]float64{a[0] - w, a[1] - d, a[2] + w, a[3] + d}
}

// variant is the mesh of the i-th of many things, which come in a few kinds; it is made at
// its first use.
func (y *yard) variant(name string, t thing, i int) string {
	mesh := fmt.Sprintf("%s kind %d", name, i%t.kind)
	if !y.meshes[mesh] {
		y.mesh(mesh, t.make(noise.NewSource(y.seed, mesh)))
	}
	return y.id + " " + mesh
}

// around plants a ring of trees behind a place.
func (y *yard) around(name string, n int, from, to, spread float64) {
	rnd := noise.NewSource(y.seed, "around "+name)
	t := things[name]
	for i := range n {
		a, r := rnd.Between(math.Pi/2-spread, math.Pi/2+spread), rnd.Between(from, to)
		x, yy := math.Cos(a)*r, math.Sin(a)*r
		mesh := y.variant(name, t, i)
		if y.free(x, yy, t.room) {
			y.take(x, yy, t.room)
			y.stand("far "+name, mesh, scene.Vec{x, yy, y.ground(x, yy) - 0.1}, rnd.Between(0, 6.28), rnd.Between(0.85, 1.3))
		}
	}
}
