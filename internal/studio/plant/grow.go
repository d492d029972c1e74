package plant

import (
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// MaxLeaves bounds the leaves of a plant.
const MaxLeaves = 9000

// The seasons.
const (
	Summer = "summer"
	Autumn = "autumn"
	Winter = "winter" // without the leaves that fall
)

// Plant is a plant that was grown: it stands on the origin.
type Plant struct {
	Mesh      scene.Mesh
	Materials []string
	Trunk     float64 // radius of the part that stops people; 0: none
	Height    float64
}

// Grow grows a plant of a known kind. A height of 0 is one that is usual for the kind. Full is the
// fraction of the leaves that grow, from 0 to 1; those that are left are larger.
func Grow(kind string, height float64, season string, seed uint64, full float64) *Plant {
	g := &grower{rnd: noise.NewSource(seed, kind), season: season, full: full}
	if s, ok := small[kind]; ok {
		height = g.chooseHeight(height, s.low, s.high)
		s.grow(g, height)
	} else {
		s := trees[kind]
		height = g.chooseHeight(height, s.low, s.high)
		g.growTree(&s, height)
	}
	g.out.Height = height
	return &g.out
}

// grower grows one plant.
type grower struct {
	out    Plant
	rnd    *noise.Source
	season string
	full   float64
	leaves int
}

func (g *grower) chooseHeight(given, low, high float64) float64 {
	usual := g.rnd.Between(low, high)
	if given > 0 {
		return given * (0.9 + 0.2*(usual-low)/(high-low))
	}
	return usual
}

// slot returns the slot of a material.
func (g *grower) slot(name string) int {
	for i, m := range g.out.Materials {
		if m == name {
			return i
		}
	}
	g.out.Materials = append(g.out.Materials, name)
	return len(g.out.Materials) - 1
}

// limb is a grown branch: its points with directions.
type limb struct {
	at, dir []scene.Vec
	length  float64
	radius  float64
}

// point returns the point at a fraction of the limb, and the direction there.
func (l *limb) point(t float64) (at, dir scene.Vec) {
	x := t * float64(len(l.at)-1)
	i := min(int(x), len(l.at)-2)
	f := x - float64(i)
	return l.at[i].Add(l.at[i+1].Sub(l.at[i]).Mul(f)), l.dir[i]
}

func unit(v scene.Vec) scene.Vec {
	if l := v.Len(); l > 1e-9 {
		return v.Mul(1 / l)
	}
	return scene.Vec{0, 0, 1}
}

// sideways returns two unit vectors that are perpendicular to a direction and to each other.
func sideways(dir scene.Vec) (a, b scene.Vec) {
	a = dir.Cross(scene.Vec{0, 0, 1})
	if a.Len() < 0.05 {
		a = scene.Vec{1, 0, 0}
	}
	a = unit(a)
	return a, unit(dir.Cross(a))
}

// growLimb grows a limb and its bark: a tube that becomes thinner towards its end.
func (g *grower) growLimb(at, dir scene.Vec, length, radius float64, steps, sides int, lift, wobble float64,
	bark string) *limb {
	l := &limb{length: length, radius: radius}
	slot, base := g.slot(bark), len(g.out.Mesh.V)
	dir = unit(dir)
	m := &g.out.Mesh
	for i := range steps + 1 {
		l.at, l.dir = append(l.at, at), append(l.dir, dir)
		a, b := sideways(dir)
		r := radius * (1 - 0.86*float64(i)/float64(steps))
		for k := range sides {
			s, c := math.Sincos(2 * math.Pi * float64(k) / float64(sides))
			m.V = append(m.V, at.Add(a.Mul(r*c)).Add(b.Mul(r*s)))
		}
		at = at.Add(dir.Mul(length / float64(steps)))
		w := scene.Vec{g.rnd.Between(-1, 1), g.rnd.Between(-1, 1), g.rnd.Between(-1, 1)}.Mul(wobble)
		dir = unit(dir.Add(w).Add(scene.Vec{0, 0, lift * 2 / float64(steps)}))
	}
	run := length / scene.TileMetres
	for i := range steps {
		for k := range sides {
			p, q := base+i*sides+k, base+i*sides+(k+1)%sides
			u0, u1 := float64(k)/float64(sides), float64(k+1)/float64(sides)
			v0, v1 := run*float64(i)/float64(steps), run*float64(i+1)/float64(steps)
			m.F = append(m.F, scene.Face{V: []int{p, q, q + sides, p + sides}, Smooth: true, Slot: slot,
				UV: [][2]float64{{u0, v0}, {u1, v0}, {u1, v1}, {u0, v1}}})
		}
	}
	return l
}

// addBlade adds a leaf from its foot: four corners, bent a little along its middle.
func (g *grower) addBlade(at, dir, flat scene.Vec, long, wide float64, slot int) {
	if g.leaves >= MaxLeaves {
		return
	}
	g.leaves++
	side := unit(dir.Cross(flat)).Mul(wide / 2)
	middle := at.Add(dir.Mul(long * 0.45))
	m := &g.out.Mesh
	n := len(m.V)
	m.V = append(m.V, at, middle.Add(side), at.Add(dir.Mul(long)).Add(flat.Mul(-0.12*long)), middle.Sub(side))
	m.F = append(m.F, scene.Face{V: []int{n, n + 1, n + 2, n + 3}, Slot: slot})
}

// direction returns a random unit vector that leans towards one.
func (g *grower) direction(towards scene.Vec, lean float64) scene.Vec {
	return unit(scene.Vec{g.rnd.Between(-1, 1), g.rnd.Between(-1, 1), g.rnd.Between(-1, 1)}.Add(towards.Mul(lean)))
}

// thin returns the number of leaves that grow of n, and by how much they are larger.
func (g *grower) thin(n int) (left int, larger float64) {
	if g.full >= 1 || n == 0 {
		return n, 1
	}
	left = max(int(math.Round(float64(n)*g.full)), 1)
	return left, math.Sqrt(float64(n) / float64(left))
}

// colors returns the materials of the leaves in the season; none if there are no leaves.
func (g *grower) colors(l blade) []string {
	switch {
	case l.autumn == nil || g.season == Summer || g.season == "":
		return l.colors
	case g.season == Autumn:
		return l.autumn
	}
	return nil
}

const goldenAngle = 2.399963

// growTree grows trunk, boughs, branches and leaves.
func (g *grower) growTree(s *species, height float64) {
	foot := height * s.girth
	g.out.Trunk = foot * 1.2
	lean := scene.Vec{g.rnd.Between(-0.05, 0.05), g.rnd.Between(-0.05, 0.05), 1}
	trunk := g.growLimb(scene.Vec{0, 0, -0.25}, lean, height*0.93+0.25, foot, 9, 9, 0.1, s.wobble*0.28, s.bark)
	g.addRoots(foot, s.bark)
	turn := g.rnd.Between(0, 2*math.Pi)
	colors := g.colors(s.leaf)
	for i := range s.boughs {
		t := (float64(i) + g.rnd.Between(0.1, 0.9)) / float64(s.boughs)
		a := turn + float64(i)*goldenAngle + g.rnd.Between(-0.3, 0.3)
		if s.whorls {
			ring := i / 6
			t = (float64(ring) + g.rnd.Between(0.3, 0.5)) / float64(s.boughs/6)
			a = turn + float64(i%6)*math.Pi/3 + float64(ring)*0.55 + g.rnd.Between(-0.12, 0.12)
		}
		at, up := trunk.point(s.clear + (1-s.clear)*t*0.98)
		out := scene.Vec{math.Cos(a), math.Sin(a), 0}
		angle := s.angle[0] + (s.angle[1]-s.angle[0])*t + g.rnd.Between(-0.1, 0.1)
		dir := unit(up.Mul(math.Cos(angle)).Add(out.Mul(math.Sin(angle))))
		length := height * s.spread * s.form(t) * g.rnd.Between(0.82, 1.12)
		radius := min(foot*0.42*(1-0.6*t), length*0.05)
		if s.forks == 0 {
			g.growFrond(s, at, dir, length, radius, colors)
			continue
		}
		bough := g.growLimb(at, dir, length, radius, 5, 5, s.lift, s.wobble, s.bark)
		g.growForks(s, bough, height, colors)
	}
}

// addRoots widens the foot of a trunk.
func (g *grower) addRoots(foot float64, bark string) {
	for i := range 5 {
		a := float64(i)*2*math.Pi/5 + g.rnd.Between(-0.3, 0.3)
		out := scene.Vec{math.Cos(a), math.Sin(a), 0}
		g.growLimb(out.Mul(foot*0.35).Add(scene.Vec{0, 0, foot * 1.1}), out.Add(scene.Vec{0, 0, -0.75}), foot*2.6,
			foot*0.5, 2, 5, 0, 0.05, bark)
	}
}

// growForks grows the branches of a bough with their leaves.
func (g *grower) growForks(s *species, bough *limb, height float64, colors []string) {
	for k := range s.forks {
		t := 0.35 + 0.65*(float64(k)+g.rnd.Between(0.2, 0.9))/float64(s.forks)
		at, dir := bough.point(t)
		a, b := sideways(dir)
		turn := float64(k)*goldenAngle + g.rnd.Between(-0.5, 0.5)
		side := a.Mul(math.Cos(turn)).Add(b.Mul(math.Sin(turn)))
		away := unit(dir.Mul(0.75).Add(side.Mul(0.8)))
		length := bough.length * g.rnd.Between(0.34, 0.55)
		branch := g.growLimb(at, away, length, bough.radius*0.45, 3, 3, s.lift, s.wobble, s.bark)
		g.addLeaves(s, branch, colors)
		if s.hang > 0 && colors != nil {
			g.growStrands(s, branch, height, colors)
		}
	}
}

// addLeaves adds leaves around a branch.
func (g *grower) addLeaves(s *species, branch *limb, colors []string) {
	if colors == nil {
		return
	}
	n, larger := g.thin(s.leaves)
	for range n {
		at, dir := branch.point(g.rnd.Between(0.15, 1))
		cloud := g.direction(scene.Vec{}, 0).Mul(branch.length * s.scatter * math.Sqrt(g.rnd.Float()))
		long := s.leaf.long * larger * g.rnd.Between(0.75, 1.25)
		slot := g.slot(colors[g.rnd.Intn(len(colors))])
		g.addBlade(at.Add(cloud), g.direction(dir, 0.4), g.direction(scene.Vec{0, 0, 1}, 0.9), long,
			s.leaf.wide*larger, slot)
	}
}

// growFrond grows a bough of a conifer: needles on both sides, drooping.
func (g *grower) growFrond(s *species, at, dir scene.Vec, length, radius float64, colors []string) {
	bough := g.growLimb(at, dir, length, radius, 3, 3, s.lift, s.wobble, s.bark)
	n, larger := g.thin(max(int(float64(s.leaves)*min(length/2.2, 1)), 8))
	for i := range n {
		t := (float64(i) + g.rnd.Float()) / float64(n)
		p, d := bough.point(t)
		a, b := sideways(d)
		if i%2 == 0 {
			a = a.Mul(-1)
		}
		out := unit(d.Mul(0.8).Add(a.Mul(1.05 - 0.6*t)).Add(scene.Vec{0, 0, g.rnd.Between(-0.5, 0.05)}))
		long := (s.leaf.long + length*0.2*(1-t)) * larger * g.rnd.Between(0.8, 1.2)
		g.addBlade(p, out, unit(b.Add(g.direction(scene.Vec{}, 0).Mul(0.4))), long, s.leaf.wide*larger+long*0.16,
			g.slot(colors[g.rnd.Intn(len(colors))]))
	}
}

// growStrands lets strands of leaves hang from a branch.
func (g *grower) growStrands(s *species, branch *limb, height float64, colors []string) {
	n, larger := g.thin(26)
	for range 3 {
		at, _ := branch.point(g.rnd.Between(0.3, 1))
		long := min(height*s.hang*g.rnd.Between(0.5, 1.1), at[2]-0.4)
		drift := scene.Vec{g.rnd.Between(-0.12, 0.12), g.rnd.Between(-0.12, 0.12), 0}
		for i := range n {
			t := float64(i) / float64(n)
			p := at.Add(scene.Vec{0, 0, -long * t}).Add(drift.Mul(t * long))
			d := unit(g.direction(scene.Vec{0, 0, -1}, 1.6))
			g.addBlade(p, d, g.direction(scene.Vec{}, 0), s.leaf.long*larger*g.rnd.Between(0.7, 1.1),
				s.leaf.wide*larger, g.slot(colors[g.rnd.Intn(len(colors))]))
		}
	}
}
