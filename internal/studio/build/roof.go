package build

import (
	"math"

	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// makeRoof makes a roof. Slots: cover, gable ends.
func makeRoof(r *spec.Roof) *Mesh {
	w, d := r.Size[0], r.Size[1]
	switch r.Form {
	case "spire":
		return makeSpire(r)
	case "hip":
		return &Mesh{Mesh: *makeHip(w, d, heightOr(r.Height, min(w, d)/2*0.8), r.Eaves)}
	case "thatch":
		return &Mesh{Mesh: *makeThatch(w, d, heightOr(r.Height, d/2*1.1), r.Eaves)}
	case "flat":
		return makeFlat(r)
	}
	return &Mesh{Mesh: *scene.Gable(w, d, heightOr(r.Height, d/2), r.Eaves)}
}

func heightOr(h, byDefault float64) float64 {
	if h == 0 {
		return byDefault
	}
	return h
}

func makeSpire(r *spec.Roof) *Mesh {
	if r.Radius > 0 {
		rad := r.Radius + r.Eaves
		m := scene.Lathe([][2]float64{{r.Radius * 0.9, 0}, {rad, -0.05}, {rad, 0.1}, {rad * 0.5,
			heightOr(r.Height, r.Radius*2.4) * 0.45}, {0, heightOr(r.Height, r.Radius*2.4)}}, 28, false)
		return &Mesh{Mesh: *m}
	}
	w, d := r.Size[0]+2*r.Eaves, r.Size[1]+2*r.Eaves
	m := scene.Box(w, d, 0.15)
	m.At(scene.Frustum(w, d, 0.05, 0.05, heightOr(r.Height, min(w, d)*1.3)), scene.Vec{0, 0, 0.15}, 0)
	return &Mesh{Mesh: *m}
}

// makeFlat makes a flat roof with a parapet.
func makeFlat(r *spec.Roof) *Mesh {
	out := &Mesh{}
	if r.Radius > 0 {
		out.At(scene.Cylinder(r.Radius+r.Eaves, 0.25, roundSides), scene.Vec{}, 0)
		if r.Crown == "battlements" {
			out.At(&makeBattlements(&battlements{Radius: r.Radius + r.Eaves, Thick: 0.35}).Mesh, scene.Vec{0, 0,
				0.25}, 1)
		}
		return out
	}
	w, d := r.Size[0]+2*r.Eaves, r.Size[1]+2*r.Eaves
	addBox(&out.Mesh, scene.Vec{-w / 2, -d / 2, 0}, scene.Vec{w / 2, d / 2, 0.25}, 0)
	for i := range 4 {
		length, away := w-0.01, d/2-0.15
		if i%2 == 1 {
			length, away = d-0.6, w/2-0.15
		}
		side := scene.Box(length, 0.3, 0.5)
		if r.Crown == "battlements" {
			side = &makeBattlements(&battlements{Length: length, Thick: 0.3}).Mesh
		}
		turn := float64(i) * math.Pi / 2
		out.Add(side, func(v scene.Vec) scene.Vec { return v.Add(scene.Vec{0, -away, 0.25}).Turned(turn) }, 1)
	}
	return out
}

// makeHip makes a roof with four slopes; its ridge is parallel to X.
func makeHip(w, d, h, eaves float64) *scene.Mesh {
	x, y := w/2+eaves, d/2+eaves
	drop := h * eaves / (d / 2)
	ridge := max(w/2-d/2, 0)
	const t = 0.2
	m := &scene.Mesh{V: []scene.Vec{{-x, -y, -drop}, {x, -y, -drop}, {x, y, -drop}, {-x, y, -drop},
		{-x, -y, t - drop}, {x, -y, t - drop}, {x, y, t - drop}, {-x, y, t - drop}, {-ridge, 0, h + t}, {ridge, 0,
			h + t}}}
	faces := [][]int{{3, 2, 1, 0}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}, {4, 5, 9, 8}, {6, 7, 8,
		9}, {5, 6, 9}, {7, 4, 8}}
	if ridge == 0 {
		m.V = m.V[:9]
		faces = append(faces[:5], []int{4, 5, 8}, []int{6, 7, 8}, []int{5, 6, 8}, []int{7, 4, 8})
	}
	for _, f := range faces {
		m.F = append(m.F, scene.Face{V: f})
	}
	return m
}

