package builder

import (
	"fmt"
	"math"
	"sort"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// plans build the kinds of place.
var plans = map[string]func(y *yard){
	"inn": buildInn, "lighthouse": buildLighthouse, "quay": buildQuay, "pans": buildPans, "wood": buildWood, "square": buildSquare, "church": buildChurch,
	"marsh": buildMarsh, "tower": buildTower, "hall": buildHall, "gate": buildGate, "house": buildHouse, "plain": buildPlain,
}

// furnish puts the things that the words name into the place, those first by name.
func (y *yard) furnish() {
	names := make([]string, 0, len(y.read.things))
	for name := range y.read.things {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if t, ok := things[name]; ok && (name != "boat" || afloat[y.read.kind]) {
			y.strew(name, t, y.read.things[name]-y.counts[name], y.front, true)
		}
	}
}

// afloat are the kinds of place where boats lie about.
var afloat = map[string]bool{"lighthouse": true, "marsh": true, "plain": true}

// strew puts things where there is room.
func (y *yard) strew(name string, t thing, n int, area [4]float64, named bool) {
	rnd := noise.NewSource(y.seed, name)
	for i := range n {
		mesh := fmt.Sprintf("%s kind %d", name, i%t.kind)
		if !y.meshes[mesh] {
			y.mesh(mesh, t.make(noise.NewSource(y.seed, mesh)))
		}
		at, ok := y.spot(rnd, area, t.room)
		if !ok {
			if named {
				y.warnings = append(y.warnings, fmt.Sprintf("there was room for %d of %d of %s", i, n, name))
			}
			return
		}
		y.stand(name, y.id+" "+mesh, at, rnd.Between(0, 2*math.Pi), rnd.Between(0.92, 1.1))
		if t.lamp > 0 && y.dark() {
			y.lamp(at.Add(scene.Vec{0, 0, t.lamp}), 90)
		}
	}
}

// place puts one thing where it belongs.
func (y *yard) place(name string, at scene.Vec, turn, size float64) {
	t := things[name]
	mesh := name + " kind 0"
	if !y.meshes[mesh] {
		y.mesh(mesh, t.make(noise.NewSource(y.seed, mesh)))
	}
	at[2] += y.ground(at[0], at[1])
	y.stand(name, y.id+" "+mesh, at, turn, size)
	y.take(at[0], at[1], t.room*size)
	if t.lamp > 0 && y.dark() {
		y.lamp(at.Add(scene.Vec{0, 0, t.lamp * size}), 90)
	}
}

// land is the ground: hills of an amplitude, flat within a radius of the middle.
func (y *yard) land(mat string, size, amplitude, flat float64) {
	hills := noise.NewFractal(y.seed+5, 5, 4)
	y.height = func(px, py float64) float64 {
		u, v := int64((px/size+0.5)*60000)+noise.One, int64((py/size+0.5)*60000)+noise.One
		h := (float64(hills.At(u, v))/noise.One - 0.45) * amplitude
		r := math.Hypot(px, py)
		return h * math.Min(math.Max((r-flat)/(flat+8), 0), 1)
	}
	const n = 97
	step := size / (n - 1)
	p := &piece{}
	p.put(scene.Grid(n, step, func(i, j int) float64 {
		return y.height(float64(i)*step-size/2, float64(j)*step-size/2)
	}), mat, scene.Vec{}, 0)
	y.stand("land", y.mesh("land", p), scene.Vec{}, 0, 1)
	far := &piece{}
	far.put(scene.Quad(9000, 9000), mat, scene.Vec{}, 0)
	y.stand("far land", y.mesh("far land", far), scene.Vec{0, 0, -amplitude/2 - 0.15}, 0, 1)
	y.hills(-amplitude/2 - 1)
}

// ridges are the rings of the hills about a place: how far off in metres, and how much of
// the hills' height is there.
var ridges = [][2]float64{{380, 0}, {620, 0.4}, {900, 0.75}, {1300, 0.5}, {1900, 1}, {2700, 0}}

// hills close the horizon off, so that land does not end like a table.
func (y *yard) hills(foot float64) {
	const around, tallest = 90, 150.0
	ridge := noise.NewFractal(y.seed+9, 14, 4)
	m := &scene.Mesh{}
	for _, r := range ridges {
		for i := range around {
			s, c := math.Sincos(float64(i) * 2 * math.Pi / around)
			px, py := r[0]*c, r[0]*s
			u, v := int64((px/6000+0.5)*60000)+noise.One, int64((py/6000+0.5)*60000)+noise.One
			h := math.Max(float64(ridge.At(u, v))/noise.One-0.3, 0) * tallest
			m.V = append(m.V, scene.Vec{px, py, foot + h*r[1]})
		}
	}
	for k := range len(ridges) - 1 {
		for i := range around {
			a, b := k*around+i, k*around+(i+1)%around
			m.F = append(m.F, scene.Face{V: []int{a, a + around, b + around, b}, Smooth: true})
		}
	}
	p := &piece{}
	p.put(m, "far", scene.Vec{}, 0)
	y.stand("hills", y.mesh("hills", p), scene.Vec{}, 0, 1)
}

// sea is water to the horizon at a height.
func (y *yard) sea(mat string, level float64) {
	p := &piece{}
	p.put(scene.Quad(9000, 9000), mat, scene.Vec{}, 0)
	y.stand("sea", y.mesh("sea", p), scene.Vec{0, 0, level}, 0, 1)
}

// paved lays a flat floor of a material.
func (y *yard) paved(name, mat string, area [4]float64, z float64) {
	p := &piece{}
	p.put(scene.Box(area[2]-area[0], area[3]-area[1], 0.3), mat, scene.Vec{(area[0] + area[2]) / 2, (area[1] + area[3]) / 2, z - 0.3}, 0)
	y.stand(name, y.mesh(name, p), scene.Vec{}, 0, 1)
}

// around plants a ring of trees behind a place.
func (y *yard) around(name string, n int, from, to, spread float64) {
	rnd := noise.NewSource(y.seed, "around "+name)
	t := things[name]
	for i := range n {
		a, r := rnd.Between(math.Pi/2-spread, math.Pi/2+spread), rnd.Between(from, to)
		x, yy := math.Cos(a)*r, math.Sin(a)*r
		mesh := fmt.Sprintf("%s kind %d", name, i%t.kind)
		if !y.meshes[mesh] {
			y.mesh(mesh, t.make(noise.NewSource(y.seed, mesh)))
		}
		if y.free(x, yy, t.room) {
			y.take(x, yy, t.room)
			y.stand("far "+name, y.id+" "+mesh, scene.Vec{x, yy, y.ground(x, yy) - 0.1}, rnd.Between(0, 6.28), rnd.Between(0.85, 1.3))
		}
	}
}

func buildInn(y *yard) {
	y.land("grass", 160, 3, 16)
	y.paved("yard", "cobbles", [4]float64{-13, -15, 13, -1}, 0.06)
	front := house(shape{w: 12, d: 8, floors: 2, wall: "stone", upper: "plaster", roof: "slate", framed: true, jetty: true, pitch: 1.05, chimneys: 2, door: true, glass: y.glass()}, y.rnd)
	wing := house(shape{w: 6.5, d: 6, floors: 2, wall: "stone", upper: "plaster", roof: "slate", framed: true, pitch: 1.1, chimneys: 1, glass: y.glass()}, y.rnd)
	y.build("house", front, scene.Vec{0, 3.5, 0}, 0)
	y.build("wing", wing, scene.Vec{-7.4, -0.6, 0}, math.Pi/2)
	y.take(0, 3.5, 7.6)
	y.take(-7.4, -0.6, 4.6)
	words := y.id
	if len(words) > 12 {
		words = words[:12]
	}
	y.sign(scene.Vec{2.2, -0.75, 3.3}, spaced(words))
	y.place("lamp", scene.Vec{1.6, -3.4, 0}, 0, 1)
	y.place("lamp", scene.Vec{9.4, -2.2, 0}, 0, 1)
	if y.dark() {
		y.lamp(scene.Vec{-1, -1.4, 2.6}, 60)
	}
	if y.read.things["anchor"] > 0 {
		y.place("anchor", scene.Vec{5.6, -5.6, 0}, 0.5, 1)
	}
	for i := range min(y.read.things["table"], 3) {
		y.place("table", scene.Vec{3.4 + 3.2*float64(i), -1.4 - 1.4*float64(i), 0}, 0.15, 1)
	}
	for i := range 7 {
		at := [][2]float64{{-3.3, -2.3}, {-2.5, -2.6}, {-3, -3.2}, {7.8, -1}, {8.6, -1.1}, {8.2, -1.9}, {-3.8, -3}}[i]
		y.place("barrel", scene.Vec{at[0], at[1], 0.05}, float64(i), 1)
	}
	y.around("tree", 16, 15, 34, 1.9)
	y.around("bush", 14, 12, 30, 2)
	y.front, y.from, y.sun = [4]float64{-5, -13, 12, -3.4}, scene.Vec{0.6, -1, 0.2}, 0.9
}

// spaced writes an identifier as a name.
func spaced(id string) string {
	b := []byte(id)
	up := true
	for i, c := range b {
		switch {
		case c == '_':
			b[i], up = ' ', true
		case up && c >= 'a' && c <= 'z':
			b[i], up = c-32, false
		default:
			up = false
		}
	}
	return string(b)
}

func buildHouse(y *yard) {
	y.land("grass", 160, 4, 12)
	p := house(shape{w: 8, d: 6.5, floors: 1, wall: "stone", upper: "plaster", roof: "thatch", pitch: 1.15, chimneys: 1, door: true, glass: y.glass()}, y.rnd)
	y.build("house", p, scene.Vec{}, 0)
	y.take(0, 0, 5.4)
	y.around("tree", 14, 11, 30, 2)
	y.around("bush", 10, 7, 14, 2)
	y.front, y.from, y.sun = [4]float64{-8, -11, 8, -4}, scene.Vec{0.7, -1, 0.35}, -2.2
}

// tower is a tapering round tower with bands of windows; its top is left open.
func tower(r, h float64, mat, glass string) *piece {
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
		window(p, scene.Vec{math.Cos(a) * at, math.Sin(a) * at, z}, a+math.Pi/2, glass)
	}
	doorway(p, scene.Vec{0, -r * 1.06, 0.3}, 0)
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
	grassy, rocky := p.slot("grass"), p.slot("rock")
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
	y.stand("land", y.mesh("land", p), scene.Vec{}, 0, 1)
	y.sea("water", -9.5)
	tall := tower(3.4, 24, "white", y.glass())
	tall.put(scene.Lathe([][2]float64{{2.2, 0}, {3.2, 0.5}, {3.2, 0.75}, {2.1, 0.75}}, 28, false), "stone", scene.Vec{0, 0, 23.6}, 0)
	tall.put(scene.Cylinder(1.5, 2.3, 16), "pane", scene.Vec{0, 0, 24.4}, 0)
	for i := range 12 {
		a := float64(i) * math.Pi / 6
		tall.put(scene.Box(0.09, 0.09, 2.4), "iron", scene.Vec{math.Cos(a) * 1.55, math.Sin(a) * 1.55, 24.4}, a)
		tall.put(scene.Box(0.07, 0.07, 1), "iron", scene.Vec{math.Cos(a) * 3, math.Sin(a) * 3, 24.35}, a)
	}
	tall.put(scene.Torus(3, 0.05, 28, 6), "iron", scene.Vec{0, 0, 25.35}, 0)
	tall.put(scene.Lathe([][2]float64{{2, 0}, {1.7, 0.5}, {0.35, 1.6}, {0.3, 1.9}, {0, 2.3}}, 20, true), "red", scene.Vec{0, 0, 26.7}, 0)
	tall.put(scene.Lathe([][2]float64{{3.06, 0}, {2.86, 4}}, 28, true), "red", scene.Vec{0, 0, 9}, 0)
	tall.put(scene.Lathe([][2]float64{{2.67, 0}, {2.5, 3.4}}, 28, true), "red", scene.Vec{0, 0, 17}, 0)
	glowing := "pane"
	if y.dark() {
		glowing = "beacon"
		y.lamp(scene.Vec{0, -2.4, 25.4}, 400)
	}
	tall.put(scene.Lathe([][2]float64{{0.4, 0}, {0.8, 0.5}, {0.85, 1.1}, {0.4, 1.8}}, 16, true), glowing, scene.Vec{0, 0, 24.8}, 0)
	if !y.dark() {
		tall.put(scene.Sphere(0.4, 12, 8), "flame", scene.Vec{0, -1.2, 25.6}, 0)
	}
	y.build("tower", tall, scene.Vec{0, 1, 0}, 0)
	barracks := house(shape{w: 9, d: 5, floors: 1, wall: "white", upper: "white", roof: "slate", pitch: 0.9, chimneys: 1, door: true, glass: y.glass()}, y.rnd)
	y.build("barracks", barracks, scene.Vec{8, 0.5, 0}, -0.25)
	y.take(0, 1, 4.4)
	y.take(8, 0.5, 5.6)
	y.dry = func(px, py float64) bool { return cliff(px, py) > -0.02 }
	y.frame.Grow(scene.Vec{-17, -12, -10})
	y.frame.Grow(scene.Vec{19, -12, -10})
	for i := range 3 {
		y.place("rock", scene.Vec{[]float64{-7, 6, -4}[i], []float64{-5, -6, -8}[i], -0.2}, float64(i), 1.2)
	}
	y.front, y.from, y.sun, y.lens = [4]float64{-9, -10, 9, -3}, scene.Vec{-0.42, -1, 0.12}, -2.5, 32
}

