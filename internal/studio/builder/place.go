package builder

import (
	"fmt"
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// kindBuilders maps the kinds of place to their builders.
var kindBuilders = map[string]func(y *yard){
	"inn": buildInn, "lighthouse": buildLighthouse, "quay": buildQuay, "pans": buildPans, "wood": buildWood,
	"square": buildSquare, "church": buildChurch,
	"marsh": buildMarsh, "tower": buildTower, "hall": buildHall, "gate": buildGate, "house": buildHouse,
	"plain": buildPlain,
}

func buildWood(y *yard) {
	y.addLand("earth", 150, 2.4, 9)
	y.addSea("water", -0.42)
	y.dry = func(px, py float64) bool { return y.groundHeight(px, py) > -0.3 }
	n := max(y.read.props["stump"], 12)
	for i := range n {
		a := float64(i) * 2 * math.Pi / float64(n)
		r := math.Max(5.4, float64(n)*0.19)
		mesh := fmt.Sprintf("stump kind %d", i%3)
		if !y.meshes[mesh] {
			y.useMesh(mesh, newStump(noise.NewSource(y.seed, mesh)))
		}
		x, yy := math.Cos(a)*r, math.Sin(a)*r
		y.addObject("stump", y.id+" "+mesh, scene.Vec{x, yy, y.groundHeight(x, yy)}, a, 0.95+0.15*math.Sin(float64(i)*2.4))
		y.takeDisc(x, yy, 0.6)
	}
	y.takeDisc(0, 0, 4.5)
	y.takeDisc(3.5, -13, 6)
	moss := &piece{}
	moss.put(scene.Cylinder(9.5, 0.04, 40), "grass", scene.Vec{0, 0, 0}, 0)
	y.addObject("clearing", y.useMesh("clearing", moss), scene.Vec{}, 0, 1)
	y.plantAround("tree", 170, 10.5, 52, 2.65)
	y.plantAround("conifer", 90, 20, 70, 2.4)
	y.plantAround("bush", 40, 9.5, 22, 2.9)
	y.plantAround("rock", 16, 9, 18, 3)
	for i := range 3 {
		y.placeProp("kettle", scene.Vec{[]float64{1.4, -1.8, 0.4}[i], []float64{0.6, 0.2, 2.2}[i], 0}, float64(i), 1.2)
	}
	y.frame.Grow(scene.Vec{-8, -7, 0})
	y.frame.Grow(scene.Vec{8, 8, 6.5})
	y.front, y.from, y.sun, y.lens = [4]float64{-5, -5, 5, 5}, scene.Vec{0.2, -1, 0.26}, -0.9, 28
}

func buildMarsh(y *yard) {
	y.addLand("earth", 180, 2.2, 3)
	y.addSea("water", -0.12)
	y.dry = func(px, py float64) bool { return y.groundHeight(px, py) > -0.5 }
	hut := newHouse(shape{w: 5, d: 4.4, floors: 1, wall: "timber", upper: "timber", roof: "thatch", pitch: 1.3,
		chimneys: 1, door: true, glass: y.windowMaterial()}, y.rnd)
	for _, sx := range []float64{-2.2, 2.2} {
		for _, sy := range []float64{-1.9, 1.9} {
			hut.put(scene.Cylinder(0.18, 2, 8), "bark", scene.Vec{sx, sy, -1.8}, 0)
		}
	}
	y.addFramed("hut", hut, scene.Vec{0, 2, 1}, 0.3)
	y.takeDisc(0, 2, 3.6)
	y.strewProps("reed", props["reed"], 90, [4]float64{-16, -13, 16, 16}, false)
	y.plantAround("tree", 14, 14, 44, 2.4)
	y.placeProp("boat", scene.Vec{4.6, -3.4, 0}, 0.5, 1)
	y.front, y.from, y.sun = [4]float64{-9, -9, 9, -2}, scene.Vec{0.6, -1, 0.2}, -2.4
	y.frame.Grow(scene.Vec{-7, -5, 0})
	y.frame.Grow(scene.Vec{8, -5, 0})
}

func buildPlain(y *yard) {
	y.addLand("grass", 240, 9, 6)
	y.strewProps("rock", props["rock"], 14, [4]float64{-16, -10, 16, 16}, false)
	y.strewProps("bush", props["bush"], 16, [4]float64{-20, -10, 20, 20}, false)
	y.plantAround("tree", 18, 14, 60, 1.9)
	y.frame.Grow(scene.Vec{-9, -6, 0})
	y.frame.Grow(scene.Vec{9, 9, 5})
	y.front, y.from, y.sun = [4]float64{-8, -7, 8, 7}, scene.Vec{0.4, -1, 0.3}, -2.2
}
