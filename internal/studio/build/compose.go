package build

import (
	"fmt"
	"math"

	"loregate/internal/fault"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

func badWall(field, format string, args ...any) error { return fault.BadField(field, format, args...) }

// role returns the material of a role of a composite. The part's main material is that of its walls.
func (g frame) role(role, byDefault string) string {
	switch {
	case g.roles[role] != "":
		return g.roles[role]
	case role == "wall" && g.main != "":
		return g.main
	}
	return byDefault
}

// bodies are the parts of a composite by name.
type bodies map[string]*spec.Part

// compose returns the bodies of a composite.
func (b *maker) compose(kind string, body any, g frame) (bodies, error) {
	out := bodies{}
	switch body := body.(type) {
	case *spec.Wall:
		return out, out.addWall("", body, g, map[string]int{})
	case *spec.House:
		return out, out.addHouse(body, g)
	case *spec.Tower:
		return out, out.addTower(body, g)
	case *spec.Plan:
		return out, out.addPlan(body, g)
	}
	return nil, fault.New(fault.Internal, "no builder of %s", kind)
}

// add adds a body.
func (o bodies) add(name string, p *spec.Part) { o[name] = p }

// addWall adds the panels of a wall and the leaves in its openings. Prefix begins the names.
func (o bodies) addWall(prefix string, w *spec.Wall, g frame, used map[string]int) error {
	for i, run := range wallRuns(w) {
		p := &panel{Height: w.Height, Thick: w.Thick, Radius: w.Radius, Taper: w.Taper, Length: run.length,
			Start: run.start, End: run.end}
		openings, err := resolveOpenings(w.Openings, i, p, used)
		if err != nil {
			return err
		}
		for _, op := range openings {
			p.Holes = append(p.Holes, op.hole)
			o.addLeaf(op, p, run, g)
		}
		name := prefix + "panel"
		if len(w.Along) > 0 {
			name = fmt.Sprintf("%swall-%d", prefix, i+1)
		}
		at := []float64{run.middle[0], run.middle[1], run.middle[2]}
		o.add(name, &spec.Part{At: at, Turn: run.turn, Material: g.role("wall", "stone"), Inner: p})
		if w.Crown == "battlements" {
			o.add(prefix+nameNumber("battlements", i, len(w.Along) > 0), &spec.Part{At: []float64{at[0], at[1],
				at[2] + w.Height}, Turn: run.turn,
				Material: g.role("wall", "stone"), Inner: &battlements{Length: run.length, Thick: w.Thick,
					Radius: w.Radius * (1 - w.Taper)}})
		}
	}
	return nil
}

func nameNumber(name string, i int, several bool) string {
	if !several {
		return name
	}
	return fmt.Sprintf("%s-%d", name, i+1)
}

// wallRun is one straight wall of a chain, or a round wall.
type wallRun struct {
	middle     scene.Vec
	turn       float64 // degrees
	length     float64
	start, end float64
}

// wallRuns returns the walls of a chain. Where two meet, they are cut along the bisector.
func wallRuns(w *spec.Wall) []wallRun {
	switch {
	case w.Radius > 0:
		return []wallRun{{length: 2 * math.Pi * w.Radius}}
	case w.Length > 0:
		return []wallRun{{length: w.Length}}
	}
	points := w.Along
	if w.Closed {
		points = append(points[:len(points):len(points)], points[0])
	}
	var runs []wallRun
	for i := 1; i < len(points); i++ {
		dx, dy := points[i][0]-points[i-1][0], points[i][1]-points[i-1][1]
		length := math.Hypot(dx, dy)
		if length < 0.01 {
			continue
		}
		runs = append(runs, wallRun{middle: scene.Vec{points[i-1][0] + dx/2, points[i-1][1] + dy/2},
			turn: math.Atan2(dy, dx) * 180 / math.Pi, length: length})
	}
	for i := range runs {
		j := i + 1
		if j == len(runs) {
			if !w.Closed {
				break
			}
			j = 0
		}
		bend := math.Remainder(runs[j].turn-runs[i].turn, 360) * math.Pi / 180
		cut := math.Tan(min(max(bend, -2.6), 2.6)/2) * w.Thick / 2
		runs[i].end, runs[j].start = cut, cut
	}
	return runs
}

// addLeaf adds the door, the window or the gate in an opening.
func (o bodies) addLeaf(op wallOpening, p *panel, run wallRun, g frame) {
	mid := p.at((op.U0+op.U1)/2, op.V0, 0.5)
	depth := 0.5
	if op.kind == "window" {
		depth = 0.35
	}
	turn := run.turn
	if p.Radius > 0 {
		mid = p.at((op.U0+op.U1)/2, op.V0+(op.V1-op.V0)/2, depth)
		mid[2] = op.V0
		turn += (math.Atan2(mid[1], mid[0]) + math.Pi/2) * 180 / math.Pi
	}
	at := mid.Turned(run.turn * math.Pi / 180).Add(run.middle)
	leaf := &spec.Leaf{Size: [2]float64{op.U1 - op.U0, op.V1 - op.V0}, Arched: op.Arched, Lit: op.lit}
	part := &spec.Part{At: []float64{at[0], at[1], at[2]}, Turn: turn}
	switch op.kind {
	case "door", "gate":
		part.Door, part.Material = leaf, g.role("door", "timber")
		part.Is = op.kind
	case "window":
		part.Window, part.Material = leaf, g.role("trim", "timber")
	case "slit":
		part.Inner, part.Is = &gap{leaf.Size[0]}, "arrow slit"
	case "arch":
		part.Inner, part.Is = &gap{leaf.Size[0]}, "archway"
	}
	o.add(op.name, part)
}

// addHouse adds a house.
func (o bodies) addHouse(h *spec.House, g frame) error {
	w, d := h.Size[0], h.Size[1]
	const foot = 0.25
	o.add("base", &spec.Part{At: []float64{0, 0, -0.6}, Material: g.role("base", "stone"),
		Box: &spec.Box{Size: [3]float64{w + 0.2, d + 0.2, foot + 0.6}}})
	o.add("step", &spec.Part{At: []float64{-w * 0.12, -d/2 - 0.45, -0.3}, Material: g.role("base", "stone"),
		Box: &spec.Box{Size: [3]float64{1.6, 0.7, 0.3 + foot/2}}})
	used := map[string]int{}
	for f := range h.Storeys {
		z := foot + float64(f)*h.Storey
		wall := &spec.Wall{Closed: true, Height: h.Storey, Thick: 0.3,
			Along: [][2]float64{{-w/2 + 0.15, -d/2 + 0.15}, {w/2 - 0.15, -d/2 + 0.15}, {w/2 - 0.15,
				d/2 - 0.15}, {-w/2 + 0.15, d/2 - 0.15}},
			Openings: houseOpenings(h, f)}
		storey := bodies{}
		material := g.role("wall", "plaster")
		if f > 0 {
			material = g.role("upper", material)
		}
		inner := g
		inner.main, inner.roles = material, map[string]string{"door": g.role("door", "timber"),
			"trim": g.role("trim", "timber")}
		if err := storey.addWall(fmt.Sprintf("storey-%d-", f+1), wall, inner, used); err != nil {
			return err
		}
		for name, p := range storey {
			p.At[2] += z
			o.add(name, p)
		}
		if f > 0 || h.Frame {
			o.add(fmt.Sprintf("floor-%d", f+1), &spec.Part{At: []float64{0, 0, z - 0.1}, Material: g.role("floor",
				"timber"), Box: &spec.Box{Size: [3]float64{w - 0.3, d - 0.3, 0.12}}})
		}
		if h.Frame {
			o.add(fmt.Sprintf("frame-%d", f+1), &spec.Part{At: []float64{0, 0, z}, Material: g.role("trim", "timber"),
				Inner: &framing{w, d, h.Storey}})
		}
	}
	top := foot + float64(h.Storeys)*h.Storey
	rise := d / 2 * h.Pitch
	roof := &spec.Roof{Form: h.Roof, Size: h.Size, Height: rise, Eaves: 0.5}
	cover := "slate"
	if h.Roof == "thatch" {
		cover = "thatch"
	}
	if h.Roof == "flat" {
		rise = 0.6
		roof.Height, roof.Eaves, roof.Crown = 0, 0, "plain"
	}
	o.add("roof", &spec.Part{At: []float64{0, 0, top}, Material: g.role("roof", cover),
		Materials: map[string]string{"wall": g.role("upper", g.role("wall", "plaster"))}, Roof: roof})
	if h.Chimney {
		o.add("chimney", &spec.Part{Is: "chimney", At: []float64{w * 0.3, d * 0.1, top},
			Material: g.role("chimney", "stone"), Box: &spec.Box{Size: [3]float64{0.8, 0.7, rise + 0.9}}})
	}
	return nil
}

// houseOpenings returns the door and the windows of a floor. The door is left of the middle, and the
// windows are beside it.
func houseOpenings(h *spec.House, floor int) (out []spec.Opening) {
	w := h.Size[0] - 0.3
	door := w/2 - h.Size[0]*0.12
	tall := min(1.2, h.Storey-1.2)
	size := [2]float64{0.9, tall}
	if floor == 0 {
		out = append(out, spec.Opening{Kind: "door", At: &door, Size: [2]float64{1.05, min(2.05, h.Storey-0.3)}})
	}
	for i := range h.Windows {
		at := w * (float64(i) + 0.5) / float64(h.Windows)
		if floor == 0 && math.Abs(at-door) < 1.2 {
			continue
		}
		out = append(out, spec.Opening{Kind: "window", At: &at, Size: size, Lit: h.Lit})
	}
	if h.Windows > 0 {
		n := max(int(h.Size[1]/3.5), 1)
		out = append(out, spec.Opening{Kind: "window", Wall: 1, Count: n, Size: size, Lit: h.Lit},
			spec.Opening{Kind: "window", Wall: 3, Count: n, Size: size, Lit: h.Lit},
			spec.Opening{Kind: "window", Wall: 2, Count: max(h.Windows-1, 1), Size: size})
	}
	return out
}

// addTower adds a tower.
func (o bodies) addTower(t *spec.Tower, g frame) error {
	storeys := t.Storeys
	if storeys == 0 {
		storeys = max(int(math.Round(t.Height/4.5)), 1)
	}
	level := t.Height / float64(storeys)
	raised := 0.0
	if t.Stair == "outside" {
		raised = min(level*0.6, 2.4)
	}
	wall := &spec.Wall{Height: t.Height, Thick: t.Thick, Radius: t.Radius, Taper: t.Taper,
		Openings: towerOpenings(t, storeys, raised)}
	half := t.Radius
	if t.Side > 0 {
		half = t.Side / 2
		in := half - t.Thick/2
		wall.Along, wall.Closed = [][2]float64{{-in, -in}, {in, -in}, {in, in}, {-in, in}}, true
	}
	if err := o.addWall("shaft-", wall, g, map[string]int{}); err != nil {
		return err
	}
	clear := half - t.Thick + 0.05
	for f := 1; f < storeys; f++ {
		o.add(fmt.Sprintf("floor-%d", f), towerSlab(t, clear*(1-t.Taper*float64(f)/float64(storeys)),
			level*float64(f)-0.2, 0.2, g.role("floor", "timber"), t.Stair == "inside"))
	}
	o.add("ground", towerSlab(t, clear, -0.3, 0.34, g.role("floor", "cobbles"), false))
	o.addTop(t, half*(1-t.Taper), g)
	switch t.Stair {
	case "inside":
		o.add("stair", &spec.Part{Material: g.role("stair", "stone"), Stair: &spec.Stair{Height: t.Height,
			Spiral: 0.2, Width: min(1.1, clear*0.6)}})
	case "outside":
		out := half + 0.05
		if t.Radius > 0 {
			out = t.Radius + 0.05
		}
		run := raised / stepRise * stepRun
		o.add("landing", &spec.Part{At: []float64{0, -out - 0.6, 0}, Material: g.role("stair", "stone"),
			Box: &spec.Box{Size: [3]float64{1.8, 1.4, raised}}})
		o.add("stair", &spec.Part{At: []float64{-0.9 - run, -out - 0.6, 0}, Turn: -90, Material: g.role("stair",
			"stone"), Stair: &spec.Stair{Height: raised, Width: 1.3, Length: run}})
	}
	return nil
}

// towerSlab returns a floor of a tower. A floor with a hole lets a winding stair through.
func towerSlab(t *spec.Tower, half, z, thick float64, material string, hole bool) *spec.Part {
	p := &spec.Part{At: []float64{0, 0, z}, Material: material, Is: "floor"}
	switch {
	case hole:
		p.Wall = &spec.Wall{Radius: half, Thick: half * 0.34, Height: thick}
	case t.Side > 0:
		p.Box = &spec.Box{Size: [3]float64{2 * half, 2 * half, thick}}
	default:
		p.Cylinder = &spec.Cylinder{Radius: half, Height: thick, Sides: roundSides}
	}
	return p
}

// addTop adds the top of a tower.
func (o bodies) addTop(t *spec.Tower, half float64, g frame) {
	over := half + 0.25
	wall := g.role("wall", "stone")
	deck := towerSlab(t, over, t.Height-0.05, 0.35, wall, false)
	o.add("deck", deck)
	switch {
	case t.Top == "spire":
		roof := &spec.Roof{Form: "spire", Eaves: 0.3, Radius: over, Height: half * 2.6}
		if t.Side > 0 {
			roof.Radius, roof.Size = 0, [2]float64{2 * half, 2 * half}
		}
		o.add("roof", &spec.Part{At: []float64{0, 0, t.Height + 0.3}, Material: g.role("roof", "slate"), Roof: roof})
	case t.Top == "battlements" && t.Side > 0:
		for i := range 4 {
			a := float64(i)*90 - 90
			s, c := math.Sincos(a * math.Pi / 180)
			o.add(fmt.Sprintf("battlements-%d", i+1), &spec.Part{At: []float64{(over - 0.2) * c, (over - 0.2) * s,
				t.Height + 0.3}, Turn: a + 90,
				Material: wall, Inner: &battlements{Length: 2*over - 0.4, Thick: 0.4}})
		}
	case t.Top == "battlements":
		o.add("battlements", &spec.Part{At: []float64{0, 0, t.Height + 0.3}, Material: wall,
			Inner: &battlements{Radius: over, Thick: 0.4}})
	}
}

// towerOpenings returns the openings of a tower. Those of each floor are turned against those of the
// floor below.
func towerOpenings(t *spec.Tower, storeys int, raised float64) (out []spec.Opening) {
	level := t.Height / float64(storeys)
	if t.Door {
		front := -90.0
		door := spec.Opening{Kind: "door", Sill: &raised, Arched: true, Size: [2]float64{1.15, min(2.2,
			t.Height-raised-0.5)}}
		if t.Radius > 0 {
			door.At = &front
		}
		out = append(out, door)
	}
	for f := range storeys {
		sill := level*float64(f) + level*0.4
		if f == 0 {
			sill = max(sill, raised+2.6)
		}
		add := func(kind string, n int, turn float64) {
			if n == 0 || sill+1.3 > t.Height {
				return
			}
			o := spec.Opening{Kind: kind, Sill: &sill, Lit: t.Lit, Arched: kind == "window"}
			if t.Radius > 0 {
				start := -90 + turn
				o.Count, o.At = n, &start
				out = append(out, o)
				return
			}
			for side := range 4 {
				if share := (n + 3 - side) / 4; share > 0 {
					o.Wall, o.Count = side, share
					out = append(out, o)
				}
			}
		}
		add("slit", t.Slits, 20+float64(f)*25)
		if f > 0 {
			add("window", t.Windows, float64(f)*35)
		}
	}
	return out
}
