package build

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loregate/internal/studio/scene"
)

// Finding is a fault of a scene.
type Finding struct {
	Kind string `json:"kind" enum:"missing,intersects,floats,sunk,blocks,in_water,unreachable,unchecked"`
	Path string `json:"path" jsonschema:"The part or marker."`
	With string `json:"with,omitzero" jsonschema:"The other part."`
	Text string `json:"text" jsonschema:"The fault and a remedy."`
}

// space is the solids of a model, by the squares of the ground that they touch. Those that touch very
// many are kept apart.
type space struct {
	list   []body
	cells  map[[2]int][]int
	large  []int
	budget int // squares and solids that may still be looked at
}

// The bounds of a space: looked is the number of squares and solids that one description or check may
// look at, which takes about two seconds; manyCells is the number of squares of a large solid.
const (
	looked    = 30_000_000
	manyCells = 2_000
)

// body is a solid with the thing that it belongs to: the outermost one, and its node's own.
type body struct {
	Solid
	outer, thing int
	low, high    scene.Vec
	large        bool
}

const spaceCell = 4.0

func spaceCells(low, high scene.Vec) (x0, y0, x1, y1 int) {
	cell := func(v float64) int { return int(math.Floor(v / spaceCell)) }
	return cell(low[0]), cell(low[1]), cell(high[0]), cell(high[1])
}

// newSpace collects the solids of the model.
func (m *Model) newSpace() *space {
	s := &space{cells: map[[2]int][]int{}, budget: looked}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if n.Thing < 0 {
			continue
		}
		outer := n.Thing
		for m.Things[outer].Inside >= 0 {
			outer = m.Things[outer].Inside
		}
		for _, one := range n.solids() {
			b := body{Solid: one, outer: outer, thing: n.Thing}
			sin, cos := math.Sincos(one.Turn)
			hx := math.Abs(one.Half[0]*cos) + math.Abs(one.Half[1]*sin)
			hy := math.Abs(one.Half[0]*sin) + math.Abs(one.Half[1]*cos)
			half := scene.Vec{hx, hy, one.Half[2]}
			b.low, b.high = one.Middle.Sub(half), one.Middle.Add(half)
			s.list = append(s.list, b)
		}
	}
	for i, b := range s.list {
		x0, y0, x1, y1 := spaceCells(b.low, b.high)
		if (x1-x0+1)*(y1-y0+1) > manyCells {
			s.large, s.list[i].large = append(s.large, i), true
			continue
		}
		for x := x0; x <= x1; x++ {
			for y := y0; y <= y1; y++ {
				s.cells[[2]int{x, y}] = append(s.cells[[2]int{x, y}], i)
			}
		}
	}
	return s
}

// near calls f with the bodies whose boxes touch a box, each once, until f returns false or the budget
// is used up.
func (s *space) near(low, high scene.Vec, f func(i int, b *body) bool) {
	test := func(i int) bool {
		s.budget--
		b := &s.list[i]
		if b.low[0] > high[0] || b.high[0] < low[0] || b.low[1] > high[1] || b.high[1] < low[1] ||
			b.low[2] > high[2] || b.high[2] < low[2] {
			return true
		}
		return f(i, b)
	}
	for _, i := range s.large {
		if s.budget <= 0 || !test(i) {
			return
		}
	}
	x0, y0, x1, y1 := spaceCells(low, high)
	if (x1-x0+1)*(y1-y0+1) > manyCells {
		s.nearAll(test)
		return
	}
	seen := map[int]bool{}
	for x := x0; x <= x1; x++ {
		for y := y0; y <= y1; y++ {
			s.budget--
			for _, i := range s.cells[[2]int{x, y}] {
				if s.budget <= 0 {
					return
				}
				if seen[i] {
					continue
				}
				seen[i] = true
				if !test(i) {
					return
				}
			}
		}
	}
}

// nearAll tests all bodies that are not large.
func (s *space) nearAll(test func(i int) bool) {
	for i := range s.list {
		if s.budget <= 0 || !s.list[i].large && !test(i) {
			return
		}
	}
}

// overlap returns the depth by which two solids overlap; 0 or less if they do not.
func overlap(a, b Solid) float64 {
	depth := math.Min(a.Middle[2]+a.Half[2], b.Middle[2]+b.Half[2]) - math.Max(a.Middle[2]-a.Half[2],
		b.Middle[2]-b.Half[2])
	d := b.Middle.Sub(a.Middle)
	for _, turn := range []float64{a.Turn, a.Turn + math.Pi/2, b.Turn, b.Turn + math.Pi/2} {
		sin, cos := math.Sincos(turn)
		reach := func(s Solid) float64 {
			sn, cs := math.Sincos(turn - s.Turn)
			return s.Half[0]*math.Abs(cs) + s.Half[1]*math.Abs(sn)
		}
		depth = math.Min(depth, reach(a)+reach(b)-math.Abs(d[0]*cos+d[1]*sin))
	}
	return depth
}

