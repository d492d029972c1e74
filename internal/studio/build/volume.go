package build

import (
	"math"

	"loregate/internal/fault"
	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// volume makes the mesh of a kind of body.
type volume struct {
	make  func(body any) (*Mesh, error)
	slots []slot
}

// slot is a material of a mesh. The first one is the part's main material.
type slot struct{ role, byDefault string }

// materials returns the materials of the slots.
func (v volume) materials(_ any, g frame) []string {
	out := make([]string, len(v.slots))
	for i, s := range v.slots {
		switch {
		case i == 0 && g.main != "":
			out[i] = g.main
		case g.roles[s.role] != "":
			out[i] = g.roles[s.role]
		default:
			out[i] = s.byDefault
		}
	}
	return out
}

// solidOf makes a volume of one material from a mesh.
func solidOf[B any](byDefault string, make func(b *B) *scene.Mesh) volume {
	return volume{func(body any) (*Mesh, error) { return enclose(make(body.(*B))), nil }, []slot{{"main", byDefault}}}
}

// enclose makes a mesh whose solid is its bounding box.
func enclose(m *scene.Mesh) *Mesh {
	low, high := m.Bounds()
	return &Mesh{Mesh: *m, Solids: []Solid{{Middle: low.Add(high).Mul(0.5), Half: high.Sub(low).Mul(0.5)}}}
}

// volumes are the kinds of bodies with a mesh of their own.
var volumes = map[string]volume{
	"box": solidOf("stone", func(b *spec.Box) *scene.Mesh {
		k := 1 - b.Taper
		return scene.Frustum(b.Size[0], b.Size[1], b.Size[0]*k, b.Size[1]*k, b.Size[2])
	}),
	"cylinder": {func(body any) (*Mesh, error) {
		c := body.(*spec.Cylinder)
		return encloseRound(turnProfile(c.Radius, c.Height, c.Top, c.Sides, true)), nil
	}, []slot{{"main", "stone"}}},
	"prism": {func(body any) (*Mesh, error) {
		c := body.(*spec.Prism)
		return encloseRound(turnProfile(c.Radius, c.Height, c.Top, c.Sides, false)), nil
	}, []slot{{"main", "stone"}}},
	"sphere": solidOf("stone", makeSphere),
	"dome": {func(body any) (*Mesh, error) { return &Mesh{Mesh: *makeDome(body.(*spec.Dome))}, nil },
		[]slot{{"main", "slate"}}},
	"lathe": solidOf("stone", func(b *spec.Lathe) *scene.Mesh { return scene.Lathe(b.Profile, b.Sides, !b.Flat) }),
	"wedge": {func(body any) (*Mesh, error) { return makeWedge(body.(*spec.Wedge)), nil }, []slot{{"main",
		"stone"}}},
	"ramp": {func(body any) (*Mesh, error) { return makeRamp(body.(*spec.Ramp)), nil }, []slot{{"main", "timber"}}},
	"stair": {func(body any) (*Mesh, error) { return makeStair(body.(*spec.Stair)), nil }, []slot{{"main",
		"stone"}}},
	"extrude": {func(body any) (*Mesh, error) { return makeExtrusion(body.(*spec.Extrude)) },
		[]slot{{"main", "stone"}}},
	"arch": {func(body any) (*Mesh, error) { return makeArch(body.(*spec.Arch)), nil }, []slot{{"main", "stone"}}},
	"door": {func(body any) (*Mesh, error) { return makeDoor(body.(*spec.Leaf)), nil }, []slot{{"main",
		"timber"}, {"trim", "stone"}, {"iron", "iron"}}},
	"window": {func(body any) (*Mesh, error) { return makeWindow(body.(*spec.Leaf)), nil }, []slot{{"main",
		"timber"}, {"glass", "pane"}, {"lit", "lit"}, {"iron", "iron"}}},
	"roof": {func(body any) (*Mesh, error) { return makeRoof(body.(*spec.Roof)), nil }, []slot{{"main",
		"slate"}, {"wall", "plaster"}}},
	"column": {func(body any) (*Mesh, error) { return makeColumn(body.(*spec.Column)), nil }, []slot{{"main",
		"stone"}}},
	"vault": {func(body any) (*Mesh, error) { return makeVault(body.(*spec.Vault)), nil }, []slot{{"main",
		"stone"}}},
	"bridge": {func(body any) (*Mesh, error) { return makeBridge(body.(*spec.Bridge)), nil }, []slot{{"main",
		"stone"}, {"floor", "cobbles"}}},
	"cave": {func(body any) (*Mesh, error) { return makeCave(body.(*spec.Cave)), nil },
		[]slot{{"main", "rock"}, {"floor", "gravel"}}},
	"palisade": {func(body any) (*Mesh, error) { return makePalisade(body.(*spec.Palisade)), nil },
		[]slot{{"main", "bark"}, {"trim", "timber"}}},
	"panel": {func(body any) (*Mesh, error) { return makePanel(body.(*panel)), nil }, []slot{{"main",
		"stone"}}},
	"battlements": {func(body any) (*Mesh, error) { return makeBattlements(body.(*battlements)), nil },
		[]slot{{"main", "stone"}}},
	"framing": {func(body any) (*Mesh, error) { return makeFraming(body.(*framing)), nil }, []slot{{"main",
		"timber"}}},
	"gap": {func(any) (*Mesh, error) { return &Mesh{}, nil }, []slot{}},
}

func turnProfile(radius, height float64, top *float64, sides int, smooth bool) *scene.Mesh {
	high := radius
	if top != nil {
		high = *top
	}
	m := scene.Lathe([][2]float64{{radius, 0}, {high, height}}, sides, smooth)
	for i := range m.F {
		m.F[i].Smooth = smooth && m.F[i].UV != nil
	}
	return m
}

// encloseRound is enclose for round bodies, whose solid is narrower.
func encloseRound(m *scene.Mesh) *Mesh {
	out := enclose(m)
	for i := range 2 {
		out.Solids[0].Half[i] *= 0.88
	}
	return out
}

func makeSphere(s *spec.Sphere) *scene.Mesh {
	m := scene.Sphere(s.Radius, 18, 12)
	if s.Rough > 0 {
		rnd := noise.NewSource(0, "sphere")
		for i, v := range m.V {
			m.V[i] = v.Mul(1 + rnd.Between(-s.Rough, s.Rough))
		}
		for i := range m.F {
			m.F[i].UV, m.F[i].Smooth = nil, false
		}
	}
	return m
}

func makeDome(d *spec.Dome) *scene.Mesh {
	height := d.Height
	if height == 0 {
		height = d.Radius
	}
	profile := make([][2]float64, 9)
	for i := range profile {
		s, c := math.Sincos(float64(i) / 8 * math.Pi / 2)
		profile[i] = [2]float64{d.Radius * c, height * s}
	}
	profile[8][0] = 0
	return scene.Lathe(profile, 28, true)
}

// addPrism adds a body over a polygon in the plane of X and Z, counter-clockwise as seen from -Y,
// from y0 to y1.
func addPrism(m *scene.Mesh, outline [][2]float64, y0, y1 float64, slot int) {
	n, base := len(outline), len(m.V)
	for _, y := range []float64{y0, y1} {
		for _, p := range outline {
			m.V = append(m.V, scene.Vec{p[0], y, p[1]})
		}
	}
	front, back := make([]int, n), make([]int, n)
	for i := range n {
		front[i], back[i] = base+i, base+2*n-1-i
		j := (i + 1) % n
		m.F = append(m.F, scene.Face{V: []int{base + j, base + i, base + n + i, base + n + j}, Slot: slot})
	}
	m.F = append(m.F, scene.Face{V: front, Slot: slot}, scene.Face{V: back, Slot: slot})
}

// addBox adds a box from its lowest corner to its highest.
func addBox(m *scene.Mesh, low, high scene.Vec, slot int) {
	size := high.Sub(low)
	m.At(scene.Box(size[0], size[1], size[2]), scene.Vec{(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]},
		slot)
}

func boxSolid(low, high scene.Vec) Solid {
	return Solid{Middle: low.Add(high).Mul(0.5), Half: high.Sub(low).Mul(0.5)}
}

// turnedPrism is addPrism with the outline in the plane of Y and Z, along X.
func turnedPrism(outline [][2]float64, x0, x1 float64) *scene.Mesh {
	m := &scene.Mesh{}
	addPrism(m, outline, -x1, -x0, 0)
	for i, v := range m.V {
		m.V[i] = scene.Vec{-v[1], v[0], v[2]}
	}
	return m
}

// slopeSolids approximates a slope that rises towards +Y by steps.
func slopeSolids(width, length, rise, below float64) (out []Solid) {
	n := max(int(math.Ceil(rise/0.25)), 2)
	for i := range min(n, 60) {
		y0, y1 := length*float64(i)/float64(n), length*float64(i+1)/float64(n)
		top := rise * (float64(i) + 0.5) / float64(n)
		out = append(out, boxSolid(scene.Vec{-width / 2, y0, max(top-below, 0)}, scene.Vec{width / 2, y1, top}))
	}
	return out
}

func makeWedge(w *spec.Wedge) *Mesh {
	wide, long, rise := w.Size[0], w.Size[1], w.Size[2]
	m := turnedPrism([][2]float64{{0, 0}, {long, 0}, {long, rise}}, -wide/2, wide/2)
	return &Mesh{Mesh: *m, Solids: slopeSolids(wide, long, rise, rise)}
}

func makeRamp(r *spec.Ramp) *Mesh {
	wide, long, rise := r.Size[0], r.Size[1], r.Size[2]
	m := turnedPrism([][2]float64{{0, -r.Thick}, {long, rise - r.Thick}, {long, rise}, {0, 0}}, -wide/2, wide/2)
	return &Mesh{Mesh: *m, Solids: slopeSolids(wide, long, rise, r.Thick)}
}

// The measures of a stair that people climb, in metres.
const (
	stepRise = 0.18
	stepRun  = 0.28
)

func makeStair(s *spec.Stair) *Mesh {
	n := min(max(int(math.Round(s.Height/stepRise)), 1), 600)
	if s.Spiral > 0 {
		return makeSpiral(s, n)
	}
	length := s.Length
	if length == 0 {
		length = float64(n) * stepRun
	}
	out := &Mesh{}
	for i := range n {
		y0, y1 := length*float64(i)/float64(n), length*float64(i+1)/float64(n)
		top, foot := s.Height*float64(i+1)/float64(n), 0.0
		if s.Open {
			foot = max(top-0.12, 0)
		}
		low, high := scene.Vec{-s.Width / 2, y0, foot}, scene.Vec{s.Width / 2, y1, top}
		addBox(&out.Mesh, low, high, 0)
		out.Solids = append(out.Solids, boxSolid(low, high))
	}
	return out
}

// makeSpiral makes a stair that winds counter-clockwise around a newel.
func makeSpiral(s *spec.Stair, n int) *Mesh {
	out := &Mesh{}
	inner, outer := s.Spiral, s.Spiral+s.Width
	step := stepRun / ((inner + outer) / 2)
	out.At(scene.Cylinder(inner, s.Height+1, 16), scene.Vec{}, 0)
	for i := range n {
		a, b := step*float64(i), step*(float64(i)+1.15)
		z := s.Height * float64(i+1) / float64(n)
		m := &scene.Mesh{}
		for _, h := range []float64{z - 0.16, z} {
			for _, p := range [][2]float64{{inner * 0.9, a}, {outer, a}, {outer, b}, {inner * 0.9, b}} {
				m.V = append(m.V, scene.Vec{p[0] * math.Cos(p[1]), p[0] * math.Sin(p[1]), h})
			}
		}
		for _, f := range [][]int{{3, 2, 1, 0}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4,
			7}} {
			m.F = append(m.F, scene.Face{V: f})
		}
		out.At(m, scene.Vec{}, 0)
		mid := (a + b) / 2
		out.Solids = append(out.Solids, Solid{Middle: scene.Vec{(inner + outer) / 2 * math.Cos(mid),
			(inner + outer) / 2 * math.Sin(mid), z - 0.08},
			Half: scene.Vec{s.Width / 2, stepRun * 0.7, 0.08}, Turn: mid})
	}
	return out
}