// makeThatch makes a thick roof with a rounded ridge and low eaves. Slots: straw, gable ends.
func makeThatch(w, d, h, eaves float64) *scene.Mesh {
	const thick, n = 0.42, 9
	x, y := w/2+eaves*0.7, d/2+eaves
	drop := h * eaves / (d / 2)
	var outer, inner [][2]float64
	for i := -n; i <= n; i++ {
		t := float64(i) / n
		a := math.Abs(t)
		z := (h+drop)*(1-a) - drop
		round := 0.16 * h * math.Exp(-a*a*26)
		sag := 0.07 * h * math.Sin(math.Pi*a)
		inner = append(inner, [2]float64{t * y, z})
		outer = append(outer, [2]float64{t * (y + 0.08), z + thick*(1-0.25*a) - round*0.9 + 0.1 - sag*0.4})
	}
	m := &scene.Mesh{}
	const rows = 7
	for r := range rows + 1 {
		s := float64(r)/rows*2 - 1
		hang := -0.12 * s * s * 0.6
		for _, line := range [][][2]float64{outer, inner} {
			for _, p := range line {
				m.V = append(m.V, scene.Vec{s * x, p[0], p[1] + hang})
			}
		}
	}
	k := len(outer)
	at := func(r, side, i int) int { return r*2*k + side*k + i }
	for r := range rows {
		for i := range k - 1 {
			m.F = append(m.F, scene.Face{V: []int{at(r, 0, i), at(r+1, 0, i), at(r+1, 0, i+1), at(r, 0, i+1)},
				Smooth: true},
				scene.Face{V: []int{at(r, 1, i+1), at(r+1, 1, i+1), at(r+1, 1, i), at(r, 1, i)}})
		}
		m.F = append(m.F, scene.Face{V: []int{at(r, 1, 0), at(r+1, 1, 0), at(r+1, 0, 0), at(r, 0, 0)}},
			scene.Face{V: []int{at(r+1, 1, k-1), at(r, 1, k-1), at(r, 0, k-1), at(r+1, 0, k-1)}})
	}
	for i := range k - 1 {
		m.F = append(m.F, scene.Face{V: []int{at(0, 1, i+1), at(0, 1, i), at(0, 0, i), at(0, 0, i+1)}},
			scene.Face{V: []int{at(rows, 1, i), at(rows, 1, i+1), at(rows, 0, i+1), at(rows, 0, i)}})
	}
	base := len(m.V)
	m.V = append(m.V, scene.Vec{-w / 2, -d / 2, 0}, scene.Vec{-w / 2, d / 2, 0}, scene.Vec{-w / 2, 0, h - 0.05},
		scene.Vec{w / 2, -d / 2, 0}, scene.Vec{w / 2, d / 2, 0}, scene.Vec{w / 2, 0, h - 0.05})
	m.F = append(m.F, scene.Face{V: []int{base, base + 2, base + 1}, Slot: 1}, scene.Face{V: []int{base + 3,
		base + 4, base + 5}, Slot: 1})
	return m
}

// battlements is a row or ring of merlons over a low parapet.
type battlements struct{ Length, Radius, Thick float64 }