func buildTower(y *yard) {
	y.land("grass", 160, 5, 12)
	p := tower(3.6, 16, "stone", y.glass())
	for i := range 12 {
		a := float64(i) * math.Pi / 6
		p.put(scene.Box(0.8, 0.5, 1.1), "stone", scene.Vec{math.Cos(a) * 2.5, math.Sin(a) * 2.5, 15.9}, a+math.Pi/2)
	}
	p.put(scene.Cylinder(2.6, 0.3, 28), "stone", scene.Vec{0, 0, 15.7}, 0)
	y.build("tower", p, scene.Vec{}, 0)
	y.take(0, 0, 5)
	y.around("tree", 20, 11, 34, 2)
	y.front, y.from, y.sun = [4]float64{-8, -12, 8, -5}, scene.Vec{0.5, -1, 0.2}, -2.3
}

func buildQuay(y *yard) {
	y.sea("water", -1.5)
	y.dry = func(_, py float64) bool { return py > -1.6 }
	y.paved("quay", "cobbles", [4]float64{-90, -2, 90, 90}, 0)
	edge := &piece{}
	edge.put(scene.Box(180, 1.2, 5), "stone", scene.Vec{0, -2.4, -4.85}, 0)
	for i := range 36 {
		edge.put(scene.Box(4.9, 1.5, 0.3), "stone", scene.Vec{-87.5 + float64(i)*5, -2.3, -0.1}, 0)
	}
	y.stand("edge", y.mesh("edge", edge), scene.Vec{}, 0, 1)
	rnd := noise.NewSource(y.seed, "row")
	x := -48.0
	for i := range 14 {
		s := shape{w: rnd.Between(5.5, 8), d: 7, floors: 2 + rnd.Intn(2), wall: "stone", upper: []string{"plaster", "white", "brick"}[i%3], roof: "slate",
			framed: i%3 == 0, jetty: i%2 == 0, pitch: rnd.Between(0.9, 1.3), chimneys: 1, door: true, glass: y.glass()}
		p := house(s, rnd)
		at := scene.Vec{x + s.w/2, 11.5 + rnd.Between(-0.4, 0.4), 0}
		y.stand(fmt.Sprintf("house %d", i), y.mesh(fmt.Sprintf("house %d", i), p), at, 0, 1)
		if i > 4 && i < 9 {
			y.show(p, at, 0)
		}
		y.take(at[0], at[1], 5)
		x += s.w + 0.15
	}
	for i := range 12 {
		far := fmt.Sprintf("far house %d", i%4)
		p := house(shape{w: 7, d: 7, floors: 3, wall: "stone", upper: []string{"brick", "plaster", "white", "stone"}[i%4], roof: "slate", pitch: 1.2, chimneys: 1, glass: y.glass()}, rnd)
		y.stand(far, y.mesh(far, p), scene.Vec{-46 + float64(i)*8 + rnd.Between(-0.6, 0.6), 27 + rnd.Between(-2, 2), 2.4}, 0, 1)
	}
	jetty := &piece{}
	jetty.put(scene.Box(2.4, 13, 0.18), "timber", scene.Vec{0, -6.5, 0}, 0)
	for i := range 5 {
		for _, s := range []float64{-1.1, 1.1} {
			jetty.put(scene.Cylinder(0.16, 4.6, 9), "bark", scene.Vec{s, -1 - float64(i)*2.9, -3.7}, 0)
		}
	}
	y.build("jetty", jetty, scene.Vec{-4, -2.2, -0.05}, 0)
	for i := range max(3, min(y.read.things["boat"], 6)) {
		at := [][3]float64{{-7.6, -8, 1.4}, {0.4, -10.5, 1.9}, {5.5, -5.4, 0.15}, {9.5, -10, 2.6}, {-13, -6, 0.1}, {15, -6, 0.2}}[i]
		y.counts["boat"]++
		if !y.meshes["boat kind 0"] {
			y.mesh("boat kind 0", boat())
		}
		y.Object(fmt.Sprintf("%s boat %d", y.id, y.counts["boat"]), y.id+" boat kind 0", y.id, scene.Transform{Location: scene.Vec{at[0], at[1], -1.72}, Rotation: scene.Vec{0, 0, at[2]}, Scale: scene.Vec{1.25, 1.25, 1.25}})
	}
	for i := range 9 {
		y.place("post", scene.Vec{-24 + float64(i)*6, -1.7, 0}, 0, 1)
	}
	for _, px := range []float64{-11, 1.5, 13} {
		y.place("lamp", scene.Vec{px, 0.6, 0}, 0, 1.1)
	}
	for i := range 8 {
		at := [][2]float64{{4, 1.2}, {5, 1.3}, {4.6, 2.2}, {-8, 2}, {-8.9, 1.7}, {-8.2, 3}, {9.3, 3}, {10.2, 2.8}}[i]
		y.place("crate", scene.Vec{at[0], at[1], 0}, float64(i)*0.4, 1)
	}
	y.place("barrel", scene.Vec{5.9, 2, 0}, 0, 1)
	y.place("barrel", scene.Vec{6.6, 1.5, 0}, 0, 1)
	y.front, y.from, y.sun, y.lens = [4]float64{-14, -1, 14, 5.5}, scene.Vec{0.45, -1, 0.26}, -0.9, 32
	y.frame.Grow(scene.Vec{-8, -11, -1.5})
	y.frame.Grow(scene.Vec{10, -11, -1.5})
}

