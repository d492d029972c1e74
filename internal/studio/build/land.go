package build

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"loregate/internal/studio/builder"
	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// addLight sets the sky and the sun.
func (b *maker) addLight() error {
	l := b.scene.Light
	sky, sun, dark, err := builder.Sunlight(cmp.Or(l.Time, "day"))
	if err != nil {
		return err
	}
	b.dark = dark || l.Interior
	if l.Interior {
		b.Sky = scene.Sky{Color: &[3]float64{0.03, 0.034, 0.045}, Strength: 1}
		return nil
	}
	azimuth := cmp.Or(l.Sun, 240) * math.Pi / 180
	sky.Rotation = math.Pi/2 - azimuth // the sky's sun is at +Y when unturned, and turns clockwise
	up := max(sky.Elevation, 0.16)
	toSun := scene.Vec{math.Cos(azimuth) * math.Cos(up), math.Sin(azimuth) * math.Cos(up), math.Sin(up)}
	sun.Kind = "SUN"
	sun.Transform = scene.Transform{Location: toSun.Mul(60), Rotation: scene.LookAt(toSun, scene.Vec{})}
	b.Sky, b.Sun = sky, &sun
	return nil
}

// useMaterial adds a material to those in use.
func (b *maker) useMaterial(name string) error {
	if _, ok := b.Materials[name]; ok {
		return nil
	}
	own, ok := b.scene.Materials[name]
	if !ok {
		l, err := builder.LookNamed(name)
		b.Materials[name] = l
		return err
	}
	var l builder.Look
	if own.Base != "" {
		var err error
		if l, err = builder.LookNamed(own.Base); err != nil {
			return err
		}
	}
	if l.Color == ([4]float64{}) && (l.Paint == "" || own.Color != "") {
		l.Color = [4]float64{0.8, 0.8, 0.8, 1}
	}
	if own.Color != "" {
		c := linearColor(own.Color)
		l.Color = [4]float64{c[0], c[1], c[2], 1}
	}
	if own.Roughness != nil {
		l.Roughness = *own.Roughness
	} else if own.Base == "" {
		l.Roughness = 0.8
	}
	if own.Metallic != nil {
		l.Metallic = *own.Metallic
	}
	if own.Glow > 0 {
		l.Emission, l.Strength = &[3]float64{l.Color[0], l.Color[1], l.Color[2]}, own.Glow
	}
	l.Roughness *= 1 - 0.75*own.Wet
	for i := range 3 {
		l.Color[i] *= 1 - 0.45*own.Wet
	}
	b.Materials[name] = l
	return nil
}

