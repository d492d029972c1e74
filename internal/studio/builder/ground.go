package builder

import (
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// ridges are the rings of hills around a place: the distance in metres, and the fraction of the
// hills' height there.
var ridges = [][2]float64{{380, 0}, {620, 0.4}, {900, 0.75}, {1300, 0.5}, {1900, 1}, {2700, 0}}

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
