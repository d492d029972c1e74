package scene

import "math"

// Box makes a box that stands on the origin.
func Box(w, d, h float64) *Mesh {
	return Frustum(w, d, w, d, h)
}

// Frustum makes a box whose top and base differ in size.
func Frustum(w, d, topW, topD, h float64) *Mesh {
	m := &Mesh{}
	for _, r := range [][3]float64{{w / 2, d / 2, 0}, {topW / 2, topD / 2, h}} {
		m.V = append(m.V, Vec{-r[0], -r[1], r[2]}, Vec{r[0], -r[1], r[2]}, Vec{r[0], r[1], r[2]}, Vec{-r[0], r[1], r[2]})
	}
	for _, f := range [][]int{{3, 2, 1, 0}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}} {
		m.F = append(m.F, Face{V: f})
	}
	return m
}

// Quad makes a flat rectangle at height 0, facing up.
func Quad(w, d float64) *Mesh {
	return &Mesh{V: []Vec{{-w / 2, -d / 2, 0}, {w / 2, -d / 2, 0}, {w / 2, d / 2, 0}, {-w / 2, d / 2, 0}},
		F: []Face{{V: []int{0, 1, 2, 3}}}}
}

// Gable makes a roof over a rectangle: its ridge is parallel to X, and it overhangs the walls by
// eaves. Slots: 0 the roof, 1 the gable ends.
func Gable(w, d, h, eaves float64) *Mesh {
	x, y := w/2+eaves, d/2+eaves
	drop := h * eaves / (d / 2)
	const t = 0.18 // thickness of the covering
	m := &Mesh{V: []Vec{
		{-x, -y, -drop}, {x, -y, -drop}, {x, y, -drop}, {-x, y, -drop}, {-x, 0, h}, {x, 0, h},
		{-x, -y, -drop + t}, {x, -y, -drop + t}, {x, y, -drop + t}, {-x, y, -drop + t}, {-x, 0, h + t}, {x, 0, h + t},
		{-w / 2, -d / 2, 0}, {-w / 2, d / 2, 0}, {-w / 2, 0, h}, {w / 2, -d / 2, 0}, {w / 2, d / 2, 0}, {w / 2, 0, h},
	}}
	for _, f := range [][]int{
		{6, 7, 11, 10}, {8, 9, 10, 11}, {1, 0, 4, 5}, {3, 2, 5, 4},
		{0, 1, 7, 6}, {2, 3, 9, 8}, {0, 6, 10, 4}, {3, 4, 10, 9}, {1, 5, 11, 7}, {2, 8, 11, 5},
	} {
		m.F = append(m.F, Face{V: f})
	}
	m.F = append(m.F, Face{V: []int{12, 14, 13}, Slot: 1}, Face{V: []int{15, 16, 17}, Slot: 1})
	return m
}

// Lathe rotates a profile of (radius, height), from the base up, about Z. A radius of 0 closes the
// surface in a point; other ends are closed with a flat face.
func Lathe(profile [][2]float64, segments int, smooth bool) *Mesh {
	m := &Mesh{}
	rings := make([][]int, len(profile))
	for i, p := range profile {
		n := segments
		if p[0] == 0 {
			n = 1
		}
		for k := range n {
			s, c := math.Sincos(2 * math.Pi * float64(k) / float64(segments))
			rings[i] = append(rings[i], len(m.V))
			m.V = append(m.V, Vec{p[0] * c, p[0] * s, p[1]})
		}
	}
	run := 0.0
	for i := 1; i < len(rings); i++ {
		step := math.Hypot(profile[i][0]-profile[i-1][0], profile[i][1]-profile[i-1][1])
		m.addBand(rings[i-1], rings[i], segments, run, step, max(profile[i-1][0], profile[i][0]), smooth)
		run += step
	}
	m.addCap(rings[0], true)
	m.addCap(rings[len(rings)-1], false)
	return m
}