// makeExtrusion raises a footprint, which may be concave.
func makeExtrusion(e *spec.Extrude) (*Mesh, error) {
	n := len(e.Outline)
	tris, ok := triangulate(e.Outline)
	if !ok {
		return nil, fault.BadField("extrude.outline",
			"crosses itself or has no area; give the corners in their order, counter-clockwise from above")
	}
	out := &Mesh{}
	for _, z := range []float64{0, e.Height} {
		for _, p := range e.Outline {
			out.V = append(out.V, scene.Vec{p[0], p[1], z})
		}
	}
	for i := range n {
		j := (i + 1) % n
		out.F = append(out.F, scene.Face{V: []int{i, j, n + j, n + i}})
	}
	for _, t := range tris {
		out.F = append(out.F, scene.Face{V: []int{t[2], t[1], t[0]}}, scene.Face{V: []int{n + t[0], n + t[1],
			n + t[2]}})
		var low, high scene.Vec
		low, high = scene.Vec{math.Inf(1), math.Inf(1), 0}, scene.Vec{math.Inf(-1), math.Inf(-1), e.Height}
		for _, k := range t {
			for axis := range 2 {
				low[axis], high[axis] = min(low[axis], e.Outline[k][axis]), max(high[axis], e.Outline[k][axis])
			}
		}
		out.Solids = append(out.Solids, boxSolid(low, high))
	}
	return out, nil
}

