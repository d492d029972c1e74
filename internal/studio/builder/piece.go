package builder

import (
	"math"
	"slices"

	"loregate/internal/slicesx"
	"loregate/internal/studio/scene"
)

// piece is a mesh of several materials that is being made.
type piece struct {
	m    scene.Mesh
	mats []string
}

// materialSlot returns the slot of a material.
func (p *piece) materialSlot(mat string) int {
	for i, m := range p.mats {
		if m == mat {
			return i
		}
	}
	p.mats = append(p.mats, mat)
	return len(p.mats) - 1
}

// put adds a body of one material, tilted about Y, turned about Z and moved to a position.
func (p *piece) put(m *scene.Mesh, mat string, at scene.Vec, tilt, turn float64) {
	s, c := math.Sincos(tilt)
	p.m.Add(m, func(v scene.Vec) scene.Vec {
		return scene.Vec{v[0]*c + v[2]*s, v[1], v[2]*c - v[0]*s}.Turned(turn).Add(at)
	}, p.materialSlot(mat))
}

// add adds another piece.
func (p *piece) add(o *piece, at scene.Vec, turn float64) {
	for i, mat := range o.mats {
		part := scene.Mesh{V: o.m.V}
		for _, f := range o.m.F {
			if f.Slot == i {
				f.Slot = 0
				part.F = append(part.F, f)
			}
		}
		p.put(compactMesh(&part), mat, at, 0, turn)
	}
}

// compactMesh returns the mesh without vertices that no face uses.
func compactMesh(m *scene.Mesh) *scene.Mesh {
	at := make([]int, len(m.V))
	out := &scene.Mesh{}
	for _, f := range m.F {
		g := f
		g.V = make([]int, len(f.V))
		for i, v := range f.V {
			if at[v] == 0 {
				out.V = append(out.V, m.V[v])
				at[v] = len(out.V)
			}
			g.V[i] = at[v] - 1
		}
		out.F = append(out.F, g)
	}
	return out
}

// addThing adds the parts of the thing that a part uses. The part's values and materials replace
// those of the thing's recipe.
func (s *scope) addThing(p *piece, use *part) {
	t, ok := s.lib.Things[use.Use]
	if !ok {
		s.fail("no thing %q", use.Use)
	}
	aliases := map[string]string{}
	for name, of := range t.Materials {
		if given, ok := use.Materials[name]; ok {
			of = given
		}
		aliases[name] = s.chooseMaterial(of, nil)
	}
	given := slicesx.Map(use.With, func(b entry[number]) entry[float64] { return entry[float64]{b.name, b.value(s)} })
	mark, outer := len(s.vars), s.aliases
	s.vars, s.aliases = append(s.vars, given...), aliases
	for _, b := range t.Let {
		if !use.With.has(b.name) {
			s.set(b.name, b.value(s))
		}
	}
	s.addParts(p, t.Parts)
	s.vars, s.aliases = s.vars[:mark], outer
}

func (s *scope) addParts(p *piece, parts []part) {
	for i := range parts {
		s.run(parts[i].control, func() { s.addPart(p, &parts[i]) })
	}
}

// addPart adds one repetition of a part to a piece. A thing or a group with a position is made as a
// piece of its own first; without one, its parts are added one by one.
func (s *scope) addPart(p *piece, t *part) {
	to := p
	if t.At != nil {
		to = &piece{}
	}
	switch {
	case t.Use != "":
		s.addThing(to, t)
	case t.Parts != nil:
		s.addParts(to, t.Parts)
	default:
		s.addBody(p, t)
		return
	}
	if t.At != nil {
		p.add(to, s.evalVec(t.At), s.eval(t.Turn, 0))
	}
}

func (s *scope) chooseMaterial(of list[string], pick number) string {
	if len(of) == 0 {
		s.fail("a part has no material")
		return ""
	}
	name := of[0]
	if len(of) > 1 {
		if pick == nil {
			pick = func(s *scope) float64 { return s.find("i").value }
		}
		name = of[max(int(pick(s)), 0)%len(of)]
	}
	if full, ok := s.aliases[name]; ok {
		return full
	}
	return name
}

// addBody makes the body of a part and adds it to a piece. Its random numbers are drawn in the order
// shape, displacement, scale, material, position, tilt, turn.
func (s *scope) addBody(p *piece, t *part) {
	m := s.newBody(t)
	s.changeBody(m, t)
	mat := s.chooseMaterial(t.Of, t.Pick)
	at, tilt, turn := s.evalVec(t.At), s.eval(t.Tilt, 0), s.eval(t.Turn, 0)
	if t.Ends != "" {
		first, ends := p.materialSlot(mat), p.materialSlot(s.chooseMaterial(list[string]{t.Ends}, nil))
		for i := range m.F {
			m.F[i].Slot *= ends - first
		}
	}
	p.put(m, mat, at, tilt, turn)
}