func makeBattlements(b *battlements) *Mesh {
	const low, tall, wide = 0.55, 0.75, 0.8
	out := &Mesh{}
	length := b.Length
	if b.Radius > 0 {
		length = 2 * math.Pi * b.Radius
	}
	n := max(int(math.Round(length/(2*wide))), 1)
	piece := length / float64(n)
	for i := range n {
		u := (float64(i)+0.5)*piece - length/2
		for _, body := range [][3]float64{{piece * 1.005, 0, low}, {piece / 2, low, tall}} {
			m := scene.Box(body[0], b.Thick, body[2])
			if b.Radius == 0 {
				out.At(m, scene.Vec{u, 0, body[1]}, 0)
				continue
			}
			turn := u/b.Radius - math.Pi/2
			away := b.Radius - b.Thick/2
			out.Add(m, func(v scene.Vec) scene.Vec {
				return v.Add(scene.Vec{0, -away, body[1]}).Turned(turn + math.Pi/2)
			}, 0)
		}
		if b.Radius > 0 {
			turn := u / b.Radius
			out.Solids = append(out.Solids, Solid{Middle: scene.Vec{0, -b.Radius + b.Thick/2,
				low / 2}.Turned(turn), Half: scene.Vec{piece / 2, b.Thick / 2, low / 2}, Turn: turn})
		}
	}
	if b.Radius == 0 {
		out.Solids = []Solid{boxSolid(scene.Vec{-length / 2, -b.Thick / 2, 0}, scene.Vec{length / 2, b.Thick / 2,
			low})}
	}
	return out
}

// framing is the timber frame on the outside of a floor.
type framing struct{ Width, Depth, Height float64 }

func makeFraming(f *framing) *Mesh {
	out := &Mesh{}
	for i := range 4 {
		long, away := f.Width, f.Depth/2
		if i%2 == 1 {
			long, away = f.Depth, f.Width/2
		}
		side := &scene.Mesh{}
		addBox(side, scene.Vec{-long/2 - 0.08, -0.1, 0}, scene.Vec{long/2 + 0.08, 0.08, 0.2}, 0)
		addBox(side, scene.Vec{-long/2 - 0.08, -0.1, f.Height - 0.22}, scene.Vec{long/2 + 0.08, 0.08, f.Height}, 0)
		for _, x := range []float64{-long/2 + 0.02, long/2 - 0.02} {
			addBox(side, scene.Vec{x - 0.11, -0.09, 0.2}, scene.Vec{x + 0.11, 0.08, f.Height - 0.22}, 0)
		}
		for _, s := range []float64{-1, 1} {
			run := min(long/4, 1.3)
			x0, x1 := s*(long/2-0.1), s*(long/2-0.1-run)
			outline := [][2]float64{{x1 - 0.09, 0.2}, {x1 + 0.09, 0.2}, {x0 + 0.09, f.Height - 0.22}, {x0 - 0.09,
				f.Height - 0.22}}
			addPrism(side, outline, -0.07, 0.05, 0)
		}
		turn := float64(i) * math.Pi / 2
		out.Add(side, func(v scene.Vec) scene.Vec { return v.Add(scene.Vec{0, -away, 0}).Turned(turn) }, 0)
	}
	return out
}

func makeColumn(c *spec.Column) *Mesh {
	r := c.Radius
	if r == 0 {
		r = c.Height / 10
	}
	h := c.Height
	out := &Mesh{}
	addBox(&out.Mesh, scene.Vec{-1.4 * r, -1.4 * r, 0}, scene.Vec{1.4 * r, 1.4 * r, 0.3 * r}, 0)
	top := h - 0.8*r
	if c.Form == "broken" {
		top = h * 0.55
	}
	switch c.Form {
	case "square":
		out.At(scene.Frustum(2*r, 2*r, 1.8*r, 1.8*r, top-0.3*r), scene.Vec{0, 0, 0.3 * r}, 0)
	case "fluted":
		out.At(flutedShaft(r, top-0.6*r), scene.Vec{0, 0, 0.6 * r}, 0)
		out.At(scene.Torus(1.05*r, 0.2*r, 28, 8), scene.Vec{0, 0, 0.45 * r}, 0)
	default:
		profile := [][2]float64{{1.25 * r, 0.3 * r}, {1.3 * r, 0.45 * r}, {1.1 * r, 0.6 * r}, {r, 0.7 * r},
			{1.02 * r, top * 0.4}, {0.86 * r, top}}
		out.At(scene.Lathe(profile, 24, true), scene.Vec{}, 0)
	}
	if c.Form != "broken" {
		out.At(scene.Lathe([][2]float64{{0.86 * r, top - 0.02}, {0.95 * r, top + 0.1*r}, {1.25 * r,
			top + 0.45*r}}, 24, true), scene.Vec{}, 0)
		addBox(&out.Mesh, scene.Vec{-1.35 * r, -1.35 * r, top + 0.45*r}, scene.Vec{1.35 * r, 1.35 * r, h}, 0)
	}
	out.Solids = []Solid{boxSolid(scene.Vec{-r, -r, 0}, scene.Vec{r, r, h})}
	return out
}