// linearColor converts #rrggbb from sRGB.
func linearColor(hex string) (c [3]float64) {
	n, err := strconv.ParseUint(hex[min(len(hex), 1):], 16, 32)
	if err != nil {
		return c // the schema accepts only this form
	}
	for i := range c {
		s := float64(n>>(16-8*i)&255) / 255
		if s <= 0.04045 {
			c[i] = s / 12.92
		} else {
			c[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return c
}

// addLand adds the ground, the ways on it, and the water.
func (b *maker) addLand() error {
	if w := b.scene.Water; w != nil {
		b.water = func(x, y float64) (float64, bool) {
			a := w.Area
			return w.Level, a == nil || x >= a[0] && y >= a[1] && x <= a[2] && y <= a[3]
		}
		if err := b.addWater(w); err != nil {
			return err
		}
	}
	g := b.scene.Ground
	if g == nil {
		return nil
	}
	hills := noise.NewFractal(uint64(b.scene.Seed)+5, 5, 4)
	b.height = func(x, y float64) float64 {
		if g.Hills == 0 {
			return 0
		}
		u, v := int64((x/g.Size+0.5)*60000)+noise.One, int64((y/g.Size+0.5)*60000)+noise.One
		h := (float64(hills.At(u, v))/noise.One - 0.45) * g.Hills
		return h * min(max((math.Hypot(x, y)-g.Flat)/(g.Flat+8), 0), 1)
	}
	n := 2
	if g.Hills > 0 || len(g.Paths) > 0 {
		n = min(max(int(g.Size/1.2), 40), 220)
	}
	step := g.Size / float64(n-1)
	err := b.addLandMesh("ground", g.Material, g, func() *scene.Mesh {
		return scene.Grid(n, step, func(i, j int) float64 {
			return b.height(float64(i)*step-g.Size/2,
				float64(j)*step-g.Size/2)
		})
	})
	if err != nil {
		return err
	}
	for i, way := range g.Paths {
		if err := b.addLandMesh(fmt.Sprintf("ground.path-%d", i+1), way.Material, g,
			func() *scene.Mesh { return b.makeWay(way, float64(i)) }); err != nil {
			return err
		}
	}
	if g.Horizon {
		return b.addHorizon(g)
	}
	return nil
}

// addLandMesh adds a mesh of the land, which depends on its description and the scene's seed.
func (b *maker) addLandMesh(name, material string, from any, make func() *scene.Mesh) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	key := fmt.Sprint("land ", name, b.scene.Seed, string(text))
	mesh, err := b.findMesh(key, []string{material}, func() (*Mesh, error) { return &Mesh{Mesh: *make()}, nil })
	if err != nil {
		return err
	}
	b.Nodes = append(b.Nodes, Node{Path: name, Mesh: mesh, Thing: -1, Ghost: true,
		Transform: scene.Transform{Scale: scene.Vec{1, 1, 1}}})
	return nil
}

// makeWay makes a strip a little above the ground.
func (b *maker) makeWay(way spec.GroundWay, order float64) *scene.Mesh {
	m := &scene.Mesh{}
	length := spec.PathLength(way.Along)
	n := min(max(int(length/0.8), 1), 1500)
	const across = 6
	for i := range n + 1 {
		at, turn := pathPoint(way.Along, length*float64(i)/float64(n))
		left := scene.Vec{-math.Sin(turn), math.Cos(turn)}
		wobble := 1 + 0.06*math.Sin(float64(i)*1.9) + 0.05*math.Sin(float64(i)*0.7)
		for k := range across + 1 {
			v := at.Add(left.Mul(way.Width * wobble * (float64(k)/across - 0.5)))
			edge := math.Abs(float64(k)/across*2 - 1)
			v[2] = b.height(v[0], v[1]) + 0.05 + order*0.008 - 0.07*edge*edge*edge
			m.V = append(m.V, v)
		}
	}
	for i := range n {
		for k := range across {
			a := i*(across+1) + k
			m.F = append(m.F, scene.Face{V: []int{a, a + across + 1, a + across + 2, a + 1}, Smooth: true})
		}
	}
	return m
}

func (b *maker) addWater(w *spec.Water) error {
	x0, y0, x1, y1 := -4500.0, -4500.0, 4500.0, 4500.0
	if a := w.Area; a != nil {
		x0, y0, x1, y1 = a[0], a[1], a[2], a[3]
	}
	return b.addLandMesh("water", "water", w, func() *scene.Mesh {
		return (&scene.Mesh{}).At(scene.Quad(x1-x0, y1-y0), scene.Vec{(x0 + x1) / 2, (y0 + y1) / 2, w.Level}, 0)
	})
}

// addHorizon adds flat land and rings of hills, so that the ground does not end in an edge.
func (b *maker) addHorizon(g *spec.Ground) error {
	err := b.addLandMesh("ground.far", g.Material, g, func() *scene.Mesh {
		return (&scene.Mesh{}).At(scene.Quad(9000, 9000), scene.Vec{0, 0, -g.Hills/2 - 0.15}, 0)
	})
	if err != nil {
		return err
	}
	return b.addLandMesh("ground.hills", "far", g, func() *scene.Mesh {
		return builder.Horizon(uint64(b.scene.Seed), -g.Hills/2-1)
	})
}
