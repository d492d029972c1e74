package build

import (
	"fmt"
	"math"

	"loregate/internal/fault"
	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// members returns the positions of the members of a repeat, except those of a scatter.
func members(r *spec.Repeat) (out []member) {
	switch {
	case r.Row != nil:
		for i := range r.Row.Count {
			out = append(out, member{at: pointOf(r.Row.Step).Mul(float64(i))})
		}
	case r.Ring != nil:
		return ringMembers(r.Ring)
	case r.Grid != nil:
		g := r.Grid
		for y := range g.Rows {
			for x := range g.Columns {
				out = append(out, member{at: scene.Vec{(float64(x) - float64(g.Columns-1)/2) * g.Step[0],
					(float64(y) - float64(g.Rows-1)/2) * g.Step[1]}})
			}
		}
	case r.Along != nil:
		return alongMembers(r.Along, r.Size())
	}
	return out
}

func ringMembers(r *spec.Ring) (out []member) {
	steps := float64(r.Count)
	if r.Arc < 360 {
		steps = max(steps-1, 1)
	}
	for i := range r.Count {
		a := (r.Start + r.Arc*float64(i)/steps) * math.Pi / 180
		m := member{at: scene.Vec{r.Radius * math.Cos(a), r.Radius * math.Sin(a)}}
		switch r.Face {
		case "in":
			m.turn = a - math.Pi/2
		case "out":
			m.turn = a + math.Pi/2
		}
		out = append(out, m)
	}
	return out
}

// alongMembers places members along a path. On both sides, their fronts face the path.
func alongMembers(l *spec.Along, count int) (out []member) {
	length := spec.PathLength(l.Path)
	step := l.Every
	slots := count
	if l.Sides {
		slots = (count + 1) / 2
	}
	if step == 0 {
		step = length / max(float64(slots-1), 1)
	}
	for i := range count {
		k, side := i, 1.0
		if l.Sides {
			k, side = i/2, 1-2*float64(i%2)
		}
		at, turn := pathPoint(l.Path, min(float64(k)*step, length))
		left := scene.Vec{-math.Sin(turn), math.Cos(turn)}
		m := member{at: at.Add(left.Mul(l.Offset * side)), turn: turn}
		if l.Sides && side < 0 {
			m.turn += math.Pi
		}
		out = append(out, m)
	}
	return out
}

// pathPoint returns the point of a path at a distance from its start, and the direction there.
func pathPoint(path [][2]float64, away float64) (scene.Vec, float64) {
	for i := 1; ; i++ {
		dx, dy := path[i][0]-path[i-1][0], path[i][1]-path[i-1][1]
		length := math.Hypot(dx, dy)
		if away <= length || i == len(path)-1 {
			t := 0.0
			if length > 0 {
				t = min(away/length, 1)
			}
			return scene.Vec{path[i-1][0] + dx*t, path[i-1][1] + dy*t}, math.Atan2(dy, dx)
		}
		away -= length
	}
}

// triesPerMember is the number of spots that are tried for each member of a scatter.
const triesPerMember = 30

// scatterPart places the members of a scatter at free spots. It is called when all other parts stand.
func (b *maker) scatterPart(path string, p *spec.Part, f frame) error {
	s := p.Repeat.Scatter
	rnd := noise.NewSource(f.seed, path)
	if b.standing == nil {
		b.standing, b.scattered = b.newSpace(), &discs{map[[2]int][]disc{}}
	}
	n := p.Repeat.Size()
	for i := range n {
		at, world, ok := b.findSpot(s, p, f, rnd)
		if !ok {
			b.Warnings = append(b.Warnings,
				fmt.Sprintf("%s: there was room for %d of %d; enlarge its area, or lower apart", path, i, n))
			return nil
		}
		b.scattered.add(disc{world[0], world[1], s.Apart})
		if err := b.addMember(path, p, f, member{at: at, turn: rnd.Between(0, 2*math.Pi)}, i); err != nil {
			return err
		}
	}
	return nil
}

// findSpot finds a free spot for a member of a scatter.
func (b *maker) findSpot(s *spec.Scatter, p *spec.Part, f frame, rnd *noise.Source) (at, world scene.Vec, ok bool) {
	for range triesPerMember {
		at = scene.Vec{rnd.Between(s.Area[0], s.Area[2]), rnd.Between(s.Area[1], s.Area[3])}
		world = f.at.Add(at.Add(pointOf(p.At)).Mul(f.scale).Turned(f.turn))
		if f.top {
			world[2] += b.height(world[0], world[1])
		}
		if !b.scattered.hits(world, s.Apart) && !b.isAvoided(s, at, world) && !b.standing.touches(world, s.Apart) {
			return at, world, true
		}
	}
	return at, world, false
}

// touches reports whether a solid is less than a distance from a point on the ground, above the floor.
func (s *space) touches(at scene.Vec, apart float64) (hit bool) {
	reach := scene.Vec{apart, apart}
	low, high := at.Sub(reach), at.Add(reach)
	low[2], high[2] = at[2]+0.1, at[2]+2
	s.near(low, high, func(_ int, b *body) bool {
		d := at.Sub(b.Middle).Turned(-b.Turn)
		hit = math.Hypot(max(math.Abs(d[0])-b.Half[0], 0), max(math.Abs(d[1])-b.Half[1], 0)) < apart
		return !hit
	})
	return hit
}

func (b *maker) isAvoided(s *spec.Scatter, at, world scene.Vec) bool {
	for _, d := range s.Avoid {
		if math.Hypot(at[0]-d[0], at[1]-d[1]) < d[2] {
			return true
		}
	}
	if b.scene.Ground == nil {
		return false
	}
	if slopeAt(b.height, world[0], world[1]) > s.Slope {
		return true
	}
	for _, way := range b.scene.Ground.Paths {
		if wayDistance(way.Along, world) < way.Width/2+0.4 {
			return true
		}
	}
	level, wet := b.water(world[0], world[1])
	return wet && b.height(world[0], world[1]) < level
}

// wayDistance returns the distance of a point from a chain of points, from above.
func wayDistance(path [][2]float64, v scene.Vec) float64 {
	best := math.Inf(1)
	for i := 1; i < len(path); i++ {
		dx, dy := path[i][0]-path[i-1][0], path[i][1]-path[i-1][1]
		t := 0.0
		if l := dx*dx + dy*dy; l > 0 {
			t = min(max(((v[0]-path[i-1][0])*dx+(v[1]-path[i-1][1])*dy)/l, 0), 1)
		}
		best = min(best, math.Hypot(path[i-1][0]+dx*t-v[0], path[i-1][1]+dy*t-v[1]))
	}
	return best
}

// discs is a set of occupied areas of scattered things, by the square of the ground of their middle.
type discs struct{ cells map[[2]int][]disc }

type disc struct{ x, y, apart float64 }

const discCell = 8.0

func discCellOf(x float64) int { return int(math.Floor(x / discCell)) }

func (d *discs) add(one disc) {
	key := [2]int{discCellOf(one.x), discCellOf(one.y)}
	d.cells[key] = append(d.cells[key], one)
}

// hits reports whether a point is nearer to a thing than either of them allows.
func (d *discs) hits(at scene.Vec, apart float64) bool {
	reach := max(apart, discCell)
	for x := discCellOf(at[0] - reach); x <= discCellOf(at[0]+reach); x++ {
		for y := discCellOf(at[1] - reach); y <= discCellOf(at[1]+reach); y++ {
			for _, o := range d.cells[[2]int{x, y}] {
				if math.Hypot(o.x-at[0], o.y-at[1]) < max(min(o.apart, discCell), apart) {
					return true
				}
			}
		}
	}
	return false
}

// addMarkers places the markers; those without a height stand on the ground.
func (b *maker) addMarkers() error {
	for _, name := range sortedKeys(b.scene.Markers) {
		m := b.scene.Markers[name]
		at := pointOf(m.At)
		if len(m.At) == 2 {
			at[2] = b.height(at[0], at[1])
		}
		b.Markers = append(b.Markers, Marker{Name: name, Kind: m.Kind, Note: m.Note, At: at,
			Turn: m.Turn * math.Pi / 180})
	}
	return nil
}

// addCameras places the cameras. Without one, a camera shows the whole scene.
func (b *maker) addCameras() error {
	cameras := b.scene.Cameras
	if len(cameras) == 0 {
		cameras = map[string]spec.Camera{"main": {Lens: 35, Main: true}}
	}
	for _, name := range sortedKeys(cameras) {
		c := cameras[name]
		t, err := b.aimCamera(name, c)
		if err != nil {
			return err
		}
		made := Camera{name, c.Lens, t}
		if c.Main {
			b.Cameras = append([]Camera{made}, b.Cameras...)
		} else {
			b.Cameras = append(b.Cameras, made)
		}
	}
	return nil
}

func (b *maker) aimCamera(name string, c spec.Camera) (t scene.Transform, err error) {
	box := b.bounds
	if c.LookAt != "" {
		i, ok := b.anchors[c.LookAt]
		if !ok {
			return t, fault.BadField("cameras."+name+".look_at",
				"there is no part %q in the scene that was built; scene_describe lists all", c.LookAt)
		}
		box = b.Things[i].Box
	}
	look := box.Low.Add(box.High).Mul(0.5)
	if c.Look != nil {
		look = pointOf(c.Look)
	}
	if c.At != nil {
		at := pointOf(c.At)
		return scene.Transform{Location: at, Rotation: scene.LookAt(at, look)}, nil
	}
	from := scene.Vec{0.4, -1, 0.35}
	if c.From != nil {
		from = pointOf(c.From)
	}
	if from.Len() < 0.01 {
		return t, fault.BadField("cameras."+name+".from", "has no direction; give one such as [0.4, -1, 0.35]")
	}
	if box.High.Sub(box.Low).Len() < 0.5 {
		box.Grow(look.Add(scene.Vec{2, 2, 2}))
		box.Grow(look.Sub(scene.Vec{2, 2, 0}))
	}
	t = scene.Frame(box, from, c.Lens)
	if low := b.height(t.Location[0], t.Location[1]) + 1.2; t.Location[2] < low {
		t.Location[2] = low
		t.Rotation = scene.LookAt(t.Location, look)
	}
	return t, nil
}
