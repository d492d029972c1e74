package builder

import (
	"fmt"
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// plans build the kinds of place.
var plans = map[string]func(y *yard){
	"inn": buildInn, "lighthouse": buildLighthouse, "quay": buildQuay, "pans": buildPans, "wood": buildWood, "square": buildSquare, "church": buildChurch,
	"marsh": buildMarsh, "tower": buildTower, "hall": buildHall, "gate": buildGate, "house": buildHouse, "plain": buildPlain,
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