// triangulate cuts a polygon, counter-clockwise, into triangles, by cutting off ears.
func triangulate(p [][2]float64) (tris [][3]int, ok bool) {
	turn := func(a, b, c int) float64 {
		return (p[b][0]-p[a][0])*(p[c][1]-p[a][1]) - (p[b][1]-p[a][1])*(p[c][0]-p[a][0])
	}
	left := make([]int, len(p))
	for i := range left {
		left[i] = i
	}
	for len(left) > 3 {
		cut := -1
		for i := range left {
			a, b, c := left[(i+len(left)-1)%len(left)], left[i], left[(i+1)%len(left)]
			if turn(a, b, c) <= 1e-9 {
				continue
			}
			ear := true
			for _, k := range left {
				if k != a && k != b && k != c && turn(a, b, k) >= 0 && turn(b, c, k) >= 0 && turn(c, a, k) >= 0 {
					ear = false
					break
				}
			}
			if ear {
				cut = i
				tris = append(tris, [3]int{a, b, c})
				break
			}
		}
		if cut < 0 {
			return nil, false
		}
		left = append(left[:cut], left[cut+1:]...)
	}
	if turn(left[0], left[1], left[2]) <= 1e-9 {
		return nil, false
	}
	return append(tris, [3]int{left[0], left[1], left[2]}), true
}