// flutedShaft makes a shaft with twenty grooves.
func flutedShaft(r, h float64) *scene.Mesh {
	const n = 80
	m := &scene.Mesh{}
	for _, ring := range [][2]float64{{r, 0}, {1.01 * r, h * 0.35}, {0.85 * r, h}} {
		for i := range n {
			groove := 1 - 0.07*math.Abs(math.Sin(float64(i)*math.Pi*20/n))
			s, c := math.Sincos(2 * math.Pi * float64(i) / n)
			m.V = append(m.V, scene.Vec{ring[0] * groove * c, ring[0] * groove * s, ring[1]})
		}
	}
	for k := range 2 {
		for i := range n {
			j := (i + 1) % n
			m.F = append(m.F, scene.Face{V: []int{k*n + i, k*n + j, (k+1)*n + j, (k+1)*n + i}})
		}
	}
	return m
}

// makeVault makes a vault whose springing is at height 0.
func makeVault(v *spec.Vault) *Mesh {
	w, d := v.Size[0], v.Size[1]
	rise := v.Rise
	if rise == 0 {
		rise = w / 2
	}
	const n = 24
	height := func(x, y float64) float64 {
		barrel := func(t float64) float64 { return rise * math.Sqrt(max(1-t*t, 0)) }
		if v.Form == "cross" {
			return max(barrel(2*x/w), barrel(2*y/d))
		}
		return barrel(2 * x / w)
	}
	out := &Mesh{}
	spread := func(i int) float64 { return -math.Cos(math.Pi * float64(i) / n) }
	for side := range 2 {
		for j := range n + 1 {
			for i := range n + 1 {
				x, y := spread(i)*w/2, spread(j)*d/2
				out.V = append(out.V, scene.Vec{x, y, height(x, y) + float64(side)*v.Thick})
			}
		}
	}
	at := func(side, i, j int) int { return side*(n+1)*(n+1) + j*(n+1) + i }
	for j := range n {
		for i := range n {
			out.F = append(out.F, scene.Face{V: []int{at(0, i, j), at(0, i, j+1), at(0, i+1, j+1), at(0, i+1, j)},
				Smooth: v.Form != "cross"},
				scene.Face{V: []int{at(1, i, j), at(1, i+1, j), at(1, i+1, j+1), at(1, i, j+1)},
					Smooth: v.Form != "cross"})
		}
	}
	for i := range n {
		out.F = append(out.F, scene.Face{V: []int{at(0, i, 0), at(0, i+1, 0), at(1, i+1, 0), at(1, i, 0)}},
			scene.Face{V: []int{at(0, i+1, n), at(0, i, n), at(1, i, n), at(1, i+1, n)}},
			scene.Face{V: []int{at(0, 0, i+1), at(0, 0, i), at(1, 0, i), at(1, 0, i+1)}},
			scene.Face{V: []int{at(0, n, i), at(0, n, i+1), at(1, n, i+1), at(1, n, i)}})
	}
	return out
}

