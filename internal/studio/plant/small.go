package plant

import (
	"math"

	"loregate/internal/studio/scene"
)

// around returns a direction at an angle about Z that rises by a slope.
func around(angle, slope float64) scene.Vec {
	return unit(scene.Vec{math.Cos(angle), math.Sin(angle), slope})
}

func (g *grower) growBush(height float64) {
	s := &species{leaves: 30, scatter: 0.5, leaf: blade{long: height * 0.13, wide: height * 0.09},
		lift: 0.2, wobble: 0.25, bark: "bark"}
	colors := g.colors(blade{colors: broad, autumn: golden})
	for i := range 16 {
		a := float64(i)*goldenAngle + g.rnd.Between(-0.3, 0.3)
		stem := g.growLimb(around(a, 0).Mul(height*0.08), around(a, g.rnd.Between(0.5, 2.4)), height*g.rnd.Between(0.6, 0.95),
			height*0.022, 3, 3, s.lift, s.wobble, s.bark)
		g.addLeaves(s, stem, colors)
	}
}

// addBentBlade adds a blade of two pieces that bends outwards.
func (g *grower) addBentBlade(at scene.Vec, angle, slope, long, wide float64, slot int) {
	dir := around(angle, slope)
	flat := unit(dir.Cross(around(angle+math.Pi/2, 0)))
	side := around(angle+math.Pi/2, 0).Mul(wide / 2)
	knee := at.Add(dir.Mul(long * 0.55))
	tip := knee.Add(unit(dir.Add(flat.Mul(0.75))).Mul(long * 0.45))
	m := &g.out.Mesh
	n := len(m.V)
	m.V = append(m.V, at.Sub(side), at.Add(side), knee.Add(side.Mul(0.8)), knee.Sub(side.Mul(0.8)), tip)
	m.F = append(m.F, scene.Face{V: []int{n, n + 1, n + 2, n + 3}, Slot: slot},
		scene.Face{V: []int{n + 3, n + 2, n + 4}, Slot: slot})
	g.leaves++
}

func (g *grower) growGrass(height float64) {
	n, larger := g.thin(46)
	for range n {
		a, r := g.rnd.Between(0, 2*math.Pi), height*1.1*math.Sqrt(g.rnd.Float())
		slot := g.slot([]string{"blade", "blade2", "blade"}[g.rnd.Intn(3)])
		g.addBentBlade(around(a, 0).Mul(r).Add(scene.Vec{0, 0, -0.03}), g.rnd.Between(0, 2*math.Pi),
			g.rnd.Between(1.2, 4), height*g.rnd.Between(0.5, 1.15), 0.018*larger, slot)
	}
}

func (g *grower) growReed(height float64) {
	n, larger := g.thin(34)
	for i := range n {
		a, r := g.rnd.Between(0, 2*math.Pi), 0.5*math.Sqrt(g.rnd.Float())
		at := around(a, 0).Mul(r).Add(scene.Vec{0, 0, -0.2})
		long := height * g.rnd.Between(0.65, 1.1)
		g.addBentBlade(at, g.rnd.Between(0, 2*math.Pi), g.rnd.Between(4, 9), long, 0.03*larger,
			g.slot([]string{"straw", "blade2", "blade"}[g.rnd.Intn(3)]))
		if i%4 == 0 {
			stem := g.growLimb(at, around(a, 9), long*1.15, 0.012, 2, 3, 0, 0.05, "straw")
			top, dir := stem.point(1)
			g.growLimb(top, dir, 0.22, 0.03, 1, 5, 0, 0, "bark")
		}
	}
}

func (g *grower) growFern(height float64) {
	for i := range 11 {
		a := float64(i)*goldenAngle + g.rnd.Between(-0.2, 0.2)
		stem := g.growLimb(scene.Vec{0, 0, -0.02}, around(a, g.rnd.Between(0.9, 1.8)), height*g.rnd.Between(0.9, 1.3), 0.008,
			6, 3, -0.75, 0.04, "blade2")
		n, larger := g.thin(26)
		for k := range n {
			t := 0.12 + 0.88*float64(k)/float64(n)
			at, dir := stem.point(min(t, 0.999))
			side, flat := sideways(dir)
			if k%2 == 0 {
				side = side.Mul(-1)
			}
			long := height * 0.34 * math.Sin(math.Pi*min(1.08-t, 1)) * larger
			g.addBlade(at, unit(side.Add(dir.Mul(0.45))), flat, long+0.03, long*0.3+0.02, g.slot("fern"))
		}
	}
}

func (g *grower) growFlowers(height float64) {
	g.growGrass(height * 0.6)
	color := []string{"petal_red", "petal_white", "petal_blue", "petal_yellow"}[g.rnd.Intn(4)]
	for range 12 {
		a, r := g.rnd.Between(0, 2*math.Pi), height*math.Sqrt(g.rnd.Float())
		stem := g.growLimb(around(a, 0).Mul(r), around(a, g.rnd.Between(3, 8)), height*g.rnd.Between(0.7, 1.1), 0.006, 2, 3,
			0.1, 0.1, "blade")
		at, _ := stem.point(0.999)
		for k := range 6 {
			g.addBlade(at, around(float64(k)*math.Pi/3, 0.35), scene.Vec{0, 0, 1}, 0.045, 0.035, g.slot(color))
		}
	}
}

func (g *grower) growHeather(height float64) {
	for range 30 {
		a, r := g.rnd.Between(0, 2*math.Pi), height*0.9*math.Sqrt(g.rnd.Float())
		at := around(a, 0).Mul(r).Add(scene.Vec{0, 0, -0.02})
		long := height * g.rnd.Between(0.6, 1.1)
		g.growLimb(at, around(a, g.rnd.Between(1.5, 5)), long, 0.006, 2, 3, 0, 0.1, "bark")
		n, larger := g.thin(10)
		for k := range n {
			slot := g.slot([]string{"needle2", "petal_heather", "petal_heather"}[g.rnd.Intn(3)])
			p := at.Add(scene.Vec{0, 0, long * (0.35 + 0.65*float64(k)/float64(n))})
			g.addBlade(p, g.direction(scene.Vec{0, 0, 1}, 0.8), g.direction(scene.Vec{}, 0), 0.07*larger, 0.035*larger, slot)
		}
	}
}

func (g *grower) growPalm(height float64) {
	g.out.Trunk = 0.28
	lean := around(g.rnd.Between(0, 2*math.Pi), g.rnd.Between(4, 9))
	trunk := g.growLimb(scene.Vec{0, 0, -0.2}, lean, height, 0.24, 8, 8, 0.15, 0.05, "bark")
	top, _ := trunk.point(0.999)
	for i := range 15 {
		a := float64(i) * goldenAngle
		long := height * g.rnd.Between(0.34, 0.42)
		frond := g.growLimb(top, around(a, g.rnd.Between(0.2, 1.6)), long, 0.035, 7, 3, -1.1, 0.04, "leaf")
		n, larger := g.thin(54)
		for k := range n {
			t := 0.1 + 0.9*float64(k)/float64(n)
			at, dir := frond.point(min(t, 0.999))
			side, flat := sideways(dir)
			if k%2 == 0 {
				side = side.Mul(-1)
			}
			reach := long * 0.3 * math.Sin(math.Pi*min(1.1-t, 1)) * larger
			g.addBlade(at, unit(side.Add(dir.Mul(0.6)).Add(scene.Vec{0, 0, -0.4})), flat, reach+0.1, 0.07*larger,
				g.slot([]string{"leaf2", "leaf"}[k%2]))
		}
	}
}
