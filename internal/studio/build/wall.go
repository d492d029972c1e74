package build

import (
	"fmt"
	"math"
	"slices"

	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// panel is one wall with holes. Along it u runs in metres, v up, and w from 0 at the outer side to 1
// at the inner side.
type panel struct {
	Length, Height, Thick float64
	Radius, Taper         float64 // of a round wall; its u is measured on the outer side, from -X over -Y
	Start, End            float64 // by which a straight wall is longer outside and shorter inside
	Holes                 []hole
}

// hole is an opening in a panel.
type hole struct {
	U0, U1, V0, V1 float64
	Arched         bool
}

// at returns a point of the panel.
func (p *panel) at(u, v, w float64) scene.Vec {
	if p.Radius == 0 {
		y := (w - 0.5) * p.Thick
		switch {
		case u <= 0:
			u = -p.Start * (1 - 2*w)
		case u >= p.Length:
			u = p.Length + p.End*(1-2*w)
		}
		return scene.Vec{u - p.Length/2, y, v}
	}
	a := u/p.Radius - math.Pi
	r := (p.Radius - w*p.Thick) * (1 - p.Taper*v/p.Height)
	return scene.Vec{r * math.Cos(a), r * math.Sin(a), v}
}

// roundSides is the number of faces around a round wall.
const roundSides = 40

// cuts returns where the panel is divided: at its ends, at the edges of holes, and on a round wall
// at regular steps.
func (p *panel) cuts() (us, vs []float64) {
	us, vs = []float64{0, p.Length}, []float64{0, p.Height}
	for _, h := range p.Holes {
		us, vs = append(us, p.wrap(h.U0), p.wrap(h.U1)), append(vs, h.V0, h.V1)
	}
	if p.Radius > 0 {
		for i := 1; i < roundSides; i++ {
			us = append(us, p.Length*float64(i)/roundSides)
		}
	}
	return joinClose(us, p.Length), joinClose(vs, p.Height)
}

// joinClose sorts cuts, limits them to the panel and joins those that are less than 1 mm apart.
func joinClose(cuts []float64, most float64) []float64 {
	slices.Sort(cuts)
	out := []float64{0}
	for _, c := range cuts {
		if c = min(max(c, 0), most); c-out[len(out)-1] > 0.001 {
			out = append(out, c)
		}
	}
	out[len(out)-1] = most
	return out
}

// wrap brings a point of a round wall back to its first turn.
func (p *panel) wrap(u float64) float64 {
	if p.Radius == 0 {
		return u
	}
	return u - p.Length*math.Floor(u/p.Length)
}

func (p *panel) isOpen(u, v float64) bool {
	for _, h := range p.Holes {
		d := u - h.U0
		if p.Radius > 0 {
			d = p.wrap(d)
		}
		if d > 0 && d < h.U1-h.U0 && v > h.V0 && v < h.V1 {
			return true
		}
	}
	return false
}

// makePanel makes the wall, with the sides of its holes.
func makePanel(p *panel) *Mesh {
	us, vs := p.cuts()
	nu, nv := len(us)-1, len(vs)-1
	ring := p.Radius > 0
	filled := func(i, j int) bool {
		if ring {
			i = (i + nu) % nu
		}
		if i < 0 || j < 0 || i >= nu || j >= nv {
			return false
		}
		return !p.isOpen((us[i]+us[i+1])/2, (vs[j]+vs[j+1])/2)
	}
	out := &Mesh{}
	index := map[[3]int]int{}
	corner := func(i, j, w int) int {
		key := [3]int{i, j, w}
		if ring {
			key[0] = i % nu
		}
		k, ok := index[key]
		if !ok {
			k = len(out.V)
			index[key] = k
			out.V = append(out.V, p.at(us[i], vs[j], float64(w)))
		}
		return k
	}
	face := func(c [4][3]int, uv bool) {
		f := scene.Face{}
		for _, k := range c {
			f.V = append(f.V, corner(k[0], k[1], k[2]))
			if uv && ring {
				f.UV = append(f.UV, [2]float64{us[k[0]] / scene.TileMetres, vs[k[1]] / scene.TileMetres})
			}
		}
		out.F = append(out.F, f)
	}
	for i := range nu {
		for j := range nv {
			if !filled(i, j) {
				continue
			}
			face([4][3]int{{i, j, 0}, {i + 1, j, 0}, {i + 1, j + 1, 0}, {i, j + 1, 0}}, true)
			face([4][3]int{{i + 1, j, 1}, {i, j, 1}, {i, j + 1, 1}, {i + 1, j + 1, 1}}, true)
			if !filled(i-1, j) {
				face([4][3]int{{i, j, 1}, {i, j, 0}, {i, j + 1, 0}, {i, j + 1, 1}}, false)
			}
			if !filled(i+1, j) {
				face([4][3]int{{i + 1, j, 0}, {i + 1, j, 1}, {i + 1, j + 1, 1}, {i + 1, j + 1, 0}}, false)
			}
			if !filled(i, j+1) {
				face([4][3]int{{i, j + 1, 0}, {i + 1, j + 1, 0}, {i + 1, j + 1, 1}, {i, j + 1, 1}}, false)
			}
			if !filled(i, j-1) {
				face([4][3]int{{i, j, 1}, {i + 1, j, 1}, {i + 1, j, 0}, {i, j, 0}}, false)
			}
		}
	}
	for _, h := range p.Holes {
		if h.Arched {
			p.addHead(&out.Mesh, h)
		}
	}
	out.Solids = p.solids(us, vs)
	return out
}

// addHead fills the corners above the arch of a hole.
func (p *panel) addHead(m *scene.Mesh, h hole) {
	r := min((h.U1-h.U0)/2, h.V1-h.V0)
	arc := arcPoints((h.U0+h.U1)/2, h.V1-r, r, 12)
	for i := range arc {
		arc[i][0] = (h.U0+h.U1)/2 + (arc[i][0]-(h.U0+h.U1)/2)*(h.U1-h.U0)/2/r
	}
	add := func(points ...scene.Vec) {
		f := scene.Face{}
		for _, v := range points {
			f.V = append(f.V, len(m.V))
			m.V = append(m.V, v)
		}
		m.F = append(m.F, f)
	}
	for k := range 12 {
		edge := h.U0
		if k >= 6 {
			edge = h.U1
		}
		a, b := arc[k], arc[k+1]
		add(p.at(edge, h.V1, 0), p.at(a[0], a[1], 0), p.at(b[0], b[1], 0))
		add(p.at(edge, h.V1, 1), p.at(b[0], b[1], 1), p.at(a[0], a[1], 1))
		add(p.at(a[0], a[1], 1), p.at(b[0], b[1], 1), p.at(b[0], b[1], 0), p.at(a[0], a[1], 0))
	}
}

// solids returns boxes for the filled part of the panel, each as high as possible.
func (p *panel) solids(us, vs []float64) (out []Solid) {
	for i := range len(us) - 1 {
		mid := (us[i] + us[i+1]) / 2
		for j := 0; j < len(vs)-1; j++ {
			if p.isOpen(mid, (vs[j]+vs[j+1])/2) {
				continue
			}
			from := vs[j]
			for j+1 < len(vs)-1 && !p.isOpen(mid, (vs[j+1]+vs[j+2])/2) {
				j++
			}
			out = append(out, p.solidBetween(us[i], us[i+1], from, vs[j+1]))
		}
	}
	return out
}

func (p *panel) solidBetween(u0, u1, v0, v1 float64) Solid {
	if p.Radius == 0 {
		return boxSolid(scene.Vec{u0 - p.Length/2, -p.Thick / 2, v0}, scene.Vec{u1 - p.Length/2, p.Thick / 2, v1})
	}
	middle := p.at((u0+u1)/2, (v0+v1)/2, 0.5)
	return Solid{Middle: middle, Half: scene.Vec{(u1 - u0) / 2 * 0.98, p.Thick / 2 * 0.9, (v1 - v0) / 2},
		Turn: math.Atan2(middle[1], middle[0]) + math.Pi/2}
}

// The sizes and sills of openings that give none.
var openingSizes = map[string][3]float64{"door": {1.05, 2.05, 0}, "gate": {2.6, 3, 0}, "window": {0.9, 1.2, 0.95},
	"slit": {0.16, 1.1, 1.2}, "arch": {1.5, 2.4, 0}}

// wallOpening is one opening of a panel, with its name.
type wallOpening struct {
	name string
	kind string
	hole
	lit bool
}

// resolveOpenings places the openings of a panel. Those that do not fit are errors.
func resolveOpenings(list []spec.Opening, wall int, p *panel, used map[string]int) ([]wallOpening, error) {
	var out []wallOpening
	for i, o := range list {
		if o.Wall != wall {
			continue
		}
		size := openingSizes[o.Kind]
		w, h, sill := size[0], size[1], size[2]
		if o.Size[0] > 0 {
			w = o.Size[0]
		}
		if o.Size[1] > 0 {
			h = o.Size[1]
		}
		if o.Sill != nil {
			sill = *o.Sill
		}
		field := fmt.Sprintf("openings[%d]", i)
		if sill+h > p.Height {
			return nil, badWall(field,
				"%s of %.2f m above %.2f m does not fit into a wall of %.2f m; lower its sill or height", o.Kind,
				h, sill, p.Height)
		}
		for _, u := range openingPlaces(o, p) {
			if p.Radius == 0 && (u-w/2 < 0 || u+w/2 > p.Length) {
				return nil, badWall(field,
					"%s of %.2f m at %.2f m does not fit into a wall of %.2f m; move it or make it narrower",
					o.Kind, w, u, p.Length)
			}
			used[o.Kind]++
			name := o.Name
			if name == "" || o.Count > 1 {
				name = fmt.Sprintf("%s-%d", nameOr(o.Name, o.Kind), used[o.Kind])
				if o.Kind == "door" && used[o.Kind] == 1 && o.Name == "" {
					name = "door"
				}
			}
			if used["name "+name]++; used["name "+name] > 1 {
				return nil, badWall(field, "the name %q is used twice; give each opening a name of its own", name)
			}
			out = append(out, wallOpening{name, o.Kind, hole{u - w/2, u + w/2, sill, sill + h, o.Arched}, o.Lit})
		}
	}
	return out, nil
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// openingPlaces returns the middles of the openings of a rule.
func openingPlaces(o spec.Opening, p *panel) (out []float64) {
	switch {
	case o.Count > 0 && p.Radius > 0:
		start := p.Length / 2
		if o.At != nil {
			start = (*o.At + 180) / 360 * p.Length
		} else if o.Count > 1 {
			start += p.Length / float64(o.Count) / 2
		}
		for i := range o.Count {
			out = append(out, p.wrap(start+p.Length*float64(i)/float64(o.Count)))
		}
	case o.Count > 0:
		for i := range o.Count {
			out = append(out, p.Length*(float64(i)+0.5)/float64(o.Count))
		}
	case o.At == nil && p.Radius > 0:
		out = append(out, p.Length/4)
	case o.At == nil:
		out = append(out, p.Length/2)
	case p.Radius > 0:
		out = append(out, p.wrap((*o.At+180)/360*p.Length))
	default:
		out = append(out, *o.At)
	}
	return out
}