// makeBridge makes a bridge along X. Slots: stone, deck.
func makeBridge(b *spec.Bridge) *Mesh {
	out := &Mesh{}
	n := b.Arches * 12
	span := b.Length / float64(b.Arches)
	pier := min(span*0.18, 1.6)
	deck := func(x float64) float64 { return b.Height + b.Rise*(1-math.Pow(2*x/b.Length, 2)) }
	below := func(x float64) float64 {
		t := math.Mod(x+b.Length/2, span)/span*2 - 1
		half := 1 - pier/span
		if math.Abs(t) >= half {
			return -0.5
		}
		clear := min(deck(x)-0.6, (span-pier)/2*1.1)
		return deck(x) - 0.6 - clear + clear*math.Sqrt(max(1-t*t/half/half, 0))
	}
	y := b.Width / 2
	for i := range n {
		x0, x1 := -b.Length/2+b.Length*float64(i)/float64(n), -b.Length/2+b.Length*float64(i+1)/float64(n)
		lo0, lo1 := below(x0+1e-6), below(x1-1e-6)
		addPrism(&out.Mesh, [][2]float64{{x0, lo0}, {x1, lo1}, {x1, deck(x1)}, {x0, deck(x0)}}, -y, y, 0)
		for _, s := range []float64{-1, 1} {
			addPrism(&out.Mesh, [][2]float64{{x0, deck(x0)}, {x1, deck(x1)}, {x1, deck(x1) + 0.9}, {x0,
				deck(x0) + 0.9}}, s*y-0.15, s*y+0.15, 0)
			out.Solids = append(out.Solids, boxSolid(scene.Vec{x0, s*y - 0.15, deck(x0)}, scene.Vec{x1,
				s*y + 0.15, deck(x0) + 0.9}))
		}
		addPrism(&out.Mesh, [][2]float64{{x0, deck(x0)}, {x1, deck(x1)}, {x1, deck(x1) + 0.06}, {x0,
			deck(x0) + 0.06}}, -y+0.15, y-0.15, 1)
		out.Solids = append(out.Solids, boxSolid(scene.Vec{x0, -y, max(lo0, lo1)}, scene.Vec{x1, y,
			(deck(x0) + deck(x1)) / 2}))
	}
	return out
}

// makePalisade makes pointed stakes side by side. Slots: stakes, rails.
func makePalisade(p *spec.Palisade) *Mesh {
	out := &Mesh{}
	points := p.Along
	if p.Closed {
		points = append(points[:len(points):len(points)], points[0])
	}
	for k := 1; k < len(points); k++ {
		a, b := points[k-1], points[k]
		length := math.Hypot(b[0]-a[0], b[1]-a[1])
		n := min(max(int(length/0.3), 1), 2000)
		turn := math.Atan2(b[1]-a[1], b[0]-a[0])
		middle := scene.Vec{(a[0] + b[0]) / 2, (a[1] + b[1]) / 2}
		gap := 0.0
		if k == 1 {
			gap = min(p.Gap, length-0.6)
		}
		for i := range n {
			u := length*(float64(i)+0.5)/float64(n) - length/2
			if math.Abs(u) < gap/2 {
				continue
			}
			h := p.Height * (0.94 + 0.06*math.Sin(float64(i)*2.4+float64(k)))
			stake := scene.Lathe([][2]float64{{0.15, -0.4}, {0.14, h - 0.35}, {0, h}}, 7, false)
			out.At(stake, scene.Vec{u, 0.02 * math.Sin(float64(i)*1.7), 0}.Turned(turn).Add(middle), 0)
		}
		for _, half := range gapSides(length, gap) {
			for _, z := range []float64{p.Height * 0.3, p.Height * 0.75} {
				rail := &scene.Mesh{}
				addBox(rail, scene.Vec{half[0], 0.1, z}, scene.Vec{half[1], 0.2, z + 0.14}, 0)
				out.Add(rail, func(v scene.Vec) scene.Vec { return v.Turned(turn).Add(middle) }, 1)
			}
			out.Solids = append(out.Solids, Solid{Middle: scene.Vec{(half[0] + half[1]) / 2, 0,
				p.Height / 2}.Turned(turn).Add(middle),
				Half: scene.Vec{(half[1] - half[0]) / 2, 0.15, p.Height / 2}, Turn: turn})
		}
	}
	return out
}

// gapSides returns the parts of a side of a palisade that its gap leaves.
func gapSides(length, gap float64) [][2]float64 {
	if gap <= 0 {
		return [][2]float64{{-length / 2, length / 2}}
	}
	return [][2]float64{{-length / 2, -gap / 2}, {gap / 2, length / 2}}
}