func buildPans(y *yard) {
	y.land("earth", 260, 0, 200)
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
				crust.put(rough(scene.Cone(rnd.Between(0.6, 1.1), rnd.Between(0.7, 1.3), 14), rnd, 0.03, false), "salt", scene.Vec{px + rnd.Between(-3.2, 3.2), py + 3.1, 0.38}, 0)
			}
		}
	}
	y.stand("banks", y.mesh("banks", banks), scene.Vec{}, 0, 1)
	y.stand("water", y.mesh("water", water), scene.Vec{}, 0, 1)
	y.stand("salt", y.mesh("salt", crust), scene.Vec{}, 0, 1)
	boiling := house(shape{w: 12, d: 8, floors: 1, wall: "stone", upper: "timber", roof: "slate", pitch: 0.9, chimneys: 2, door: true, glass: y.glass(), storey: 4}, rnd)
	y.build("boiling house", boiling, scene.Vec{-13, 41, 0}, 0.2)
	mill := tower(2.4, 8, "white", y.glass())
	mill.put(scene.Lathe([][2]float64{{1.9, 0}, {1.5, 0.7}, {0, 1.8}}, 20, true), "timber", scene.Vec{0, 0, 8}, 0)
	mill.put(scene.Box(0.3, 2.2, 0.3), "timber", scene.Vec{0, -1.6, 8.15}, 0)
	for i := range 4 {
		mill.tilted(scene.Box(0.18, 0.12, 5.6), "timber", scene.Vec{0, -2.5, 8.3}, float64(i)*math.Pi/2+0.4, 0)
		mill.tilted(scene.Box(1.2, 0.05, 4.4), "canvas", scene.Vec{math.Sin(float64(i)*math.Pi/2+0.4) * 1.1, -2.55, 8.3 + math.Cos(float64(i)*math.Pi/2+0.4)*1.1}, float64(i)*math.Pi/2+0.4, 0)
	}
	y.build("mill", mill, scene.Vec{11, 40, 0}, -0.15)
	y.around("conifer", 14, 70, 90, 1.2)
	for i := range 4 {
		y.place("cart", scene.Vec{[]float64{-3.9, 20.2, 4.2, -20}[i], []float64{1, 12, 15, 16}[i], 0.4}, []float64{1.57, 1.5, 1.6, 0}[i], 0.8)
	}
	y.frame.Grow(scene.Vec{-15, 4, 0})
	y.frame.Grow(scene.Vec{15, 4, 0})
	y.dry = func(_, py float64) bool { return py < -9.6 }
	y.front, y.from, y.sun, y.lens = [4]float64{-10, -14, 10, -9.7}, scene.Vec{0.12, -1, 0.17}, 2.6, 30
}

