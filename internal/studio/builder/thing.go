package builder

import (
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// prop is a kind of object that furnishes a place: make makes a variant, room is the radius of the
// ground that it occupies, and lamp is the height of its lamp, 0 without one.
type prop struct {
	make func(rnd *noise.Source) *piece
	room float64
	kind int // number of variants
	lamp float64
}

// props are all props by name.
var props = map[string]prop{
	"barrel": {func(*noise.Source) *piece { return newBarrel() }, 0.55, 1, 0},
	"crate":  {func(r *noise.Source) *piece { return newCrate(r.Between(0.6, 1)) }, 0.8, 2, 0},
	"boat":   {func(*noise.Source) *piece { return newBoat() }, 2.6, 1, 0},
	"lamp":   {func(*noise.Source) *piece { return newLampPost() }, 0.5, 1, 3.05},
	"bench":  {func(*noise.Source) *piece { return newBench() }, 1, 1, 0},
	"table":  {func(*noise.Source) *piece { return newTable() }, 1.3, 1, 0},
	"stump":  {newStump, 0.6, 3, 0}, "tree": {newTree, 1.8, 3, 0}, "conifer": {newConifer, 1.6, 3, 0},
	"rock": {newRock, 1, 3, 0}, "bush": {newBush, 0.9, 2, 0},
	"bell": {func(*noise.Source) *piece { return newBell() }, 1.4, 1, 0},
	"well": {func(*noise.Source) *piece { return newWell() }, 1.6, 1, 0},
	"cart": {func(*noise.Source) *piece { return newCart() }, 1.9, 1, 0}, "stall": {newStall, 2.1, 2, 0},
	"post":   {func(*noise.Source) *piece { return newPost() }, 0.5, 1, 0},
	"flag":   {func(*noise.Source) *piece { return newFlag() }, 0.5, 1, 0},
	"anchor": {func(*noise.Source) *piece { return newAnchor() }, 1.8, 1, 0},
	"bucket": {func(*noise.Source) *piece { return newBucket() }, 0.4, 1, 0},
	"kettle": {func(*noise.Source) *piece { return newKettle() }, 0.7, 1, 0},
	"grave":  {func(r *noise.Source) *piece { return newGrave(r) }, 0.8, 2, 0},
	"fence":  {func(*noise.Source) *piece { return newFence() }, 1.4, 1, 0},
	"reed":   {newReeds, 0.6, 3, 0}, "statue": {func(*noise.Source) *piece { return newStatue() }, 1.2, 1, 0},
}

func newBarrel() *piece {
	p := &piece{}
	p.put(scene.Lathe([][2]float64{{0.3, 0}, {0.37, 0.22}, {0.4, 0.45}, {0.37, 0.68}, {0.3, 0.9}, {0.27, 0.9},
		{0.27, 0.86}}, 14, true), "timber", scene.Vec{}, 0)
	for _, h := range [][2]float64{{0.1, 0.345}, {0.28, 0.388}, {0.56, 0.394}, {0.76, 0.352}} {
		p.put(scene.Lathe([][2]float64{{h[1], h[0]}, {h[1] + 0.012, h[0]}, {h[1] + 0.012, h[0] + 0.05}, {h[1], h[0] + 0.05}},
			14, false), "iron", scene.Vec{}, 0)
	}
	return p
}

func newCrate(size float64) *piece {
	p := &piece{}
	p.put(scene.Box(size*0.94, size*0.94, size*0.94), "timber", scene.Vec{0, 0, size * 0.03}, 0)
	for _, x := range []float64{-1, 1} {
		for _, z := range []float64{0, size - 0.1} {
			p.put(scene.Box(size, 0.1, 0.1), "timber", scene.Vec{0, x * (size/2 - 0.04), z}, 0)
			p.put(scene.Box(0.1, size, 0.1), "timber", scene.Vec{x * (size/2 - 0.04), 0, z}, 0)
		}
		for _, y := range []float64{-1, 1} {
			p.put(scene.Box(0.1, 0.1, size), "timber", scene.Vec{x * (size/2 - 0.04), y * (size/2 - 0.04), 0}, 0)
		}
	}
	return p
}

// newBoat makes a clinker hull with thwarts, its bow along X.
func newBoat() *piece {
	const n, ribs = 12, 6
	shell := func(inset float64) *scene.Mesh {
		m := &scene.Mesh{}
		for i := range n + 1 {
			t := float64(i)/n*2 - 1
			half := (0.95 - inset) * math.Pow(max(1-t*t*(0.75+0.25*t), 0), 0.6)
			sheer := 0.75 + 0.35*t*t
			for k := range ribs + 1 {
				a := float64(k)/ribs*2 - 1
				m.V = append(m.V, scene.Vec{t * (2.4 - inset), a * half,
					sheer*math.Pow(math.Abs(a), 2.4)*(1-inset*0.2) + inset + 0.05*t*t})
			}
		}
		for i := range n {
			for k := range ribs {
				a := i*(ribs+1) + k
				f := []int{a, a + ribs + 1, a + ribs + 2, a + 1}
				if inset == 0 {
					f = []int{a + 1, a + ribs + 2, a + ribs + 1, a}
				}
				m.F = append(m.F, scene.Face{V: f, Smooth: true})
			}
		}
		return m
	}
	p := &piece{}
	p.put(shell(0), "blue", scene.Vec{}, 0)
	p.put(shell(0.06), "timber", scene.Vec{}, 0)
	for _, x := range []float64{-1.2, 0, 1.1} {
		p.put(scene.Box(0.25, 1.5-0.25*x*x, 0.06), "timber", scene.Vec{x, 0, 0.5}, 0)
	}
	p.putTilted(scene.Cylinder(0.035, 2.6, 8), "timber", scene.Vec{-1.2, 0.35, 0.62}, 1.5, 0.12)
	return p
}

func newLampPost() *piece {
	p := &piece{}
	p.put(scene.Lathe([][2]float64{{0.14, 0}, {0.14, 0.25}, {0.07, 0.35}, {0.05, 2.7}, {0.12, 2.8}}, 10, true), "iron",
		scene.Vec{}, 0)
	p.put(scene.Frustum(0.2, 0.2, 0.3, 0.3, 0.42), "flame", scene.Vec{0, 0, 2.84}, 0)
	p.put(scene.Frustum(0.4, 0.4, 0.06, 0.06, 0.22), "iron", scene.Vec{0, 0, 3.27}, 0)
	for i := range 4 {
		a := float64(i)*math.Pi/2 + math.Pi/4
		p.putTilted(scene.Box(0.03, 0.03, 0.44), "iron", scene.Vec{math.Cos(a) * 0.15, math.Sin(a) * 0.15, 2.83}, 0.12, a)
	}
	return p
}

func newBench() *piece {
	p := &piece{}
	p.put(scene.Box(1.7, 0.4, 0.07), "timber", scene.Vec{0, 0, 0.42}, 0)
	for _, x := range []float64{-0.7, 0.7} {
		p.put(scene.Box(0.1, 0.36, 0.42), "timber", scene.Vec{x, 0, 0}, 0)
	}
	return p
}

func newTable() *piece {
	p := &piece{}
	p.put(scene.Box(1.9, 0.9, 0.08), "timber", scene.Vec{0, 0, 0.74}, 0)
	for _, x := range []float64{-0.8, 0.8} {
		for _, y := range []float64{-0.33, 0.33} {
			p.put(scene.Box(0.1, 0.1, 0.74), "timber", scene.Vec{x, y, 0}, 0)
		}
	}
	for _, x := range []float64{-0.4, 0.1, 0.5} {
		p.put(scene.Cylinder(0.055, 0.14, 10), "brass", scene.Vec{x, 0.2 - x*0.3, 0.82}, 0)
	}
	for _, y := range []float64{-0.8, 0.8} {
		p.add(newBench(), scene.Vec{0, y, 0}, 0)
	}
	return p
}

// roughen moves the points of a body outwards and inwards at random, and returns the body.
func roughen(m *scene.Mesh, rnd *noise.Source, by float64, flat bool) *scene.Mesh {
	for i, v := range m.V {
		m.V[i] = v.Mul(1 + rnd.Between(-by, by))
	}
	for i := range m.F {
		m.F[i].Smooth = !flat
		m.F[i].UV = nil
	}
	return m
}

func newStump(rnd *noise.Source) *piece {
	p := &piece{}
	r, h := rnd.Between(0.3, 0.42), rnd.Between(0.4, 0.6)
	p.put(scene.Lathe([][2]float64{{r * 1.35, -0.1}, {r * 1.12, 0.12}, {r, h}, {r * 0.94, h + 0.02}}, 11, true), "bark",
		scene.Vec{}, 0)
	p.put(scene.Cylinder(r*0.93, 0.03, 11), "straw", scene.Vec{0, 0, h}, 0)
	return p
}

// newTree makes a broad-leaved tree: a leaning trunk, boughs, and clumps of leaves.
func newTree(rnd *noise.Source) *piece {
	p := &piece{}
	h := rnd.Between(5, 7.5)
	p.putTilted(scene.Lathe([][2]float64{{0.42, -0.2}, {0.27, 0.5}, {0.2, h * 0.55}, {0.08, h * 0.9}}, 9, true), "bark",
		scene.Vec{}, rnd.Between(-0.06, 0.06), rnd.Between(0, 6))
	for range 5 {
		p.putTilted(scene.Lathe([][2]float64{{0.1, 0}, {0.03, h * 0.4}}, 6, true), "bark",
			scene.Vec{0, 0, rnd.Between(h*0.35, h*0.6)}, rnd.Between(0.6, 1), rnd.Between(0, 6.28))
	}
	leaves := []string{"leaf", "leaf2", "leaf3"}
	for i := range 16 {
		a, out := rnd.Between(0, 6.28), rnd.Between(0.2, h*0.31)
		r := rnd.Between(0.55, 1.15) * h / 6
		at := scene.Vec{math.Cos(a) * out, math.Sin(a) * out, rnd.Between(h*0.5, h*1.02) - out*0.25}
		p.put(roughen(scene.Sphere(r, 11, 8), rnd, 0.17, true), leaves[i%3], at, rnd.Between(0, 3))
	}
	return p
}

func newConifer(rnd *noise.Source) *piece {
	p := &piece{}
	h := rnd.Between(6, 9)
	p.put(scene.Lathe([][2]float64{{0.3, -0.2}, {0.18, 1}, {0.05, h}}, 8, true), "bark", scene.Vec{}, 0)
	for i := range 7 {
		t := float64(i) / 6
		r := (1.55 - 1.3*t) * rnd.Between(0.9, 1.1)
		m := scene.Lathe([][2]float64{{r * 0.3, -0.15}, {r, 0}, {r * 0.35, h * 0.13}, {0, h * 0.2}}, 11, false)
		p.put(roughen(m, rnd, 0.08, true), []string{"leaf3", "leaf"}[i%2], scene.Vec{0, 0, h*0.16 + t*h*0.68},
			rnd.Between(0, 3))
	}
	return p
}

func newBush(rnd *noise.Source) *piece {
	p := &piece{}
	for i := range 5 {
		at := scene.Vec{rnd.Between(-0.5, 0.5), rnd.Between(-0.5, 0.5), rnd.Between(0.15, 0.4)}
		p.put(roughen(scene.Sphere(rnd.Between(0.3, 0.55), 8, 5), rnd, 0.2, true), []string{"leaf", "leaf2"}[i%2], at, 0)
	}
	return p
}

func newRock(rnd *noise.Source) *piece {
	p := &piece{}
	m := roughen(scene.Sphere(0.8, 10, 7), rnd, 0.16, true)
	flat := rnd.Between(0.5, 0.8)
	for i := range m.V {
		m.V[i][2] = m.V[i][2]*flat + 0.15
	}
	p.put(m, "rock", scene.Vec{}, 0)
	return p
}

func newReeds(rnd *noise.Source) *piece {
	p := &piece{}
	for range 26 {
		a, r := rnd.Between(0, 6.28), rnd.Between(0, 0.45)
		p.putTilted(scene.Lathe([][2]float64{{0.018, 0}, {0.012, 1}, {0, rnd.Between(1.2, 1.9)}}, 4, false),
			[]string{"straw", "leaf2"}[rnd.Intn(2)],
			scene.Vec{math.Cos(a) * r, math.Sin(a) * r, -0.1}, rnd.Between(-0.2, 0.2), rnd.Between(0, 6.28))
	}
	return p
}

func newBell() *piece {
	p := &piece{}
	for _, x := range []float64{-0.9, 0.9} {
		p.put(scene.Box(0.18, 0.18, 2.5), "timber", scene.Vec{x, 0, 0}, 0)
		p.putTilted(scene.Box(0.12, 0.12, 0.9), "timber", scene.Vec{x, 0, 1.75}, -0.7*x/0.9, 0)
	}
	p.put(scene.Box(2.2, 0.22, 0.2), "timber", scene.Vec{0, 0, 2.45}, 0)
	p.put(scene.Lathe([][2]float64{{0.5, 0}, {0.52, 0.03}, {0.4, 0.2}, {0.3, 0.55}, {0.24, 0.72}, {0, 0.8}}, 20, true),
		"brass", scene.Vec{0, 0, 1.55}, 0)
	p.put(scene.Cylinder(0.05, 0.2, 8), "iron", scene.Vec{0, 0, 2.3}, 0)
	p.put(scene.Sphere(0.09, 10, 6), "iron", scene.Vec{0, 0, 1.55}, 0)
	return p
}

func newWell() *piece {
	p := &piece{}
	p.put(scene.Lathe([][2]float64{{1, 0}, {1, 0.8}, {0.75, 0.8}, {0.75, 0.3}}, 18, false), "stone", scene.Vec{}, 0)
	p.put(scene.Cylinder(0.76, 0.02, 18), "water", scene.Vec{0, 0, 0.3}, 0)
	for _, x := range []float64{-0.9, 0.9} {
		p.put(scene.Box(0.14, 0.14, 2.1), "timber", scene.Vec{x, 0, 0}, 0)
	}
	p.m.At(scene.Gable(2.2, 1.5, 0.6, 0.2), scene.Vec{0, 0, 2.1}, p.materialSlot("slate"))
	return p
}

func newWheel(r float64) *piece {
	p := &piece{}
	upright := func(m *scene.Mesh) *scene.Mesh {
		for i, v := range m.V {
			m.V[i] = scene.Vec{v[0], v[2], v[1]}
		}
		for i := range m.F {
			f := m.F[i]
			for a, b := 0, len(f.V)-1; a < b; a, b = a+1, b-1 {
				f.V[a], f.V[b] = f.V[b], f.V[a]
			}
			m.F[i].UV = nil
		}
		return m
	}
	p.put(upright(scene.Torus(r, 0.06, 20, 6)), "timber", scene.Vec{}, 0)
	for i := range 4 {
		p.putTilted(scene.Box(0.06, 0.06, 2*r), "timber",
			scene.Vec{-r * math.Sin(float64(i)*math.Pi/4), 0, -r * math.Cos(float64(i)*math.Pi/4)}, float64(i)*math.Pi/4, 0)
	}
	return p
}

func newCart() *piece {
	p := &piece{}
	p.put(scene.Box(2.2, 1.2, 0.1), "timber", scene.Vec{0, 0, 0.72}, 0)
	for _, y := range []float64{-0.6, 0.6} {
		p.put(scene.Box(2.2, 0.06, 0.4), "timber", scene.Vec{0, y, 0.82}, 0)
		p.add(newWheel(0.62), scene.Vec{-0.2, y * 1.2, 0.66}, 0)
		p.putTilted(scene.Box(1.9, 0.08, 0.08), "timber", scene.Vec{1.8, y * 0.6, 0.55}, 0.18, 0)
	}
	p.put(scene.Box(0.06, 1.2, 0.4), "timber", scene.Vec{-1.1, 0, 0.82}, 0)
	return p
}

func newStall(rnd *noise.Source) *piece {
	p := &piece{}
	for _, x := range []float64{-1.3, 1.3} {
		p.put(scene.Box(0.09, 0.09, 2.1), "timber", scene.Vec{x, -0.8, 0}, 0)
		p.put(scene.Box(0.09, 0.09, 2.5), "timber", scene.Vec{x, 0.8, 0}, 0)
	}
	cloth := []string{"red", "white", "blue"}[rnd.Intn(3)]
	for i := range 8 {
		mat := cloth
		if i%2 == 1 {
			mat = "canvas"
		}
		m := &scene.Mesh{}
		x := -1.6 + float64(i)*0.4
		m.V = []scene.Vec{{x, -1.15, 1.95}, {x + 0.4, -1.15, 1.95}, {x + 0.4, 1, 2.6}, {x, 1, 2.6}, {x, -1.15, 1.7},
			{x + 0.4, -1.15, 1.7}}
		m.F = []scene.Face{{V: []int{0, 1, 2, 3}}, {V: []int{4, 5, 1, 0}}}
		p.put(m, mat, scene.Vec{}, 0)
	}
	p.put(scene.Box(2.7, 0.9, 0.08), "timber", scene.Vec{0, -0.45, 0.85}, 0)
	p.put(scene.Box(2.6, 0.06, 0.85), "timber", scene.Vec{0, -0.8, 0}, 0)
	for i := range 7 {
		x := -1.1 + float64(i)*0.36
		p.put(roughen(scene.Sphere(0.14, 8, 5), rnd, 0.1, false), []string{"red", "straw", "leaf2"}[i%3],
			scene.Vec{x, -0.45 + rnd.Between(-0.2, 0.2), 1.03}, 0)
	}
	return p
}

func newPost() *piece {
	p := &piece{}
	p.put(scene.Lathe([][2]float64{{0.2, 0}, {0.17, 0.5}, {0.24, 0.6}, {0.24, 0.7}, {0, 0.78}}, 12, true), "iron",
		scene.Vec{}, 0)
	return p
}

func newFlag() *piece {
	p := &piece{}
	p.put(scene.Cylinder(0.05, 4.5, 8), "timber", scene.Vec{}, 0)
	m := &scene.Mesh{}
	for i := range 7 {
		x := float64(i) * 0.25
		y := math.Sin(x*4) * 0.12
		m.V = append(m.V, scene.Vec{x, y, 3.3 + x*0.1}, scene.Vec{x, y, 4.4 - x*0.1})
	}
	for i := range 6 {
		a := 2 * i
		m.F = append(m.F, scene.Face{V: []int{a, a + 2, a + 3, a + 1}, Smooth: true})
	}
	p.put(m, "red", scene.Vec{}, 0)
	return p
}

// newAnchor makes an anchor that leans on a baulk: shank, stock, arms with flukes, and a ring.
func newAnchor() *piece {
	p := &piece{}
	p.put(scene.Lathe([][2]float64{{0.16, 0.2}, {0.11, 2.9}, {0.14, 3}}, 10, true), "iron", scene.Vec{}, 0)
	for i := range 12 {
		a0, a1 := -1.15+float64(i)*2.3/12, -1.15+float64(i+1)*2.3/12
		at := scene.Vec{math.Sin(a0) * 1.3, 0, 1.5 - math.Cos(a0)*1.3}
		d := scene.Vec{math.Sin(a1) * 1.3, 0, 1.5 - math.Cos(a1)*1.3}.Sub(at)
		p.putTilted(scene.Cylinder(0.12, d.Len()*1.06, 8), "iron", at, math.Atan2(d[0], d[2]), 0)
	}
	for _, side := range []float64{-1, 1} {
		m := &scene.Mesh{V: []scene.Vec{{0, -0.32, 0}, {0, 0.32, 0}, {0, 0, 0.75}, {0.1, 0, 0.2}, {-0.1, 0, 0.2}},
			F: []scene.Face{{V: []int{0, 3, 2}}, {V: []int{3, 1, 2}}, {V: []int{4, 0, 2}}, {V: []int{1, 4, 2}},
				{V: []int{0, 4, 3}}, {V: []int{4, 1, 3}}}}
		p.putTilted(m, "iron", scene.Vec{side * 1.15, 0, 0.85}, side*0.25, 0)
	}
	p.put(scene.Box(0.16, 2, 0.16), "timber", scene.Vec{0, 0, 2.55}, 0)
	ring := scene.Torus(0.3, 0.05, 18, 6)
	p.putTilted(ring, "iron", scene.Vec{0, 0, 3.25}, math.Pi/2, 0.4)
	return p
}

func newBucket() *piece {
	p := &piece{}
	p.put(scene.Lathe([][2]float64{{0.15, 0}, {0.2, 0.36}, {0.18, 0.36}, {0.14, 0.05}}, 12, true), "timber",
		scene.Vec{}, 0)
	p.put(scene.Lathe([][2]float64{{0.19, 0.25}, {0.205, 0.25}, {0.21, 0.3}, {0.195, 0.3}}, 12, false), "iron",
		scene.Vec{}, 0)
	return p
}

func newKettle() *piece {
	p := &piece{}
	for i := range 3 {
		a := float64(i) * 2.094
		p.putTilted(scene.Cylinder(0.03, 1.7, 6), "timber", scene.Vec{math.Cos(a) * 0.6, math.Sin(a) * 0.6, 0}, -0.37, a)
	}
	p.put(scene.Lathe([][2]float64{{0, 0.45}, {0.26, 0.5}, {0.32, 0.7}, {0.26, 0.9}, {0.24, 0.9}}, 14, true), "iron",
		scene.Vec{}, 0)
	return p
}

func newGrave(rnd *noise.Source) *piece {
	p := &piece{}
	p.putTilted(scene.Frustum(0.6, 0.16, 0.5, 0.12, 0.9), "stone", scene.Vec{}, rnd.Between(-0.1, 0.1), 0)
	return p
}

func newFence() *piece {
	p := &piece{}
	for _, x := range []float64{-1.2, 0, 1.2} {
		p.put(scene.Box(0.12, 0.12, 1.1), "timber", scene.Vec{x, 0, 0}, 0)
	}
	for _, z := range []float64{0.4, 0.8} {
		p.put(scene.Box(2.6, 0.06, 0.12), "timber", scene.Vec{0, -0.06, z}, 0)
	}
	return p
}

func newStatue() *piece {
	p := &piece{}
	p.put(scene.Frustum(1.3, 1.3, 1.1, 1.1, 1.2), "stone", scene.Vec{}, 0)
	p.put(scene.Lathe([][2]float64{{0.42, 0}, {0.3, 0.7}, {0.24, 1.1}, {0.34, 1.4}, {0.12, 1.65}, {0.16, 1.8},
		{0.15, 1.95}, {0, 2.08}}, 16, true), "stone", scene.Vec{0, 0, 1.2}, 0)
	return p
}
