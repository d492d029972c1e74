package build

import (
	"math"
	"slices"

	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// leafOutline returns the outline of a leaf with its head, counter-clockwise as seen from -Y.
func leafOutline(w, h float64, arched bool) [][2]float64 {
	if !arched {
		return [][2]float64{{-w / 2, 0}, {w / 2, 0}, {w / 2, h}, {-w / 2, h}}
	}
	r := min(w/2, h)
	arc := arcPoints(0, h-r, r, 10)
	slices.Reverse(arc)
	return append([][2]float64{{-w / 2, 0}, {w / 2, 0}}, arc...)
}

// makeDoor makes the leaf of a door: planks with iron bands, or bars. Slots: planks, frame, iron.
func makeDoor(d *spec.Leaf) *Mesh {
	w, h := d.Size[0], d.Size[1]
	leaf := &scene.Mesh{}
	if d.Bars {
		n := max(int(w/0.18), 2)
		for i := range n {
			x := -w/2 + w*(float64(i)+0.5)/float64(n)
			leaf.At(scene.Cylinder(0.02, h, 8), scene.Vec{x, 0, 0}, 2)
		}
		for _, z := range []float64{0.1, h / 2, h - 0.12} {
			addBox(leaf, scene.Vec{-w / 2, -0.02, z}, scene.Vec{w / 2, 0.02, z + 0.05}, 2)
		}
	} else {
		addPrism(leaf, leafOutline(w, h, d.Arched), -0.04, 0.04, 0)
		n := max(int(math.Round(w/0.24)), 2)
		for i := 1; i < n; i++ {
			x := -w/2 + w*float64(i)/float64(n)
			top := h - 0.04
			if d.Arched {
				r := min(w/2, h)
				top = h - r + math.Sqrt(max(r*r-x*x, 0)) - 0.04
			}
			addBox(leaf, scene.Vec{x - 0.008, -0.048, 0.03}, scene.Vec{x + 0.008, 0.048, top}, 2)
		}
		for _, z := range []float64{h * 0.16, h * 0.5} {
			addBox(leaf, scene.Vec{-w/2 + 0.03, -0.055, z}, scene.Vec{w/2 - 0.08, 0.055, z + 0.07}, 2)
		}
		leaf.At(scene.Torus(0.07, 0.015, 12, 6), scene.Vec{w/2 - 0.16, -0.07, h * 0.45}, 2)
	}
	out := &Mesh{}
	s, c := math.Sincos(-d.Ajar * math.Pi / 180)
	out.Add(leaf, func(v scene.Vec) scene.Vec {
		x, y := v[0]+w/2, v[1]
		return scene.Vec{x*c - y*s - w/2, x*s + y*c, v[2]}
	}, 0)
	if d.Ajar < 45 {
		out.Solids = []Solid{boxSolid(scene.Vec{-w / 2, -0.06, 0}, scene.Vec{w / 2, 0.06, h})}
	}
	return out
}

// makeWindow makes a frame with mullions and glass. Slots: frame, glass, lit glass, iron.
func makeWindow(d *spec.Leaf) *Mesh {
	w, h := d.Size[0], d.Size[1]
	glass := 1
	if d.Lit {
		glass = 2
	}
	out := &Mesh{}
	addPrism(&out.Mesh, leafOutline(w*0.98, h*0.98, d.Arched), -0.015, 0.015, glass)
	edge := min(0.07, w/5)
	outer, inner := leafOutline(w, h, d.Arched), leafOutline(w-2*edge, h-2*edge, d.Arched)
	for i := range inner {
		inner[i][1] += edge
	}
	for i := range outer {
		j := (i + 1) % len(outer)
		addPrism(&out.Mesh, [][2]float64{outer[i], outer[j], inner[j], inner[i]}, -0.05, 0.05, 0)
	}
	bar, slot := 0.02, 0
	if d.Bars {
		bar, slot = 0.015, 3
	}
	for i := 1; i < max(int(math.Round(w/0.4)), 2); i++ {
		x := -w/2 + w*float64(i)/float64(max(int(math.Round(w/0.4)), 2))
		addBox(&out.Mesh, scene.Vec{x - bar, -0.035, edge}, scene.Vec{x + bar, 0.035, h - edge}, slot)
	}
	for i := 1; i < max(int(math.Round(h/0.45)), 2); i++ {
		z := h * float64(i) / float64(max(int(math.Round(h/0.45)), 2))
		addBox(&out.Mesh, scene.Vec{-w/2 + edge, -0.033, z - bar}, scene.Vec{w/2 - edge, 0.033, z + bar}, slot)
	}
	return out
}