func buildWood(y *yard) {
	y.land("earth", 150, 2.4, 9)
	y.sea("water", -0.42)
	y.dry = func(px, py float64) bool { return y.ground(px, py) > -0.3 }
	n := max(y.read.things["stump"], 12)
	for i := range n {
		a := float64(i) * 2 * math.Pi / float64(n)
		r := math.Max(5.4, float64(n)*0.19)
		mesh := fmt.Sprintf("stump kind %d", i%3)
		if !y.meshes[mesh] {
			y.mesh(mesh, stump(noise.NewSource(y.seed, mesh)))
		}
		x, yy := math.Cos(a)*r, math.Sin(a)*r
		y.stand("stump", y.id+" "+mesh, scene.Vec{x, yy, y.ground(x, yy)}, a, 0.95+0.15*math.Sin(float64(i)*2.4))
		y.take(x, yy, 0.6)
	}
	y.take(0, 0, 4.5)
	y.take(3.5, -13, 6)
	moss := &piece{}
	moss.put(scene.Cylinder(9.5, 0.04, 40), "grass", scene.Vec{0, 0, 0}, 0)
	y.stand("clearing", y.mesh("clearing", moss), scene.Vec{}, 0, 1)
	y.around("tree", 170, 10.5, 52, 2.65)
	y.around("conifer", 90, 20, 70, 2.4)
	y.around("bush", 40, 9.5, 22, 2.9)
	y.around("rock", 16, 9, 18, 3)
	for i := range 3 {
		y.place("kettle", scene.Vec{[]float64{1.4, -1.8, 0.4}[i], []float64{0.6, 0.2, 2.2}[i], 0}, float64(i), 1.2)
	}
	y.frame.Grow(scene.Vec{-8, -7, 0})
	y.frame.Grow(scene.Vec{8, 8, 6.5})
	y.front, y.from, y.sun, y.lens = [4]float64{-5, -5, 5, 5}, scene.Vec{0.2, -1, 0.26}, -0.9, 28
}

