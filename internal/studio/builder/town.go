package builder

import (
	"fmt"
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

func buildInn(y *yard) {
	y.addLand("grass", 160, 3, 16)
	y.addPaving("yard", "cobbles", [4]float64{-13, -15, 13, -1}, 0.06)
	front := newHouse(shape{w: 12, d: 8, floors: 2, wall: "stone", upper: "plaster", roof: "slate", framed: true,
		jetty: true, pitch: 1.05, chimneys: 2, door: true, glass: y.windowMaterial()}, y.rnd)
	wing := newHouse(shape{w: 6.5, d: 6, floors: 2, wall: "stone", upper: "plaster", roof: "slate", framed: true,
		pitch: 1.1, chimneys: 1, glass: y.windowMaterial()}, y.rnd)
	y.addFramed("house", front, scene.Vec{0, 3.5, 0}, 0)
	y.addFramed("wing", wing, scene.Vec{-7.4, -0.6, 0}, math.Pi/2)
	y.takeDisc(0, 3.5, 7.6)
	y.takeDisc(-7.4, -0.6, 4.6)
	words := y.id
	if len(words) > 12 {
		words = words[:12]
	}
	y.addSign(scene.Vec{2.2, -0.75, 3.3}, displayName(words))
	y.placeProp("lamp", scene.Vec{1.6, -3.4, 0}, 0, 1)
	y.placeProp("lamp", scene.Vec{9.4, -2.2, 0}, 0, 1)
	if y.isDark() {
		y.addLamp(scene.Vec{-1, -1.4, 2.6}, 60)
	}
	if y.read.props["anchor"] > 0 {
		y.placeProp("anchor", scene.Vec{5.6, -5.6, 0}, 0.5, 1)
	}
	for i := range min(y.read.props["table"], 3) {
		y.placeProp("table", scene.Vec{3.4 + 3.2*float64(i), -1.4 - 1.4*float64(i), 0}, 0.15, 1)
	}
	for i := range 7 {
		at := [][2]float64{{-3.3, -2.3}, {-2.5, -2.6}, {-3, -3.2}, {7.8, -1}, {8.6, -1.1}, {8.2, -1.9}, {-3.8, -3}}[i]
		y.placeProp("barrel", scene.Vec{at[0], at[1], 0.05}, float64(i), 1)
	}
	y.plantAround("tree", 16, 15, 34, 1.9)
	y.plantAround("bush", 14, 12, 30, 2)
	y.front, y.from, y.sun = [4]float64{-5, -13, 12, -3.4}, scene.Vec{0.6, -1, 0.2}, 0.9
}

// displayName turns an identifier into a name.
func displayName(id string) string {
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
	y.addLand("grass", 160, 4, 12)
	p := newHouse(shape{w: 8, d: 6.5, floors: 1, wall: "stone", upper: "plaster", roof: "thatch", pitch: 1.15, chimneys: 1,
		door: true, glass: y.windowMaterial()}, y.rnd)
	y.addFramed("house", p, scene.Vec{}, 0)
	y.takeDisc(0, 0, 5.4)
	y.plantAround("tree", 14, 11, 30, 2)
	y.plantAround("bush", 10, 7, 14, 2)
	y.front, y.from, y.sun = [4]float64{-8, -11, 8, -4}, scene.Vec{0.7, -1, 0.35}, -2.2
}

func buildSquare(y *yard) {
	y.addLand("earth", 200, 0, 90)
	y.addPaving("paving", "cobbles", [4]float64{-60, -60, 60, 60}, 0.05)
	hall := newHouse(shape{w: 18, d: 9, floors: 2, wall: "white", upper: "white", roof: "slate", pitch: 0.7, chimneys: 2,
		door: true, glass: y.windowMaterial(), storey: 4}, y.rnd)
	for i := range 7 {
		hall.put(scene.Lathe([][2]float64{{0.55, 0}, {0.5, 0.3}, {0.42, 0.4}, {0.36, 6.9}, {0.5, 7.1}, {0.55, 7.4}}, 16,
			true), "white", scene.Vec{-7.5 + float64(i)*2.5, -6, 0.2}, 0)
	}
	hall.put(scene.Box(18.4, 2.6, 0.7), "white", scene.Vec{0, -5.4, 7.6}, 0)
	hall.put(scene.Frustum(3, 3, 2.4, 2.4, 4), "white", scene.Vec{0, -1, 11}, 0)
	face := scene.Cylinder(1, 0.12, 32)
	for i, v := range face.V {
		face.V[i] = scene.Vec{v[0], -v[2], v[1]}
	}
	hall.put(face, "plaster", scene.Vec{0, -2.35, 13.2}, 0)
	hall.putTilted(scene.Box(0.1, 0.05, 0.85), "iron", scene.Vec{0, -2.5, 13.2}, 0.2, 0)
	hall.putTilted(scene.Box(0.12, 0.05, 0.55), "iron", scene.Vec{0, -2.5, 13.2}, 2.1, 0)
	hall.put(scene.Frustum(3.4, 3.4, 0.1, 0.1, 3.2), "slate", scene.Vec{0, -1, 15}, 0)
	at := scene.Vec{0, 17, 1.1}
	y.addFramed("hall", hall, at, 0)
	steps := &piece{}
	for i := range 6 {
		steps.put(scene.Box(20+float64(6-i)*0.9, 10+float64(6-i)*1.3, 0.19), "white",
			scene.Vec{0, 15.2, float64(i) * 0.19}, 0)
	}
	y.addFramed("steps", steps, scene.Vec{}, 0)
	y.takeDisc(0, 15, 13)
	rnd := noise.NewSource(y.seed, "sides")
	for i := range 8 {
		side := float64(i%2)*2 - 1
		s := shape{w: rnd.Between(6.5, 8.5), d: 7, floors: 2 + rnd.Intn(2), wall: "stone",
			upper: []string{"plaster", "brick", "white"}[i%3], roof: "slate", framed: i%3 == 0, pitch: rnd.Between(0.9, 1.2),
			chimneys: 1, door: true, glass: y.windowMaterial()}
		p := newHouse(s, rnd)
		where := scene.Vec{side * 21, -1 + float64(i/2)*8.6, 0}
		y.addObject(fmt.Sprintf("house %d", i), y.useMesh(fmt.Sprintf("house %d", i), p), where, side*math.Pi/2*-1, 1)
		y.takeDisc(where[0], where[1], 5.5)
	}
	drain := &piece{}
	drain.put(scene.Cylinder(0.95, 0.05, 24), "brass", scene.Vec{}, 0)
	for i := range 7 {
		drain.put(scene.Box(0.1, 1.6, 0.02), "dark", scene.Vec{-0.6 + float64(i)*0.2, 0, 0.05}, 0)
	}
	y.addFramed("drain", drain, scene.Vec{0, -1, 0.06}, 0)
	y.takeDisc(0, -1, 2)
	for _, px := range []float64{-8, 8} {
		y.placeProp("lamp", scene.Vec{px, 6, 0}, 0, 1.15)
		y.placeProp("lamp", scene.Vec{px * 1.3, -5, 0}, 0, 1.15)
	}
	for i := range max(4, min(y.read.props["stall"], 8)) {
		y.placeProp("stall", scene.Vec{[]float64{-12, 12, -13, 12.5, -11, 11, -14, 14}[i],
			[]float64{1, 0, -4.5, -5.5, 6, 5.5, -9, -10}[i], 0}, []float64{1.3, -1.4, 1.5, -1.2, 1.5, -1.5, 1.3, -1.3}[i], 1)
	}
	y.placeProp("cart", scene.Vec{5, 3, 0}, 2.4, 1)
	y.placeProp("cart", scene.Vec{-6, -4, 0}, 0.4, 1)
	for i := range 6 {
		y.placeProp("barrel", scene.Vec{[]float64{-9.2, -9.8, -9.3, 9.4, 10, 9.7}[i],
			[]float64{-0.4, 0.3, 0.9, 2.4, 2.1, 3}[i], 0}, 0, 1)
	}
	y.plantAround("conifer", 40, 36, 70, 1.5)
	y.frame.Grow(scene.Vec{-11, -4, 0})
	y.frame.Grow(scene.Vec{11, -4, 0})
	y.front, y.from, y.sun, y.lens = [4]float64{-9, -8, 9, 5}, scene.Vec{-0.24, -1, 0.17}, -1.1, 28
}

func buildChurch(y *yard) {
	y.addLand("grass", 180, 4, 18)
	nave := newHouse(shape{w: 16, d: 8, floors: 1, wall: "stone", upper: "stone", roof: "slate", pitch: 1.25,
		glass: y.windowMaterial(), storey: 5}, y.rnd)
	y.addFramed("nave", nave, scene.Vec{3, 3, 0}, 0)
	spire := &piece{}
	spire.put(scene.Frustum(5.2, 5.2, 4.8, 4.8, 13), "stone", scene.Vec{}, 0)
	spire.put(scene.Frustum(5.4, 5.4, 0.1, 0.1, 9), "slate", scene.Vec{0, 0, 13}, 0)
	addDoorway(spire, scene.Vec{0, -2.6, 0.3}, 0)
	for i := range 4 {
		a := float64(i) * math.Pi / 2
		addWindow(spire, scene.Vec{math.Sin(a) * 2.5, -math.Cos(a) * 2.5, 9.6}, a, "dark")
	}
	y.addFramed("spire", spire, scene.Vec{-7.4, 3, 0}, 0)
	y.takeDisc(3, 3, 9)
	y.takeDisc(-7.4, 3, 4)
	y.strewProps("grave", props["grave"], 18, [4]float64{-12, -12, 14, -3}, false)
	y.plantAround("tree", 26, 17, 44, 2.2)
	y.front, y.from, y.sun = [4]float64{-10, -12, 10, -3}, scene.Vec{-0.6, -1, 0.24}, -0.7
}

func buildHall(y *yard) {
	y.addLand("grass", 200, 4, 26)
	y.addPaving("court", "cobbles", [4]float64{-14, -22, 14, 0}, 0.05)
	p := newHouse(shape{w: 20, d: 10, floors: 3, wall: "stone", upper: "stone", roof: "slate", pitch: 0.9, chimneys: 2,
		door: true, glass: y.windowMaterial(), storey: 3.4}, y.rnd)
	for _, s := range []float64{-1, 1} {
		p.add(newHouse(shape{w: 9, d: 7, floors: 3, wall: "stone", upper: "stone", roof: "slate", pitch: 1.1,
			glass: y.windowMaterial(), storey: 3.2}, y.rnd), scene.Vec{s * 9.5, -3.4, 0}, math.Pi/2)
	}
	y.addFramed("hall", p, scene.Vec{0, 5, 0}, 0)
	y.takeDisc(0, 5, 14)
	for _, px := range []float64{-5, 5} {
		y.placeProp("lamp", scene.Vec{px, -6, 0}, 0, 1.1)
	}
	y.plantAround("tree", 30, 24, 60, 2.2)
	y.front, y.from, y.sun = [4]float64{-12, -20, 12, -5}, scene.Vec{0.55, -1, 0.3}, -2.2
}

func buildGate(y *yard) {
	y.addLand("grass", 200, 4, 14)
	y.addPaving("road", "cobbles", [4]float64{-2.6, -60, 2.6, 60}, 0.05)
	p := &piece{}
	for _, s := range []float64{-1, 1} {
		p.put(scene.Box(4.5, 6, 9), "stone", scene.Vec{s * 4.6, 0, 0}, 0)
		p.m.At(scene.Gable(4.5, 6, 2.6, 0.5), scene.Vec{s * 4.6, 0, 9}, p.materialSlot("slate"))
		addWindow(p, scene.Vec{s * 4.6, -3, 5.4}, 0, y.windowMaterial())
		for i := range 5 {
			p.put(scene.Box(6, 1.4, 4.4), "stone", scene.Vec{s * (9.8 + float64(i)*6), 0, 0}, 0)
		}
	}
	p.put(scene.Box(4.8, 5, 3.4), "stone", scene.Vec{0, 0, 5.2}, 0)
	p.m.At(scene.Gable(4.8, 5, 2.2, 0.2), scene.Vec{0, 0, 8.6}, p.materialSlot("slate"))
	addWindow(p, scene.Vec{0, -2.5, 6.4}, 0, y.windowMaterial())
	y.addFramed("gate", p, scene.Vec{}, 0)
	y.takeDisc(0, 0, 7)
	y.placeProp("lamp", scene.Vec{-3.2, -5, 0}, 0, 1)
	y.placeProp("lamp", scene.Vec{3.2, -5, 0}, 0, 1)
	y.plantAround("conifer", 30, 14, 50, 2)
	y.front, y.from, y.sun = [4]float64{-10, -14, 10, -4}, scene.Vec{0.45, -1, 0.24}, -2.2
	y.frame = scene.Box3{}
	y.frame.Grow(scene.Vec{-10, -4, 0})
	y.frame.Grow(scene.Vec{10, 4, 12})
}
