package builder

import (
	"fmt"
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// newTower makes a tapering round tower with rows of windows; its top is left open.
func newTower(r, h float64, mat, glass string) *piece {
	p := &piece{}
	profile := [][2]float64{{r * 1.18, -1}, {r * 1.12, 0.4}, {r, 1}}
	for i := 1; i <= 6; i++ {
		t := float64(i) / 6
		profile = append(profile, [2]float64{r * (1 - 0.34*t), 1 + (h-1)*t})
	}
	p.put(scene.Lathe(profile, 28, true), mat, scene.Vec{}, 0)
	for i := range int(h / 4.5) {
		z := 3 + float64(i)*4.3
		a := -math.Pi/2 + float64(i)*1.25
		at := r*(1-0.34*z/h) - 0.02
		addWindow(p, scene.Vec{math.Cos(a) * at, math.Sin(a) * at, z}, a+math.Pi/2, glass)
	}
	addDoorway(p, scene.Vec{0, -r * 1.06, 0.3}, 0)
	return p
}

func buildLighthouse(y *yard) {
	cliff := func(px, py float64) float64 {
		edge := 13 + 2.5*math.Sin(math.Atan2(py, px)*5+1) + 1.4*math.Sin(math.Atan2(py, px)*11)
		r := math.Hypot(px*0.85, py)
		if r > edge+30 {
			return -14
		}
		return math.Min(0, -14*math.Pow(math.Min(math.Max((r-edge)/9, 0), 1), 0.7))
	}
	y.height = cliff
	p := &piece{}
	const n, size = 121, 84.0
	step := size / (n - 1)
	jag := noise.NewFractal(y.seed, 16, 4)
	m := scene.Grid(n, step, func(i, j int) float64 {
		px, py := float64(i)*step-size/2, float64(j)*step-size/2
		h := cliff(px, py)
		if h < -0.05 {
			h += (float64(jag.At(int64(i)*500, int64(j)*500))/noise.One - 0.5) * 5 * math.Min(1, -h/3)
		}
		return h
	})
	grassy, rocky := p.materialSlot("grass"), p.materialSlot("rock")
	for i := range m.F {
		low := 0.0
		for _, v := range m.F[i].V {
			low = math.Min(low, m.V[v][2])
		}
		m.F[i].Slot = grassy
		if low < -0.5 {
			m.F[i].Slot, m.F[i].Smooth = rocky, false
		}
	}
	p.m.At(m, scene.Vec{}, 0)
	y.addObject("land", y.useMesh("land", p), scene.Vec{}, 0, 1)
	y.addSea("water", -9.5)
	tall := newTower(3.4, 24, "white", y.windowMaterial())
	tall.put(scene.Lathe([][2]float64{{2.2, 0}, {3.2, 0.5}, {3.2, 0.75}, {2.1, 0.75}}, 28, false), "stone",
		scene.Vec{0, 0, 23.6}, 0)
	tall.put(scene.Cylinder(1.5, 2.3, 16), "pane", scene.Vec{0, 0, 24.4}, 0)
	for i := range 12 {
		a := float64(i) * math.Pi / 6
		tall.put(scene.Box(0.09, 0.09, 2.4), "iron", scene.Vec{math.Cos(a) * 1.55, math.Sin(a) * 1.55, 24.4}, a)
		tall.put(scene.Box(0.07, 0.07, 1), "iron", scene.Vec{math.Cos(a) * 3, math.Sin(a) * 3, 24.35}, a)
	}
	tall.put(scene.Torus(3, 0.05, 28, 6), "iron", scene.Vec{0, 0, 25.35}, 0)
	tall.put(scene.Lathe([][2]float64{{2, 0}, {1.7, 0.5}, {0.35, 1.6}, {0.3, 1.9}, {0, 2.3}}, 20, true), "red",
		scene.Vec{0, 0, 26.7}, 0)
	tall.put(scene.Lathe([][2]float64{{3.06, 0}, {2.86, 4}}, 28, true), "red", scene.Vec{0, 0, 9}, 0)
	tall.put(scene.Lathe([][2]float64{{2.67, 0}, {2.5, 3.4}}, 28, true), "red", scene.Vec{0, 0, 17}, 0)
	glowing := "pane"
	if y.isDark() {
		glowing = "beacon"
		y.addLamp(scene.Vec{0, -2.4, 25.4}, 400)
	}
	tall.put(scene.Lathe([][2]float64{{0.4, 0}, {0.8, 0.5}, {0.85, 1.1}, {0.4, 1.8}}, 16, true), glowing,
		scene.Vec{0, 0, 24.8}, 0)
	if !y.isDark() {
		tall.put(scene.Sphere(0.4, 12, 8), "flame", scene.Vec{0, -1.2, 25.6}, 0)
	}
	y.addFramed("tower", tall, scene.Vec{0, 1, 0}, 0)
	barracks := newHouse(shape{w: 9, d: 5, floors: 1, wall: "white", upper: "white", roof: "slate", pitch: 0.9,
		chimneys: 1, door: true, glass: y.windowMaterial()}, y.rnd)
	y.addFramed("barracks", barracks, scene.Vec{8, 0.5, 0}, -0.25)
	y.takeDisc(0, 1, 4.4)
	y.takeDisc(8, 0.5, 5.6)
	y.dry = func(px, py float64) bool { return cliff(px, py) > -0.02 }
	y.frame.Grow(scene.Vec{-17, -12, -10})
	y.frame.Grow(scene.Vec{19, -12, -10})
	for i := range 3 {
		y.placeProp("rock", scene.Vec{[]float64{-7, 6, -4}[i], []float64{-5, -6, -8}[i], -0.2}, float64(i), 1.2)
	}
	y.front, y.from, y.sun, y.lens = [4]float64{-9, -10, 9, -3}, scene.Vec{-0.42, -1, 0.12}, -2.5, 32
}

func buildTower(y *yard) {
	y.addLand("grass", 160, 5, 12)
	p := newTower(3.6, 16, "stone", y.windowMaterial())
	for i := range 12 {
		a := float64(i) * math.Pi / 6
		p.put(scene.Box(0.8, 0.5, 1.1), "stone", scene.Vec{math.Cos(a) * 2.5, math.Sin(a) * 2.5, 15.9}, a+math.Pi/2)
	}
	p.put(scene.Cylinder(2.6, 0.3, 28), "stone", scene.Vec{0, 0, 15.7}, 0)
	y.addFramed("tower", p, scene.Vec{}, 0)
	y.takeDisc(0, 0, 5)
	y.plantAround("tree", 20, 11, 34, 2)
	y.front, y.from, y.sun = [4]float64{-8, -12, 8, -5}, scene.Vec{0.5, -1, 0.2}, -2.3
}

func buildQuay(y *yard) {
	y.addSea("water", -1.5)
	y.dry = func(_, py float64) bool { return py > -1.6 }
	y.addPaving("quay", "cobbles", [4]float64{-90, -2, 90, 90}, 0)
	edge := &piece{}
	edge.put(scene.Box(180, 1.2, 5), "stone", scene.Vec{0, -2.4, -4.85}, 0)
	for i := range 36 {
		edge.put(scene.Box(4.9, 1.5, 0.3), "stone", scene.Vec{-87.5 + float64(i)*5, -2.3, -0.1}, 0)
	}
	y.addObject("edge", y.useMesh("edge", edge), scene.Vec{}, 0, 1)
	rnd := noise.NewSource(y.seed, "row")
	x := -48.0
	for i := range 14 {
		s := shape{w: rnd.Between(5.5, 8), d: 7, floors: 2 + rnd.Intn(2), wall: "stone",
			upper: []string{"plaster", "white", "brick"}[i%3], roof: "slate",
			framed: i%3 == 0, jetty: i%2 == 0, pitch: rnd.Between(0.9, 1.3), chimneys: 1, door: true, glass: y.windowMaterial()}
		p := newHouse(s, rnd)
		at := scene.Vec{x + s.w/2, 11.5 + rnd.Between(-0.4, 0.4), 0}
		y.addObject(fmt.Sprintf("house %d", i), y.useMesh(fmt.Sprintf("house %d", i), p), at, 0, 1)
		if i > 4 && i < 9 {
			y.growFrame(p, at, 0)
		}
		y.takeDisc(at[0], at[1], 5)
		x += s.w + 0.15
	}
	for i := range 12 {
		far := fmt.Sprintf("far house %d", i%4)
		p := newHouse(shape{w: 7, d: 7, floors: 3, wall: "stone", upper: []string{"brick", "plaster", "white", "stone"}[i%4],
			roof: "slate", pitch: 1.2, chimneys: 1, glass: y.windowMaterial()}, rnd)
		y.addObject(far, y.useMesh(far, p), scene.Vec{-46 + float64(i)*8 + rnd.Between(-0.6, 0.6), 27 + rnd.Between(-2, 2),
			2.4}, 0, 1)
	}
	jetty := &piece{}
	jetty.put(scene.Box(2.4, 13, 0.18), "timber", scene.Vec{0, -6.5, 0}, 0)
	for i := range 5 {
		for _, s := range []float64{-1.1, 1.1} {
			jetty.put(scene.Cylinder(0.16, 4.6, 9), "bark", scene.Vec{s, -1 - float64(i)*2.9, -3.7}, 0)
		}
	}
	y.addFramed("jetty", jetty, scene.Vec{-4, -2.2, -0.05}, 0)
	for i := range max(3, min(y.read.props["boat"], 6)) {
		at := [][3]float64{{-7.6, -8, 1.4}, {0.4, -10.5, 1.9}, {5.5, -5.4, 0.15}, {9.5, -10, 2.6}, {-13, -6, 0.1},
			{15, -6, 0.2}}[i]
		y.counts["boat"]++
		if !y.meshes["boat kind 0"] {
			y.useMesh("boat kind 0", newBoat())
		}
		y.Object(fmt.Sprintf("%s boat %d", y.id, y.counts["boat"]), y.id+" boat kind 0", y.id,
			scene.Transform{Location: scene.Vec{at[0], at[1], -1.72}, Rotation: scene.Vec{0, 0, at[2]},
				Scale: scene.Vec{1.25, 1.25, 1.25}})
	}
	for i := range 9 {
		y.placeProp("post", scene.Vec{-24 + float64(i)*6, -1.7, 0}, 0, 1)
	}
	for _, px := range []float64{-11, 1.5, 13} {
		y.placeProp("lamp", scene.Vec{px, 0.6, 0}, 0, 1.1)
	}
	for i := range 8 {
		at := [][2]float64{{4, 1.2}, {5, 1.3}, {4.6, 2.2}, {-8, 2}, {-8.9, 1.7}, {-8.2, 3}, {9.3, 3}, {10.2, 2.8}}[i]
		y.placeProp("crate", scene.Vec{at[0], at[1], 0}, float64(i)*0.4, 1)
	}
	y.placeProp("barrel", scene.Vec{5.9, 2, 0}, 0, 1)
	y.placeProp("barrel", scene.Vec{6.6, 1.5, 0}, 0, 1)
	y.front, y.from, y.sun, y.lens = [4]float64{-14, -1, 14, 5.5}, scene.Vec{0.45, -1, 0.26}, -0.9, 32
	y.frame.Grow(scene.Vec{-8, -11, -1.5})
	y.frame.Grow(scene.Vec{10, -11, -1.5})
}

func buildPans(y *yard) {
	y.addLand("earth", 260, 0, 200)
	rnd := noise.NewSource(y.seed, "pans")
	banks, water, crust := &piece{}, &piece{}, &piece{}
	for row := range 6 {
		for col := range 11 {
			px, py := -40+float64(col)*8+rnd.Between(-0.2, 0.2), -6+float64(row)*7.2
			for _, s := range []float64{-1, 1} {
				banks.put(scene.Frustum(8.4, 1.1, 8.1, 0.45, 0.42), "earth", scene.Vec{px, py + s*3.1, 0}, 0)
				banks.put(scene.Frustum(1.1, 6.6, 0.45, 6.4, 0.42), "earth", scene.Vec{px + s*3.75, py, 0}, 0)
			}
			if rnd.Float() < 0.8 {
				water.put(scene.Quad(7, 5.6), "brine", scene.Vec{px, py, 0.2}, 0)
			} else {
				crust.put(scene.Quad(7, 5.6), "salt", scene.Vec{px, py, 0.22}, 0)
			}
			if rnd.Float() < 0.35 {
				crust.put(roughen(scene.Cone(rnd.Between(0.6, 1.1), rnd.Between(0.7, 1.3), 14), rnd, 0.03, false), "salt",
					scene.Vec{px + rnd.Between(-3.2, 3.2), py + 3.1, 0.38}, 0)
			}
		}
	}
	y.addObject("banks", y.useMesh("banks", banks), scene.Vec{}, 0, 1)
	y.addObject("water", y.useMesh("water", water), scene.Vec{}, 0, 1)
	y.addObject("salt", y.useMesh("salt", crust), scene.Vec{}, 0, 1)
	boiling := newHouse(shape{w: 12, d: 8, floors: 1, wall: "stone", upper: "timber", roof: "slate", pitch: 0.9,
		chimneys: 2, door: true, glass: y.windowMaterial(), storey: 4}, rnd)
	y.addFramed("boiling house", boiling, scene.Vec{-13, 41, 0}, 0.2)
	mill := newTower(2.4, 8, "white", y.windowMaterial())
	mill.put(scene.Lathe([][2]float64{{1.9, 0}, {1.5, 0.7}, {0, 1.8}}, 20, true), "timber", scene.Vec{0, 0, 8}, 0)
	mill.put(scene.Box(0.3, 2.2, 0.3), "timber", scene.Vec{0, -1.6, 8.15}, 0)
	for i := range 4 {
		mill.putTilted(scene.Box(0.18, 0.12, 5.6), "timber", scene.Vec{0, -2.5, 8.3}, float64(i)*math.Pi/2+0.4, 0)
		mill.putTilted(scene.Box(1.2, 0.05, 4.4), "canvas",
			scene.Vec{math.Sin(float64(i)*math.Pi/2+0.4) * 1.1, -2.55, 8.3 + math.Cos(float64(i)*math.Pi/2+0.4)*1.1},
			float64(i)*math.Pi/2+0.4, 0)
	}
	y.addFramed("mill", mill, scene.Vec{11, 40, 0}, -0.15)
	y.plantAround("conifer", 14, 70, 90, 1.2)
	for i := range 4 {
		y.placeProp("cart", scene.Vec{[]float64{-3.9, 20.2, 4.2, -20}[i], []float64{1, 12, 15, 16}[i], 0.4},
			[]float64{1.57, 1.5, 1.6, 0}[i], 0.8)
	}
	y.frame.Grow(scene.Vec{-15, 4, 0})
	y.frame.Grow(scene.Vec{15, 4, 0})
	y.dry = func(_, py float64) bool { return py < -9.6 }
	y.front, y.from, y.sun, y.lens = [4]float64{-10, -14, 10, -9.7}, scene.Vec{0.12, -1, 0.17}, 2.6, 30
}