func buildSquare(y *yard) {
	y.land("earth", 200, 0, 90)
	y.paved("paving", "cobbles", [4]float64{-60, -60, 60, 60}, 0.05)
	hall := house(shape{w: 18, d: 9, floors: 2, wall: "white", upper: "white", roof: "slate", pitch: 0.7, chimneys: 2, door: true, glass: y.glass(), storey: 4}, y.rnd)
	for i := range 7 {
		hall.put(scene.Lathe([][2]float64{{0.55, 0}, {0.5, 0.3}, {0.42, 0.4}, {0.36, 6.9}, {0.5, 7.1}, {0.55, 7.4}}, 16, true), "white", scene.Vec{-7.5 + float64(i)*2.5, -6, 0.2}, 0)
	}
	hall.put(scene.Box(18.4, 2.6, 0.7), "white", scene.Vec{0, -5.4, 7.6}, 0)
	hall.put(scene.Frustum(3, 3, 2.4, 2.4, 4), "white", scene.Vec{0, -1, 11}, 0)
	face := scene.Cylinder(1, 0.12, 32)
	for i, v := range face.V {
		face.V[i] = scene.Vec{v[0], -v[2], v[1]}
	}
	hall.put(face, "plaster", scene.Vec{0, -2.35, 13.2}, 0)
	hall.tilted(scene.Box(0.1, 0.05, 0.85), "iron", scene.Vec{0, -2.5, 13.2}, 0.2, 0)
	hall.tilted(scene.Box(0.12, 0.05, 0.55), "iron", scene.Vec{0, -2.5, 13.2}, 2.1, 0)
	hall.put(scene.Frustum(3.4, 3.4, 0.1, 0.1, 3.2), "slate", scene.Vec{0, -1, 15}, 0)
	at := scene.Vec{0, 17, 1.1}
	y.build("hall", hall, at, 0)
	steps := &piece{}
	for i := range 6 {
		steps.put(scene.Box(20+float64(6-i)*0.9, 10+float64(6-i)*1.3, 0.19), "white", scene.Vec{0, 15.2, float64(i) * 0.19}, 0)
	}
	y.build("steps", steps, scene.Vec{}, 0)
	y.take(0, 15, 13)
	rnd := noise.NewSource(y.seed, "sides")
	for i := range 8 {
		side := float64(i%2)*2 - 1
		s := shape{w: rnd.Between(6.5, 8.5), d: 7, floors: 2 + rnd.Intn(2), wall: "stone", upper: []string{"plaster", "brick", "white"}[i%3], roof: "slate", framed: i%3 == 0, pitch: rnd.Between(0.9, 1.2), chimneys: 1, door: true, glass: y.glass()}
		p := house(s, rnd)
		where := scene.Vec{side * 21, -1 + float64(i/2)*8.6, 0}
		y.stand(fmt.Sprintf("house %d", i), y.mesh(fmt.Sprintf("house %d", i), p), where, side*math.Pi/2*-1, 1)
		y.take(where[0], where[1], 5.5)
	}
	drain := &piece{}
	drain.put(scene.Cylinder(0.95, 0.05, 24), "brass", scene.Vec{}, 0)
	for i := range 7 {
		drain.put(scene.Box(0.1, 1.6, 0.02), "dark", scene.Vec{-0.6 + float64(i)*0.2, 0, 0.05}, 0)
	}
	y.build("drain", drain, scene.Vec{0, -1, 0.06}, 0)
	y.take(0, -1, 2)
	for _, px := range []float64{-8, 8} {
		y.place("lamp", scene.Vec{px, 6, 0}, 0, 1.15)
		y.place("lamp", scene.Vec{px * 1.3, -5, 0}, 0, 1.15)
	}
	for i := range max(4, min(y.read.things["stall"], 8)) {
		y.place("stall", scene.Vec{[]float64{-12, 12, -13, 12.5, -11, 11, -14, 14}[i], []float64{1, 0, -4.5, -5.5, 6, 5.5, -9, -10}[i], 0}, []float64{1.3, -1.4, 1.5, -1.2, 1.5, -1.5, 1.3, -1.3}[i], 1)
	}
	y.place("cart", scene.Vec{5, 3, 0}, 2.4, 1)
	y.place("cart", scene.Vec{-6, -4, 0}, 0.4, 1)
	for i := range 6 {
		y.place("barrel", scene.Vec{[]float64{-9.2, -9.8, -9.3, 9.4, 10, 9.7}[i], []float64{-0.4, 0.3, 0.9, 2.4, 2.1, 3}[i], 0}, 0, 1)
	}
	y.around("conifer", 40, 36, 70, 1.5)
	y.frame.Grow(scene.Vec{-11, -4, 0})
	y.frame.Grow(scene.Vec{11, -4, 0})
	y.front, y.from, y.sun, y.lens = [4]float64{-9, -8, 9, 5}, scene.Vec{-0.24, -1, 0.17}, -1.1, 28
}

