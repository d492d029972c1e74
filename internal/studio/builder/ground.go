package builder

import (
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// addLand adds the ground: hills of an amplitude, flat within a radius around the origin.
func (y *yard) addLand(mat string, size, amplitude, flat float64) {
	hills := noise.NewFractal(y.seed+5, 5, 4)
	y.height = func(px, py float64) float64 {
		u, v := int64((px/size+0.5)*60000)+noise.One, int64((py/size+0.5)*60000)+noise.One
		h := (float64(hills.At(u, v))/noise.One - 0.45) * amplitude
		r := math.Hypot(px, py)
		return h * math.Min(math.Max((r-flat)/(flat+8), 0), 1)
	}
	const n = 97
	step := size / (n - 1)
	p := &piece{}
	p.put(scene.Grid(n, step, func(i, j int) float64 {
		return y.height(float64(i)*step-size/2, float64(j)*step-size/2)
	}), mat, scene.Vec{}, 0)
	y.addObject("land", y.useMesh("land", p), scene.Vec{}, 0, 1)
	far := &piece{}
	far.put(scene.Quad(9000, 9000), mat, scene.Vec{}, 0)
	y.addObject("far land", y.useMesh("far land", far), scene.Vec{0, 0, -amplitude/2 - 0.15}, 0, 1)
	y.addHills(-amplitude/2 - 1)
}

// ridges are the rings of hills around a place: the distance in metres, and the fraction of the
// hills' height there.
var ridges = [][2]float64{{380, 0}, {620, 0.4}, {900, 0.75}, {1300, 0.5}, {1900, 1}, {2700, 0}}

// addHills adds hills at the horizon, so that the land does not end in a flat edge.
func (y *yard) addHills(foot float64) {
	const around, tallest = 90, 150.0
	ridge := noise.NewFractal(y.seed+9, 14, 4)
	m := &scene.Mesh{}
	for _, r := range ridges {
		for i := range around {
			s, c := math.Sincos(float64(i) * 2 * math.Pi / around)
			px, py := r[0]*c, r[0]*s
			u, v := int64((px/6000+0.5)*60000)+noise.One, int64((py/6000+0.5)*60000)+noise.One
			h := math.Max(float64(ridge.At(u, v))/noise.One-0.3, 0) * tallest
			m.V = append(m.V, scene.Vec{px, py, foot + h*r[1]})
		}
	}
	for k := range len(ridges) - 1 {
		for i := range around {
			a, b := k*around+i, k*around+(i+1)%around
			m.F = append(m.F, scene.Face{V: []int{a, a + around, b + around, b}, Smooth: true})
		}
	}
	p := &piece{}
	p.put(m, "far", scene.Vec{}, 0)
	y.addObject("hills", y.useMesh("hills", p), scene.Vec{}, 0, 1)
}

// addSea adds water up to the horizon at a height.
func (y *yard) addSea(mat string, level float64) {
	p := &piece{}
	p.put(scene.Quad(9000, 9000), mat, scene.Vec{}, 0)
	y.addObject("sea", y.useMesh("sea", p), scene.Vec{0, 0, level}, 0, 1)
}

// addPaving adds a flat floor of a material.
func (y *yard) addPaving(name, mat string, area [4]float64, z float64) {
	p := &piece{}
	p.put(scene.Box(area[2]-area[0], area[3]-area[1], 0.3), mat,
		scene.Vec{(area[0] + area[2]) / 2, (area[1] + area[3]) / 2, z - 0.3}, 0)
	y.addObject(name, y.useMesh(name, p), scene.Vec{}, 0, 1)
}