// arcPoints returns points of a half circle from (x-r, z) over the top to (x+r, z).
func arcPoints(x, z, r float64, n int) [][2]float64 {
	out := make([][2]float64, n+1)
	for i := range out {
		s, c := math.Sincos(math.Pi * (1 - float64(i)/float64(n)))
		out[i] = [2]float64{x + r*c, z + r*s}
	}
	return out
}

func makeArch(a *spec.Arch) *Mesh {
	out := &Mesh{}
	r := min(a.Span/2, a.Height)
	spring := a.Height - r
	y0, y1 := -a.Depth/2, a.Depth/2
	for _, side := range []float64{-1, 1} {
		x := side * (a.Span/2 + a.Band/2)
		low, high := scene.Vec{x - a.Band/2, y0, 0}, scene.Vec{x + a.Band/2, y1, max(spring, 0.01)}
		addBox(&out.Mesh, low, high, 0)
		out.Solids = append(out.Solids, boxSolid(low, high))
	}
	const n = 12
	inner, outer := arcPoints(0, spring, r, n), arcPoints(0, spring, r+a.Band, n)
	for i := range inner {
		inner[i][0] *= a.Span / 2 / r
		outer[i][0] *= (a.Span/2 + a.Band) / (r + a.Band)
	}
	for i := range n {
		addPrism(&out.Mesh, [][2]float64{inner[i], inner[i+1], outer[i+1], outer[i]}, y0, y1, 0)
	}
	return out
}