func buildChurch(y *yard) {
	y.land("grass", 180, 4, 18)
	nave := house(shape{w: 16, d: 8, floors: 1, wall: "stone", upper: "stone", roof: "slate", pitch: 1.25, glass: y.glass(), storey: 5}, y.rnd)
	y.build("nave", nave, scene.Vec{3, 3, 0}, 0)
	spire := &piece{}
	spire.put(scene.Frustum(5.2, 5.2, 4.8, 4.8, 13), "stone", scene.Vec{}, 0)
	spire.put(scene.Frustum(5.4, 5.4, 0.1, 0.1, 9), "slate", scene.Vec{0, 0, 13}, 0)
	doorway(spire, scene.Vec{0, -2.6, 0.3}, 0)
	for i := range 4 {
		a := float64(i) * math.Pi / 2
		window(spire, scene.Vec{math.Sin(a) * 2.5, -math.Cos(a) * 2.5, 9.6}, a, "dark")
	}
	y.build("spire", spire, scene.Vec{-7.4, 3, 0}, 0)
	y.take(3, 3, 9)
	y.take(-7.4, 3, 4)
	y.strew("grave", things["grave"], 18, [4]float64{-12, -12, 14, -3}, false)
	y.around("tree", 26, 17, 44, 2.2)
	y.front, y.from, y.sun = [4]float64{-10, -12, 10, -3}, scene.Vec{-0.6, -1, 0.24}, -0.7
}