// hides reports whether other things hide a thing from a point: its middle and its upper middle.
func (s *space) hides(from scene.Vec, box scene.Box3, thing int) bool {
	middle := middleOf(box)
	top := middle
	top[2] = box.High[2] - (box.High[2]-box.Low[2])*0.1
	for _, to := range []scene.Vec{middle, top} {
		if !s.crosses(from, to, thing) {
			return false
		}
	}
	return true
}

// crosses reports whether the line between two points meets a solid of another thing.
func (s *space) crosses(from, to scene.Vec, thing int) bool {
	d := to.Sub(from)
	steps := max(int(math.Hypot(d[0], d[1])/spaceCell)+1, 1)
	tested := map[int]bool{}
	for k := range steps {
		a, b := from.Add(d.Mul(float64(k)/float64(steps))), from.Add(d.Mul(float64(k+1)/float64(steps)))
		low, high := a, a
		for i := range low {
			low[i], high[i] = min(a[i], b[i]), max(a[i], b[i])
		}
		hit := false
		s.near(low, high, func(i int, b *body) bool {
			if !tested[i] && b.outer != thing {
				hit = lineMeets(from, d, b.Solid)
			}
			tested[i] = true
			return !hit
		})
		if hit {
			return true
		}
	}
	return false
}

// lineMeets reports whether a line meets a solid, by clipping it against the solid's slabs.
func lineMeets(from, d scene.Vec, s Solid) bool {
	p, q := from.Sub(s.Middle).Turned(-s.Turn), d.Turned(-s.Turn)
	near, far := 0.0, 1.0
	for i := range 3 {
		if math.Abs(q[i]) < 1e-9 {
			if math.Abs(p[i]) > s.Half[i] {
				return false
			}
			continue
		}
		a, b := (-s.Half[i]-p[i])/q[i], (s.Half[i]-p[i])/q[i]
		near, far = max(near, min(a, b)), min(far, max(a, b))
	}
	return near <= far
}

// Tolerances of the checks, in metres: overlaps of touching bodies, and gaps below standing ones.
const (
	closeEnough = 0.12
	doorDepth   = 0.9 // free space in front of a door and behind it
)

// maxFindings bounds the findings of each kind.
const maxFindings = 50

// Check finds the faults of the model: things that intersect, float, are sunk in the ground, block a
// door or stand in water, and markers that cannot be reached from the first spawn marker.
func (m *Model) Check() []Finding {
	space := m.newSpace()
	all := []Finding{}
	for _, list := range [][]Finding{m.findMissing(), m.findOverlaps(space), m.findFloating(space), m.findBlockedDoors(space),
		m.findWet(),
		m.findUnreachable(space), m.findBuriedCameras()} {
		all = append(all, list[:min(len(list), maxFindings)]...)
	}
	if space.budget <= 0 {
		all = append(all, Finding{Kind: "unchecked",
			Text: "the scene is too large to check all of it; check its parts as scenes of their own"})
	}
	return all
}

// findMissing compares the counts of things with those that the scene must show.
func (m *Model) findMissing() (out []Finding) {
	counts := m.Counts()
	for _, noun := range sortedKeys(m.shows) {
		if have, want := counts[noun], m.shows[noun]; have != want {
			out = append(out, Finding{Kind: "missing", Path: noun,
				Text: fmt.Sprintf("the scene has %d of %d; change its parts, or what it shows", have, want)})
		}
	}
	return out
}

func (m *Model) findOverlaps(s *space) (out []Finding) {
	done := map[[2]int]bool{}
	for i := range s.list {
		a := &s.list[i]
		s.near(a.low, a.high, func(k int, b *body) bool {
			pair := [2]int{min(a.outer, b.outer), max(a.outer, b.outer)}
			if k > i && a.outer != b.outer && !done[pair] {
				if depth := overlap(a.Solid, b.Solid); depth > closeEnough {
					done[pair] = true
					out = append(out, Finding{"intersects", m.Things[pair[0]].Path, m.Things[pair[1]].Path,
						fmt.Sprintf("they overlap by %.2f m; move one of them, or mark it as ghost", depth)})
				}
			}
			return len(out) < 4*maxFindings
		})
	}
	sortFindings(out)
	return out
}

func sortFindings(list []Finding) {
	slices.SortFunc(list, func(a, b Finding) int {
		return strings.Compare(a.Path+"\x00"+a.With,
			b.Path+"\x00"+b.With)
	})
}

// hangs reports whether things of this noun need nothing below them.
func hangs(noun string) bool {
	return slices.Contains([]string{"torch", "banner", "sign", "cloud", "bird", "chandelier", "roof", "vault",
		"ceiling"}, noun)
}