// addBand joins two rings; either may be a single point.
func (m *Mesh) addBand(low, high []int, segments int, run, step, radius float64, smooth bool) {
	turns := max(1, math.Round(2*math.Pi*radius/TileMetres))
	v0, v1 := run/TileMetres, (run+step)/TileMetres
	for k := range segments {
		l := (k + 1) % segments
		u0, u1 := turns*float64(k)/float64(segments), turns*float64(k+1)/float64(segments)
		f := Face{Smooth: smooth}
		switch {
		case len(low) == 1 && len(high) == 1:
			return
		case len(low) == 1:
			f.V, f.UV = []int{low[0], high[l], high[k]}, [][2]float64{{(u0 + u1) / 2, v0}, {u1, v1}, {u0, v1}}
		case len(high) == 1:
			f.V, f.UV = []int{low[k], low[l], high[0]}, [][2]float64{{u0, v0}, {u1, v0}, {(u0 + u1) / 2, v1}}
		default:
			f.V, f.UV = []int{low[k], low[l], high[l], high[k]}, [][2]float64{{u0, v0}, {u1, v0}, {u1, v1}, {u0, v1}}
		}
		m.F = append(m.F, f)
	}
}

func (m *Mesh) addCap(ring []int, down bool) {
	if len(ring) < 3 {
		return
	}
	f := Face{V: make([]int, len(ring))}
	for i := range ring {
		if down {
			f.V[i] = ring[len(ring)-1-i]
		} else {
			f.V[i] = ring[i]
		}
	}
	m.F = append(m.F, f)
}

// Cylinder makes a cylinder that stands on the origin.
func Cylinder(r, h float64, segments int) *Mesh {
	return smoothSides(Lathe([][2]float64{{r, 0}, {r, h}}, segments, true))
}

// Cone makes a cone that stands on the origin.
func Cone(r, h float64, segments int) *Mesh {
	return Lathe([][2]float64{{r, 0}, {0, h}}, segments, true)
}

// smoothSides keeps the flat ends of a lathed body flat.
func smoothSides(m *Mesh) *Mesh {
	for i := range m.F {
		m.F[i].Smooth = len(m.F[i].V) <= 4 && m.F[i].UV != nil
	}
	return m
}

// Sphere makes a sphere centred at the origin.
func Sphere(r float64, segments, rings int) *Mesh {
	profile := make([][2]float64, rings+1)
	for i := range profile {
		s, c := math.Sincos(math.Pi * float64(i) / float64(rings))
		profile[i] = [2]float64{r * s, -r * c}
	}
	profile[0][0], profile[rings][0] = 0, 0
	return Lathe(profile, segments, true)
}

// Torus makes a horizontal torus centred at the origin.
func Torus(r, tube float64, segments, sides int) *Mesh {
	m := &Mesh{}
	for i := range segments {
		s, c := math.Sincos(2 * math.Pi * float64(i) / float64(segments))
		for j := range sides {
			t, u := math.Sincos(2 * math.Pi * float64(j) / float64(sides))
			m.V = append(m.V, Vec{(r + tube*u) * c, (r + tube*u) * s, tube * t})
		}
	}
	at := func(i, j int) int { return (i%segments)*sides + j%sides }
	for i := range segments {
		for j := range sides {
			uv := func(i, j int) [2]float64 {
				return [2]float64{4 * float64(i) / float64(segments), float64(j) / float64(sides)}
			}
			m.F = append(m.F, Face{V: []int{at(i, j), at(i+1, j), at(i+1, j+1), at(i, j+1)}, Smooth: true,
				UV: [][2]float64{uv(i, j), uv(i+1, j), uv(i+1, j+1), uv(i, j+1)}})
		}
	}
	return m
}

// Grid makes a surface over a square of n by n points, step apart, centred at the origin. height
// returns the height of a point.
func Grid(n int, step float64, height func(x, y int) float64) *Mesh {
	m := &Mesh{V: make([]Vec, 0, n*n), F: make([]Face, 0, (n-1)*(n-1))}
	half := float64(n-1) * step / 2
	for y := range n {
		for x := range n {
			m.V = append(m.V, Vec{float64(x)*step - half, float64(y)*step - half, height(x, y)})
		}
	}
	loops := make([]int, 4*(n-1)*(n-1)) // one allocation for all faces
	for y := range n - 1 {
		for x := range n - 1 {
			a := y*n + x
			corner := loops[:4:4]
			loops = loops[4:]
			corner[0], corner[1], corner[2], corner[3] = a, a+1, a+n+1, a+n
			m.F = append(m.F, Face{V: corner, Smooth: true})
		}
	}
	return m
}