func buildHall(y *yard) {
	y.land("grass", 200, 4, 26)
	y.paved("court", "cobbles", [4]float64{-14, -22, 14, 0}, 0.05)
	p := house(shape{w: 20, d: 10, floors: 3, wall: "stone", upper: "stone", roof: "slate", pitch: 0.9, chimneys: 2, door: true, glass: y.glass(), storey: 3.4}, y.rnd)
	for _, s := range []float64{-1, 1} {
		p.add(house(shape{w: 9, d: 7, floors: 3, wall: "stone", upper: "stone", roof: "slate", pitch: 1.1, glass: y.glass(), storey: 3.2}, y.rnd), scene.Vec{s * 9.5, -3.4, 0}, math.Pi/2)
	}
	y.build("hall", p, scene.Vec{0, 5, 0}, 0)
	y.take(0, 5, 14)
	for _, px := range []float64{-5, 5} {
		y.place("lamp", scene.Vec{px, -6, 0}, 0, 1.1)
	}
	y.around("tree", 30, 24, 60, 2.2)
	y.front, y.from, y.sun = [4]float64{-12, -20, 12, -5}, scene.Vec{0.55, -1, 0.3}, -2.2
}

func buildGate(y *yard) {
	y.land("grass", 200, 4, 14)
	y.paved("road", "cobbles", [4]float64{-2.6, -60, 2.6, 60}, 0.05)
	p := &piece{}
	for _, s := range []float64{-1, 1} {
		p.put(scene.Box(4.5, 6, 9), "stone", scene.Vec{s * 4.6, 0, 0}, 0)
		p.m.At(scene.Gable(4.5, 6, 2.6, 0.5), scene.Vec{s * 4.6, 0, 9}, p.slot("slate"))
		window(p, scene.Vec{s * 4.6, -3, 5.4}, 0, y.glass())
		for i := range 5 {
			p.put(scene.Box(6, 1.4, 4.4), "stone", scene.Vec{s * (9.8 + float64(i)*6), 0, 0}, 0)
		}
	}
	p.put(scene.Box(4.8, 5, 3.4), "stone", scene.Vec{0, 0, 5.2}, 0)
	p.m.At(scene.Gable(4.8, 5, 2.2, 0.2), scene.Vec{0, 0, 8.6}, p.slot("slate"))
	window(p, scene.Vec{0, -2.5, 6.4}, 0, y.glass())
	y.build("gate", p, scene.Vec{}, 0)
	y.take(0, 0, 7)
	y.place("lamp", scene.Vec{-3.2, -5, 0}, 0, 1)
	y.place("lamp", scene.Vec{3.2, -5, 0}, 0, 1)
	y.around("conifer", 30, 14, 50, 2)
	y.front, y.from, y.sun = [4]float64{-10, -14, 10, -4}, scene.Vec{0.45, -1, 0.24}, -2.2
	y.frame = scene.Box3{}
	y.frame.Grow(scene.Vec{-10, -4, 0})
	y.frame.Grow(scene.Vec{10, 4, 12})
}