// findFloating finds things without a support, and things that the ground buries.
func (m *Model) findFloating(s *space) (out []Finding) {
	for _, i := range m.outer() {
		t := m.Things[i]
		foot := t.Box.Low[2]
		ground := m.highestGround(t.Box)
		lowest := m.lowestGround(t.Box)
		level, wet := m.water(t.At[0], t.At[1])
		switch {
		case hangs(t.Kind) || wet && foot <= level+closeEnough:
		case t.Box.High[2] < lowest:
			out = append(out, Finding{"sunk", t.Path, "",
				fmt.Sprintf("the ground is %.2f m above its top; raise it", lowest-t.Box.High[2])})
		case foot > ground+closeEnough && !m.isSupported(s, i, foot):
			out = append(out, Finding{"floats", t.Path, "",
				fmt.Sprintf("nothing is below it for %.2f m; lower it, or put something under it", foot-ground)})
		}
	}
	return out
}

// corners of a box from above, and its middle.
func boxPoints(b scene.Box3) [][2]float64 {
	c := middleOf(b)
	return [][2]float64{{b.Low[0], b.Low[1]}, {b.High[0], b.Low[1]}, {b.High[0], b.High[1]}, {b.Low[0],
		b.High[1]}, {c[0], c[1]}}
}

func (m *Model) highestGround(b scene.Box3) float64 {
	h := math.Inf(-1)
	for _, p := range boxPoints(b) {
		h = max(h, m.height(p[0], p[1]))
	}
	return h
}

func (m *Model) lowestGround(b scene.Box3) float64 {
	h := math.Inf(1)
	for _, p := range boxPoints(b) {
		h = min(h, m.height(p[0], p[1]))
	}
	return h
}

// isSupported reports whether a solid of another thing ends at the foot of a thing or around it.
func (m *Model) isSupported(s *space, thing int, foot float64) bool {
	box, found := m.Things[thing].Box, false
	low, high := box.Low, box.High
	low[2], high[2] = foot-closeEnough, foot+0.4
	s.near(low, high, func(_ int, b *body) bool {
		found = b.outer != thing
		return !found
	})
	return found
}

// findBuriedCameras finds cameras in the ground.
func (m *Model) findBuriedCameras() (out []Finding) {
	for _, c := range m.Cameras {
		if m.relief == nil {
			continue
		}
		if h := m.height(c.Location[0], c.Location[1]); c.Location[2] < h+0.1 {
			out = append(out, Finding{Kind: "sunk", Path: "camera." + c.Name,
				Text: fmt.Sprintf("the ground is at %.1f m there; raise the camera above it", h)})
		}
	}
	return out
}

// findBlockedDoors finds things in front of doors and behind them.
func (m *Model) findBlockedDoors(s *space) (out []Finding) {
	for i, t := range m.Things {
		if t.width == 0 || t.width < 0.5 {
			continue
		}
		for _, side := range []float64{1, -1} {
			sin, cos := math.Sincos(t.Front)
			middle := t.At.Add(scene.Vec{cos, sin}.Mul(side * (doorDepth/2 + 0.45)))
			middle[2] += 1.1
			room := Solid{Middle: middle, Half: scene.Vec{t.width * 0.4, doorDepth / 2, 0.55},
				Turn: t.Front + math.Pi/2}
			reach := scene.Vec{t.width, t.width + doorDepth, 0.55}
			s.near(middle.Sub(reach), middle.Add(reach), func(_ int, b *body) bool {
				if b.thing == i || overlap(room, b.Solid) < 0.1 {
					return true
				}
				out = append(out, Finding{"blocks", m.Things[b.outer].Path, t.Path,
					fmt.Sprintf("%s stands in the way of the door; move it", m.Things[b.thing].Path)})
				return false
			})
		}
	}
	sortFindings(out)
	return slices.Compact(out)
}

// swims reports whether things of this noun belong in water.
func swims(noun string) bool {
	return slices.Contains([]string{"boat", "ship", "bridge", "pier", "quay", "jetty", "reed", "rock", "post",
		"pool", "wall", "arch", "column", "causeway"}, noun)
}

// findWet finds things that stand in the scene's water.
func (m *Model) findWet() (out []Finding) {
	for _, i := range m.outer() {
		t := m.Things[i]
		c := middleOf(t.Box)
		if t.Body == "plant" {
			c = t.At // crowns may be above water
		}
		level, wet := m.water(c[0], c[1])
		if wet && !swims(t.Kind) && m.height(c[0], c[1]) < level-0.05 && t.Box.Low[2] < level-0.05 {
			out = append(out, Finding{"in_water", t.Path, "",
				fmt.Sprintf("the water is %.2f m deep there; move it to dry land", level-m.height(c[0], c[1]))})
		}
	}
	return out
}
