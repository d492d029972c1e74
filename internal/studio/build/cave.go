package build

import (
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// The grid in which a cave is carved: the finest step in metres, and the greatest number of points.
const (
	carveStep  = 0.35
	carvePoint = 500_000
)

// carver holds the grid of a cave.
type carver struct {
	cave  *spec.Cave
	low   scene.Vec
	step  float64
	n     [3]int
	dist  []float32 // signed distance from the rock's surface at each point; below 0 in the open
	rough [3]*noise.Fractal
}

// makeCave carves the cave and returns the surface of the rock, which faces inwards. It is the surface
// net of the signed distance (Gibson, 1998). Slots: rock, floor.
func makeCave(c *spec.Cave) *Mesh {
	k := newCarver(c)
	k.fill()
	return k.makeNet()
}

func newCarver(c *spec.Cave) *carver {
	k := &carver{cave: c}
	for i := range k.rough {
		k.rough[i] = noise.NewFractal(uint64(i)+3, 8, 3)
	}
	var box scene.Box3
	grow := func(x, y, z, r float64) {
		r += c.Rough + 1
		box.Grow(scene.Vec{x - r, y - r, z - 1})
		box.Grow(scene.Vec{x + r, y + r, z + r*1.6})
	}
	for _, t := range c.Tunnels {
		for _, p := range t.Path {
			grow(p[0], p[1], p[2], t.Radius)
		}
	}
	for _, r := range c.Chambers {
		grow(r[0], r[1], r[2], r[3])
	}
	size := box.High.Sub(box.Low)
	k.low = box.Low
	k.step = max(carveStep, math.Cbrt(size[0]*size[1]*size[2]/carvePoint))
	for i := range k.n {
		k.n[i] = int(size[i]/k.step) + 2
	}
	return k
}

// at returns a point of the grid.
func (k *carver) at(x, y, z int) scene.Vec {
	return k.low.Add(scene.Vec{float64(x), float64(y), float64(z)}.Mul(k.step))
}

func (k *carver) index(x, y, z int) int { return (z*k.n[1]+y)*k.n[0] + x }

func (k *carver) fill() {
	k.dist = make([]float32, k.n[0]*k.n[1]*k.n[2])
	for z := range k.n[2] {
		for y := range k.n[1] {
			for x := range k.n[0] {
				k.dist[k.index(x, y, z)] = float32(k.distance(k.at(x, y, z)))
			}
		}
	}
}

// distance returns the distance of a point from the rock: below 0 where it is carved away.
func (k *carver) distance(v scene.Vec) float64 {
	uneven := k.unevenness(v)
	best := math.Inf(1)
	for _, t := range k.cave.Tunnels {
		for i := 1; i < len(t.Path); i++ {
			best = min(best, carveDistance(v, scene.Vec(t.Path[i-1]), scene.Vec(t.Path[i]), t.Radius, uneven))
		}
	}
	for _, r := range k.cave.Chambers {
		floor := scene.Vec{r[0], r[1], r[2]}
		best = min(best, carveDistance(v, floor, floor, r[3], uneven))
	}
	return best
}

// carveDistance is the distance from a tunnel between two points of its floor.
func carveDistance(v, a, b scene.Vec, radius, uneven float64) float64 {
	d := b.Sub(a)
	t := 0.0
	if l := dotOf(d, d); l > 0 {
		t = min(max(dotOf(v.Sub(a), d)/l, 0), 1)
	}
	foot := a.Add(d.Mul(t))
	out := v.Sub(foot)
	out[2] = (out[2] - radius*0.35) * 0.85
	return max(out.Len()-radius+uneven, foot[2]-v[2]+0.08*uneven)
}

// unevenness returns smooth noise of the rock, from -Rough to Rough.
func (k *carver) unevenness(v scene.Vec) float64 {
	if k.cave.Rough == 0 {
		return 0
	}
	const scale = noise.One / 40.0
	sum := int64(0)
	for i, f := range k.rough {
		u, w := int64(v[i]*scale)+noise.One*8, int64(v[(i+1)%3]*scale)+noise.One*8
		sum += f.At(u, w)
	}
	return (float64(sum)/(3*noise.One) - 0.5) * 4 * k.cave.Rough
}

// makeNet makes a vertex in each cell of the grid that the surface passes, and a face across each edge
// that it crosses.
func (k *carver) makeNet() *Mesh {
	out := &Mesh{}
	cells := make(map[int]int)
	for z := range k.n[2] - 1 {
		for y := range k.n[1] - 1 {
			for x := range k.n[0] - 1 {
				if v, ok := k.crossing(x, y, z); ok {
					cells[k.index(x, y, z)] = len(out.V)
					out.V = append(out.V, v)
				}
			}
		}
	}
	for z := 1; z < k.n[2]-1; z++ {
		for y := 1; y < k.n[1]-1; y++ {
			for x := 1; x < k.n[0]-1; x++ {
				here := k.dist[k.index(x, y, z)] < 0
				k.addFace(out, cells, here, k.dist[k.index(x+1, y, z)] < 0, [4]int{k.index(x, y-1, z-1),
					k.index(x, y, z-1), k.index(x, y, z), k.index(x, y-1, z)})
				k.addFace(out, cells, here, k.dist[k.index(x, y+1, z)] < 0, [4]int{k.index(x-1, y, z-1),
					k.index(x-1, y, z), k.index(x, y, z), k.index(x, y, z-1)})
				k.addFace(out, cells, here, k.dist[k.index(x, y, z+1)] < 0, [4]int{k.index(x-1, y-1, z),
					k.index(x, y-1, z), k.index(x, y, z), k.index(x-1, y, z)})
			}
		}
	}
	return out
}

// crossing returns the middle of the points where the surface crosses the edges of a cell.
func (k *carver) crossing(x, y, z int) (v scene.Vec, ok bool) {
	n := 0
	for i := range 8 {
		a := [3]int{x + i&1, y + i>>1&1, z + i>>2&1}
		da := float64(k.dist[k.index(a[0], a[1], a[2])])
		for axis := range 3 {
			if i>>axis&1 == 1 {
				continue
			}
			b := a
			b[axis]++
			db := float64(k.dist[k.index(b[0], b[1], b[2])])
			if da < 0 == (db < 0) {
				continue
			}
			from, to := k.at(a[0], a[1], a[2]), k.at(b[0], b[1], b[2])
			v = v.Add(from.Add(to.Sub(from).Mul(da / (da - db))))
			n++
		}
	}
	if n == 0 {
		return v, false
	}
	return v.Mul(1 / float64(n)), true
}

// addFace adds the face across an edge of the grid, turned towards the open side, unless it closes an
// open end of a tunnel.
func (k *carver) addFace(out *Mesh, cells map[int]int, here, there bool, around [4]int) {
	if here == there {
		return
	}
	f := scene.Face{V: make([]int, 4), Smooth: true}
	var middle scene.Vec
	for i, c := range around {
		to := i
		if here {
			to = 3 - i
		}
		f.V[to] = cells[c]
		middle = middle.Add(out.V[cells[c]].Mul(0.25))
	}
	if k.isOpenEnd(middle) {
		return
	}
	if n, ok := unitOf(out.Normal(f)); ok && n[2] > 0.8 {
		f.Slot = 1
	}
	out.F = append(out.F, f)
}

// isOpenEnd reports whether a point is beyond an open end of a tunnel.
func (k *carver) isOpenEnd(v scene.Vec) bool {
	for _, t := range k.cave.Tunnels {
		last := len(t.Path) - 1
		for _, end := range []struct {
			open   bool
			at, in [3]float64
		}{{t.Open == "start" || t.Open == "both", t.Path[0], t.Path[1]},
			{t.Open == "end" || t.Open == "both", t.Path[last], t.Path[last-1]}} {
			out := scene.Vec(end.at).Sub(scene.Vec(end.in))
			out[2] = 0
			d := v.Sub(scene.Vec(end.at))
			if end.open && dotOf(d, out) > 0 && d.Len() < t.Radius*2+k.cave.Rough {
				return true
			}
		}
	}
	return false
}