func buildMarsh(y *yard) {
	y.land("earth", 180, 2.2, 3)
	y.sea("water", -0.12)
	y.dry = func(px, py float64) bool { return y.ground(px, py) > -0.5 }
	hut := house(shape{w: 5, d: 4.4, floors: 1, wall: "timber", upper: "timber", roof: "thatch", pitch: 1.3, chimneys: 1, door: true, glass: y.glass()}, y.rnd)
	for _, sx := range []float64{-2.2, 2.2} {
		for _, sy := range []float64{-1.9, 1.9} {
			hut.put(scene.Cylinder(0.18, 2, 8), "bark", scene.Vec{sx, sy, -1.8}, 0)
		}
	}
	y.build("hut", hut, scene.Vec{0, 2, 1}, 0.3)
	y.take(0, 2, 3.6)
	y.strew("reed", things["reed"], 90, [4]float64{-16, -13, 16, 16}, false)
	y.around("tree", 14, 14, 44, 2.4)
	y.place("boat", scene.Vec{4.6, -3.4, 0}, 0.5, 1)
	y.front, y.from, y.sun = [4]float64{-9, -9, 9, -2}, scene.Vec{0.6, -1, 0.2}, -2.4
	y.frame.Grow(scene.Vec{-7, -5, 0})
	y.frame.Grow(scene.Vec{8, -5, 0})
}

func buildPlain(y *yard) {
	y.land("grass", 240, 9, 6)
	y.strew("rock", things["rock"], 14, [4]float64{-16, -10, 16, 16}, false)
	y.strew("bush", things["bush"], 16, [4]float64{-20, -10, 20, 20}, false)
	y.around("tree", 18, 14, 60, 1.9)
	y.frame.Grow(scene.Vec{-9, -6, 0})
	y.frame.Grow(scene.Vec{9, 9, 5})
	y.front, y.from, y.sun = [4]float64{-8, -7, 8, 7}, scene.Vec{0.4, -1, 0.3}, -2.2
}
