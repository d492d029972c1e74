package builder

import (
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// land is the ground: hills that are flat around the origin.
type land struct {
	Of    string
	Size  float64 // of the square with hills
	Hills float64 // amplitude
	Flat  float64 // radius
}

func (y *yard) addLand(l *land) {
	size, amplitude, flat := l.Size, l.Hills, l.Flat
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
	}), l.Of, scene.Vec{}, 0, 0)
	y.addObject("land", y.useMesh("land", p), scene.Vec{}, 0, 1)
	far := &piece{}
	far.put(scene.Quad(9000, 9000), l.Of, scene.Vec{}, 0, 0)
	y.addObject("far land", y.useMesh("far land", far), scene.Vec{0, 0, -amplitude/2 - 0.15}, 0, 1)
	y.addHills(-amplitude/2 - 1)
}

// ridges are the rings of hills around a place: the distance in metres, and the fraction of the
// hills' height there.
var ridges = [][2]float64{{380, 0}, {620, 0.4}, {900, 0.75}, {1300, 0.5}, {1900, 1}, {2700, 0}}

// addHills adds hills at the horizon, so that the land does not end in a flat edge.
func (y *yard) addHills(foot float64) {
	p := &piece{}
	p.put(Horizon(y.seed, foot), "far", scene.Vec{}, 0, 0)
	y.addObject("hills", y.useMesh("hills", p), scene.Vec{}, 0, 1)
}

// Horizon makes rings of hills around a place. foot is the height of their lowest points.
func Horizon(seed uint64, foot float64) *scene.Mesh {
	const around, tallest = 90, 150.0
	ridge := noise.NewFractal(seed+9, 14, 4)
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
	return m
}

// headland is a round cliff above the sea.
type headland struct{ Of, Below string }

// cliffHeight returns the height of a headland: 0 on top, -14 in the sea.
func cliffHeight(px, py float64) float64 {
	edge := 13 + 2.5*math.Sin(math.Atan2(py, px)*5+1) + 1.4*math.Sin(math.Atan2(py, px)*11)
	r := math.Hypot(px*0.85, py)
	if r > edge+30 {
		return -14
	}
	return math.Min(0, -14*math.Pow(math.Min(math.Max((r-edge)/9, 0), 1), 0.7))
}

func (y *yard) addHeadland(l *headland) {
	y.height = cliffHeight
	const n, size = 121, 84.0
	step := size / (n - 1)
	jag := noise.NewFractal(y.seed, 16, 4)
	m := scene.Grid(n, step, func(i, j int) float64 {
		h := cliffHeight(float64(i)*step-size/2, float64(j)*step-size/2)
		if h < -0.05 {
			h += (float64(jag.At(int64(i)*500, int64(j)*500))/noise.One - 0.5) * 5 * math.Min(1, -h/3)
		}
		return h
	})
	for i := range m.F {
		low := 0.0
		for _, v := range m.F[i].V {
			low = math.Min(low, m.V[v][2])
		}
		if low < -0.5 {
			m.F[i].Slot, m.F[i].Smooth = 1, false
		}
	}
	p := &piece{m: *m, mats: []string{l.Of, l.Below}}
	y.addObject("land", y.useMesh("land", p), scene.Vec{}, 0, 1)
}