// newBody makes the shape of a part.
func (s *scope) newBody(t *part) *scene.Mesh {
	shapes := []struct {
		given []number
		args  int
		make  func(a []float64) *scene.Mesh
	}{
		{t.Box, 3, func(a []float64) *scene.Mesh { return scene.Box(a[0], a[1], a[2]) }},
		{t.Frustum, 5, func(a []float64) *scene.Mesh { return scene.Frustum(a[0], a[1], a[2], a[3], a[4]) }},
		{t.Quad, 2, func(a []float64) *scene.Mesh { return scene.Quad(a[0], a[1]) }},
		{t.Cylinder, 3, func(a []float64) *scene.Mesh { return scene.Cylinder(a[0], a[1], int(a[2])) }},
		{t.Cone, 3, func(a []float64) *scene.Mesh { return scene.Cone(a[0], a[1], int(a[2])) }},
		{t.Sphere, 3, func(a []float64) *scene.Mesh { return scene.Sphere(a[0], int(a[1]), int(a[2])) }},
		{t.Torus, 4, func(a []float64) *scene.Mesh { return scene.Torus(a[0], a[1], int(a[2]), int(a[3])) }},
		{t.Gable, 4, func(a []float64) *scene.Mesh { return scene.Gable(a[0], a[1], a[2], a[3]) }},
	}
	for _, shape := range shapes {
		if shape.given != nil {
			return shape.make(s.evalAll(shape.given, shape.args))
		}
	}
	switch {
	case t.Lathe != nil:
		profile := make([][2]float64, len(t.Lathe))
		for i, at := range t.Lathe {
			copy(profile[i][:], s.evalAll(at[:], 2))
		}
		return scene.Lathe(profile, t.Segments, t.Smooth == nil || *t.Smooth)
	case t.Surface != nil:
		return s.newSurface(t.Surface)
	case t.Mesh != nil:
		return s.newPolyhedron(t.Mesh)
	}
	s.fail("a part has no shape")
	return &scene.Mesh{}
}

func (s *scope) newSurface(g *surface) *scene.Mesh {
	m := &scene.Mesh{}
	mark := len(s.vars)
	for row := range g.Rows + 1 {
		for column := range g.Columns + 1 {
			s.set("row", float64(row))
			s.set("column", float64(column))
			for _, b := range g.Let {
				s.set(b.name, b.value(s))
			}
			m.V = append(m.V, s.evalVec(&g.Point))
			s.vars = s.vars[:mark]
			if row < g.Rows && column < g.Columns {
				a, b := len(m.V)-1, len(m.V)+g.Columns
				m.F = append(m.F, scene.Face{V: []int{a, b, b + 1, a + 1}, Smooth: true})
			}
		}
	}
	return m
}

func (s *scope) newPolyhedron(h *polyhedron) *scene.Mesh {
	m := &scene.Mesh{}
	for i := range h.Points {
		m.V = append(m.V, s.evalVec(&h.Points[i]))
	}
	for _, f := range h.Faces {
		m.F = append(m.F, scene.Face{V: slices.Clone(f)})
	}
	return m
}

// changeBody displaces, scales, maps and flips a body as its part asks. Displaced and flipped faces
// get the texture coordinates of their position.
func (s *scope) changeBody(m *scene.Mesh, t *part) {
	if rough := s.eval(t.Rough, 0); rough != 0 {
		for i, v := range m.V {
			m.V[i] = v.Mul(1 + s.rnd.Between(-rough, rough))
		}
		for i := range m.F {
			m.F[i].Smooth, m.F[i].UV = t.Smooth != nil && *t.Smooth, nil
		}
	}
	if t.Scale != nil {
		by := s.evalVec(t.Scale)
		for i, v := range m.V {
			m.V[i] = scene.Vec{v[0] * by[0], v[1] * by[1], v[2] * by[2]}
		}
	}
	if t.Map != nil {
		mark := len(s.vars)
		for i, v := range m.V {
			s.vars = append(s.vars, entry[float64]{"x", v[0]}, entry[float64]{"y", v[1]}, entry[float64]{"z", v[2]})
			m.V[i] = s.evalVec(t.Map)
			s.vars = s.vars[:mark]
		}
	}
	if s.eval(t.Flip, 0) != 0 {
		for i := range m.F {
			slices.Reverse(m.F[i].V)
			m.F[i].UV = nil
		}
	}
}
