package builder

import (
	"math"

	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// shape describes a building.
type shape struct {
	w, d     float64 // along X and Y
	floors   int
	wall     string // of the ground floor
	upper    string // of the floors above
	roof     string
	framed   bool // the upper floors have visible beams
	jetty    bool // the upper floors overhang
	pitch    float64
	chimneys int
	door     bool
	glass    string
	storey   float64
}

// newHouse makes a building with its front to -Y.
func newHouse(s shape, rnd *noise.Source) *piece {
	p := &piece{}
	if s.storey == 0 {
		s.storey = 2.9
	}
	p.put(scene.Box(s.w+0.3, s.d+0.3, 0.35), "stone", scene.Vec{0, 0, -0.05}, 0)
	w, d := s.w, s.d
	for f := range s.floors {
		z := 0.3 + float64(f)*s.storey
		wall := s.wall
		if f > 0 {
			wall = s.upper
			if s.jetty {
				w, d = s.w+0.5, s.d+0.5
				addBeams(p, w, d, z)
			}
		}
		p.put(scene.Box(w, d, s.storey), wall, scene.Vec{0, 0, z}, 0)
		if f > 0 && s.framed {
			addFraming(p, w, d, z, s.storey)
		}
		addWindows(p, s, w, d, z, f, rnd)
	}
	top := 0.3 + float64(s.floors)*s.storey
	h := d / 2 * s.pitch
	roof := scene.Gable(w, d, h, 0.55)
	for i := range roof.F {
		if roof.F[i].Slot == 1 {
			roof.F[i].Slot = p.materialSlot(s.upper)
		} else {
			roof.F[i].Slot = p.materialSlot(s.roof)
		}
	}
	p.m.At(roof, scene.Vec{0, 0, top}, 0)
	p.put(scene.Box(w+1.1, 0.22, 0.2), s.roof, scene.Vec{0, 0, top + h + 0.06}, 0)
	for i := range s.chimneys {
		x := w * (0.36 - 0.72*float64(i))
		p.put(scene.Box(0.9, 0.7, h+1.5), "brick", scene.Vec{x, d * 0.12, top}, 0)
		p.put(scene.Box(1.1, 0.9, 0.2), "stone", scene.Vec{x, d * 0.12, top + h + 1.4}, 0)
		for _, dx := range []float64{-0.22, 0.22} {
			p.put(scene.Cylinder(0.13, 0.45, 10), "brick", scene.Vec{x + dx, d * 0.12, top + h + 1.6}, 0)
		}
	}
	if s.door {
		addDoorway(p, scene.Vec{-w * 0.08, -s.d / 2, 0.3}, 0)
	}
	return p
}

// addBeams adds the ends of the joists below an overhanging floor.
func addBeams(p *piece, w, d, z float64) {
	n := int(w / 0.9)
	for i := range n + 1 {
		x := -w/2 + 0.15 + float64(i)*(w-0.3)/float64(n)
		p.put(scene.Box(0.18, d+0.1, 0.2), "timber", scene.Vec{x, 0, z - 0.16}, 0)
	}
}

// addFraming adds beams on the walls of a floor: sills, posts and braces.
func addFraming(p *piece, w, d, z, h float64) {
	sides := []struct {
		at   scene.Vec
		turn float64
		long float64
	}{{scene.Vec{0, -d / 2, z}, 0, w}, {scene.Vec{0, d / 2, z}, math.Pi, w}, {scene.Vec{w / 2, 0, z}, math.Pi / 2, d},
		{scene.Vec{-w / 2, 0, z}, -math.Pi / 2, d}}
	for _, s := range sides {
		one := &piece{}
		one.put(scene.Box(s.long+0.16, 0.16, 0.24), "timber", scene.Vec{0, 0, 0}, 0)
		one.put(scene.Box(s.long+0.16, 0.16, 0.24), "timber", scene.Vec{0, 0, h - 0.24}, 0)
		n := max(int(math.Round(s.long/1.9)), 2)
		for i := range n + 1 {
			x := -s.long/2 + float64(i)*s.long/float64(n)
			one.put(scene.Box(0.2, 0.15, h), "timber", scene.Vec{x, 0, 0}, 0)
		}
		for _, k := range []float64{-1, 1} {
			run := s.long / float64(n)
			one.putTilted(scene.Box(0.16, 0.13, math.Hypot(run, h-0.3)), "timber", scene.Vec{k * s.long / 2, 0, 0.12},
				-k*math.Atan2(run, h-0.3), 0)
		}
		p.add(one, s.at, s.turn)
	}
}

// addWindows adds windows to the front, the back and the sides of a floor.
func addWindows(p *piece, s shape, w, d, z float64, floor int, rnd *noise.Source) {
	n := max(int(w/2.4), 1)
	for i := range n {
		x := -w/2 + (float64(i)+0.5)*w/float64(n)
		if floor == 0 && s.door && math.Abs(x+w*0.08) < 1.3 {
			continue
		}
		pane := s.glass
		if pane == "lit" && rnd.Float() < 0.22 {
			pane = "pane"
		}
		addWindow(p, scene.Vec{x, -d / 2, z + 0.95}, 0, pane)
		addWindow(p, scene.Vec{x, d / 2, z + 0.95}, math.Pi, "pane")
	}
	m := max(int(d/3), 1)
	for i := range m {
		y := -d/2 + (float64(i)+0.5)*d/float64(m)
		for _, side := range []float64{-1, 1} {
			pane := s.glass
			if pane == "lit" && rnd.Float() < 0.4 {
				pane = "pane"
			}
			addWindow(p, scene.Vec{side * w / 2, y, z + 0.95}, side*math.Pi/2, pane)
		}
	}
}

// addWindow adds a casement with mullions, facing -Y when unturned.
func addWindow(p *piece, at scene.Vec, turn float64, pane string) {
	one := &piece{}
	one.put(scene.Box(1.04, 0.14, 1.34), "timber", scene.Vec{0, 0, -0.07}, 0)
	one.put(scene.Box(0.86, 0.17, 1.16), pane, scene.Vec{0, 0, 0.02}, 0)
	for _, x := range []float64{-0.14, 0.14} {
		one.put(scene.Box(0.045, 0.2, 1.16), "timber", scene.Vec{x, 0, 0.02}, 0)
	}
	for _, z := range []float64{0.38, 0.76} {
		one.put(scene.Box(0.86, 0.2, 0.045), "timber", scene.Vec{0, 0, z}, 0)
	}
	one.put(scene.Box(1.25, 0.32, 0.09), "stone", scene.Vec{0, -0.05, -0.15}, 0)
	p.add(one, at, turn)
}

// addDoorway adds a boarded door in a stone frame, with steps.
func addDoorway(p *piece, at scene.Vec, turn float64) {
	one := &piece{}
	one.put(scene.Box(1.5, 0.3, 2.35), "stone", scene.Vec{0, 0, 0}, 0)
	one.put(scene.Box(1.1, 0.36, 2.1), "timber", scene.Vec{0, 0, 0}, 0)
	for _, z := range []float64{0.4, 1.6} {
		one.put(scene.Box(1, 0.4, 0.08), "iron", scene.Vec{0, 0, z}, 0)
	}
	one.put(scene.Sphere(0.06, 8, 6), "brass", scene.Vec{0.4, -0.2, 1.05}, 0)
	one.put(scene.Box(2, 1, 0.16), "stone", scene.Vec{0, -0.5, -0.15}, 0)
	one.put(scene.Box(2.4, 1.5, 0.16), "stone", scene.Vec{0, -0.65, -0.3}, 0)
	p.add(one, at, turn)
}

// addSign adds a sign board on a bracket at a wall that faces -Y.
func (y *yard) addSign(at scene.Vec, words string) {
	p := &piece{}
	p.put(scene.Box(0.1, 1.6, 0.1), "iron", scene.Vec{0, -0.8, 0.95}, 0)
	for _, dy := range []float64{-0.55, -1.35} {
		p.put(scene.Box(0.03, 0.03, 0.2), "iron", scene.Vec{0, dy, 0.78}, 0)
	}
	p.put(scene.Box(0.1, 1.15, 0.8), "timber", scene.Vec{0, -0.95, 0}, 0)
	y.addFramed("sign", p, at, 0)
	for i, side := range []float64{-1, 1} {
		turn := side * math.Pi / 2
		y.Text(y.id+" sign words "+[]string{"a", "b"}[i], words, y.useMaterial("white"), y.id, 0.2,
			scene.Transform{Location: at.Add(scene.Vec{side * 0.075, -0.95, 0.4}), Rotation: scene.Vec{math.Pi / 2, 0, turn}})
	}
}
