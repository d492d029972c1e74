package build

import (
	"fmt"
	"math"
	"slices"

	"loregate/internal/studio/spec"
)

// planWall is one straight wall of a floor plan, between points where rooms or walls begin or end.
type planWall struct {
	a, b     [2]float64
	openings []spec.Opening
}

// addPlan adds the walls of a floor plan, its doors and windows, and a floor for each room.
func (o bodies) addPlan(p *spec.Plan, g frame) error {
	walls := planWalls(p)
	for i, d := range p.Doors {
		if err := placeDoor(walls, p, d, i); err != nil {
			return err
		}
	}
	for i, w := range p.Windows {
		if err := placeWindows(walls, p, w, i); err != nil {
			return err
		}
	}
	used := map[string]int{}
	for i, w := range walls {
		wall := &spec.Wall{Along: [][2]float64{w.a, w.b}, Height: p.Height, Thick: p.Thick, Openings: w.openings}
		one := bodies{}
		if err := one.addWall("", wall, g, used); err != nil {
			return err
		}
		for name, part := range one {
			if name == "wall-1" {
				name = fmt.Sprintf("wall-%d", i+1)
				lengthen(part.Inner.(*panel), p.Thick)
			}
			o.add(name, part)
		}
	}
	for _, name := range sortedKeys(p.Rooms) {
		r := p.Rooms[name]
		slab := &spec.Box{Size: [3]float64{r[2] - r[0], r[3] - r[1], 0.2}}
		at := []float64{(r[0] + r[2]) / 2, (r[1] + r[3]) / 2, -0.17}
		o.add("floor-"+name, &spec.Part{Is: "room", At: at, Material: g.role("floor", "timber"), Box: slab})
		if p.Ceiling {
			o.add("ceiling-"+name, &spec.Part{At: []float64{at[0], at[1], p.Height}, Material: g.role("ceiling",
				"plaster"), Box: slab})
		}
	}
	return nil
}

// lengthen makes a wall reach to the outer sides of the walls that it meets.
func lengthen(p *panel, thick float64) {
	p.Length += thick
	for i := range p.Holes {
		p.Holes[i].U0 += thick / 2
		p.Holes[i].U1 += thick / 2
	}
}

// planWalls returns the walls around all rooms; a wall between two rooms occurs once. Walls that run
// along X come first. A wall's outer side is on the right of its direction.
func planWalls(p *spec.Plan) []*planWall {
	var walls []*planWall
	for axis := range 2 {
		lines := map[float64][][2]float64{}
		for _, name := range sortedKeys(p.Rooms) {
			r := p.Rooms[name]
			for _, c := range []float64{r[1-axis], r[3-axis]} {
				c = math.Round(c*100) / 100
				lines[c] = append(lines[c], [2]float64{r[axis], r[axis+2]})
			}
		}
		for _, c := range sortedNumbers(lines) {
			for _, span := range splitSpans(lines[c]) {
				w := &planWall{a: [2]float64{span[0], c}, b: [2]float64{span[1], c}}
				if axis == 1 {
					w.a, w.b = [2]float64{c, span[0]}, [2]float64{c, span[1]}
				}
				walls = append(walls, w)
			}
		}
	}
	return walls
}

func sortedNumbers(m map[float64][][2]float64) []float64 {
	out := make([]float64, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// splitSpans divides the union of spans at all their ends.
func splitSpans(spans [][2]float64) (out [][2]float64) {
	var ends []float64
	for _, s := range spans {
		ends = append(ends, s[0], s[1])
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for i := 1; i < len(ends); i++ {
		mid := (ends[i-1] + ends[i]) / 2
		if slices.ContainsFunc(spans, func(s [2]float64) bool { return s[0] < mid && mid < s[1] }) {
			out = append(out, [2]float64{ends[i-1], ends[i]})
		}
	}
	return out
}

// isOn reports whether the wall is on a side of a room.
func (w *planWall) isOn(r [4]float64, side string) bool {
	axis, c := 0, r[1]
	switch side {
	case "north":
		c = r[3]
	case "west":
		axis, c = 1, r[0]
	case "east":
		axis, c = 1, r[2]
	}
	const close = 0.011
	other := 1 - axis
	return math.Abs(w.a[other]-c) < close && math.Abs(w.b[other]-c) < close &&
		w.a[axis] >= r[axis]-close && w.b[axis] <= r[axis+2]+close
}

var planSides = []string{"south", "east", "north", "west"}

func (w *planWall) length() float64 { return math.Hypot(w.b[0]-w.a[0], w.b[1]-w.a[1]) }

// placeDoor puts a door into the longest wall between two rooms.
func placeDoor(walls []*planWall, p *spec.Plan, d spec.PlanDoor, i int) error {
	field := fmt.Sprintf("plan.doors[%d]", i)
	first, second := d.Between[0], d.Between[1]
	if first == "outside" {
		first, second = second, first
	}
	a, known := p.Rooms[first]
	b, both := p.Rooms[second]
	if !known || !both && second != "outside" {
		return badWall(field, "between %q and %q: name two rooms of the plan, or a room and outside", first, second)
	}
	var best *planWall
	for _, w := range walls {
		for _, side := range planSides {
			if !w.isOn(a, side) || second == "outside" && side != d.Side {
				continue
			}
			joins := second == "outside" || slices.ContainsFunc(planSides, func(s string) bool {
				return w.isOn(b,
					s)
			})
			if joins && (best == nil || w.length() > best.length()) {
				best = w
			}
		}
	}
	if best == nil {
		return badWall(field, "%q and %q have no common wall; move the rooms so that they touch", first, second)
	}
	best.openings = append(best.openings, spec.Opening{Kind: d.Kind, Size: d.Size})
	return nil
}

// placeWindows puts a row of windows into the longest wall on a side of a room.
func placeWindows(walls []*planWall, p *spec.Plan, row spec.PlanWindows, i int) error {
	field := fmt.Sprintf("plan.windows[%d]", i)
	r, ok := p.Rooms[row.Room]
	if !ok {
		return badWall(field, "there is no room %q", row.Room)
	}
	var best *planWall
	for _, w := range walls {
		if w.isOn(r, row.Side) && (best == nil || w.length() > best.length()) {
			best = w
		}
	}
	if best == nil {
		return badWall(field, "the %s side of %q has no wall of its own", row.Side, row.Room)
	}
	best.openings = append(best.openings, spec.Opening{Kind: "window", Count: row.Count, Lit: row.Lit})
	return nil
}
