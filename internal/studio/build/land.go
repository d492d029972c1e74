package build

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"loregate/internal/studio/builder"
	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
	"loregate/internal/studio/texture"
)

// paleColors are the linear colours of haze and clouds by time.
var paleColors = map[string][3]float64{"day": {0.62, 0.7, 0.78}, "dawn": {0.62, 0.5, 0.45}, "dusk": {0.5, 0.36, 0.32},
	"night": {0.02, 0.028, 0.05}, "overcast": {0.55, 0.6, 0.64}}

// addLight sets the sky and the sun.
func (b *maker) addLight() error {
	l := b.scene.Light
	sky, sun, dark, err := builder.Sunlight(cmp.Or(l.Time, "day"))
	if err != nil {
		return err
	}
	b.dark = dark || l.Interior
	if l.Interior {
		b.Sky = scene.Sky{Color: &[3]float64{0.03, 0.034, 0.045}, Strength: 1, Exposure: l.Exposure}
		return nil
	}
	azimuth := cmp.Or(l.Sun, 240) * math.Pi / 180
	sky.Rotation = math.Pi/2 - azimuth // the sky's sun is at +Y when unturned, and turns clockwise
	up := max(sky.Elevation, 0.16)
	toSun := scene.Vec{math.Cos(azimuth) * math.Cos(up), math.Sin(azimuth) * math.Cos(up), math.Sin(up)}
	sun.Kind = "SUN"
	sun.Transform = scene.Transform{Location: toSun.Mul(60), Rotation: scene.LookAt(toSun, scene.Vec{})}
	sky.Clouds, sky.Haze, sky.Exposure = l.Clouds, l.Haze, l.Exposure
	sky.Pale = paleColors[cmp.Or(l.Time, "day")]
	b.Sky, b.Sun = sky, &sun
	return nil
}

// useMaterial adds a material to those in use.
func (b *maker) useMaterial(name string) error {
	if _, ok := b.Materials[name]; ok {
		return nil
	}
	l, err := b.lookOf(name)
	b.Materials[name] = l
	return err
}

// lookOf returns a material of the scene or of the recipes.
func (b *maker) lookOf(name string) (l builder.Look, err error) {
	own, ok := b.scene.Materials[name]
	if !ok {
		return builder.LookNamed(name)
	}
	if own.Base != "" {
		if l, err = builder.LookNamed(own.Base); err != nil {
			return l, err
		}
	}
	switch {
	case own.Color != "" && l.Paint != "" && l.Color == ([4]float64{}):
	case own.Color != "":
		c := linearColor(own.Color)
		l.Color = [4]float64{c[0], c[1], c[2], 1}
	case l.Color == ([4]float64{}) && l.Paint == "":
		l.Color = [4]float64{0.8, 0.8, 0.8, 1}
	}
	if l.Color == ([4]float64{}) {
		l.Paint = finishedKind(l.Paint, finishOf(own))
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
		c := linearColor(cmp.Or(own.Color, "#ffffff"))
		l.Emission, l.Strength = &c, own.Glow
	}
	if l.Paint == "" || l.Color != ([4]float64{}) { // else the finish of the surface is wet
		l.Roughness *= 1 - 0.75*own.Wet
	}
	for i := range 3 {
		l.Color[i] *= 1 - 0.45*own.Wet
	}
	return l, nil
}

// finishOf returns the finish of a material: its tint, wear and wetness.
func finishOf(m spec.Material) (f texture.Finish) {
	if m.Color != "" {
		for i, c := range linearColor(m.Color) {
			f.Tint[i] = byte(math.Round(toSRGB(c) * 255))
		}
	}
	f.Wear, f.Wet = int64(m.Wear*noise.One), int64(m.Wet*noise.One)
	return f
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
	sea := b.scene.Water
	if g := b.scene.Ground; g != nil {
		b.relief = newRelief(b.scene)
		b.height = b.relief.heightAt
	}
	b.water = func(x, y float64) (float64, bool) {
		if b.relief != nil {
			if level, ok := b.relief.waterAt(x, y); ok {
				return level, true
			}
		}
		if sea == nil {
			return 0, false
		}
		a := sea.Area
		return sea.Level, a == nil || x >= a[0] && y >= a[1] && x <= a[2] && y <= a[3]
	}
	if sea != nil {
		if err := b.addWater(sea); err != nil {
			return err
		}
	}
	if b.relief == nil {
		return nil
	}
	return b.addGround(b.scene.Ground)
}

// addGround adds the land of the square, its rivers and roads, and the land beyond.
func (b *maker) addGround(g *spec.Ground) error {
	coats, err := b.groundCoats(g)
	if err != nil {
		return err
	}
	n := 2
	if g.Hills > 0 || g.Horizon || len(g.Ridges)+len(g.Steps)+len(g.Rivers)+len(g.Paths) > 0 {
		n = min(max(int(g.Size/0.65), 40), 260)
	}
	step, half := g.Size/float64(n-1), g.Size/2
	reach := cmp.Or(g.Fine[2], 30)
	near := &landPainter{coats: coats, height: b.height, rough: b.relief.rough,
		spans:  [2]span{newSpan(-half, half, g.Fine[0], reach), newSpan(-half, half, g.Fine[1], reach)},
		pixels: powerOfTwo(g.Size*24, 256, 2048)}
	err = b.addLandMesh("ground", "", near, func() *scene.Mesh {
		return scene.Grid(n, step, func(i, j int) float64 {
			return b.height(float64(i)*step-half, float64(j)*step-half)
		})
	})
	for i := range b.relief.rivers {
		if err == nil {
			err = b.addLandMesh(fmt.Sprintf("ground.river-%d", i+1), "water", nil, b.relief.rivers[i].makeRiver)
		}
	}
	for i, way := range g.Paths {
		if err == nil && b.isPaved(way.Material) {
			err = b.addLandMesh(fmt.Sprintf("ground.path-%d", i+1), way.Material, nil,
				func() *scene.Mesh { return b.makeWay(way, float64(i)) })
		}
	}
	if err == nil && g.Horizon {
		err = b.addHorizon(g, coats, 4*(n-1))
	}
	return err
}

func powerOfTwo(x float64, low, high int) int {
	n := low
	for float64(n) < x && n < high {
		n *= 2
	}
	return n
}

// paved are the materials whose roads have a sharp edge, and a mesh of their own.
var paved = []string{"cobbles", "stone", "brick", "planks", "timber", "slate", "marble", "mosaic", "tiles",
	"mossy_stone"}

func (b *maker) isPaved(material string) bool {
	return slices.Contains(paved, cmp.Or(b.scene.Materials[material].Base, material))
}

// groundCoats returns the materials of the ground: its own, the layers, the beds of rivers, and roads
// without a sharp edge.
func (b *maker) groundCoats(g *spec.Ground) (coats []coat, err error) {
	add := func(material string, share func(x, y, height, slope float64) float64) {
		look, e := b.lookOf(material)
		if err == nil {
			err = e
		}
		coats = append(coats, coat{look, share})
	}
	add(g.Material, func(_, _, _, _ float64) float64 { return 1 })
	for i, l := range g.Layers {
		add(l.Material, func(x, y, height, slope float64) float64 {
			share := 1.0
			if l.Slope != nil {
				share *= inRange(slope, *l.Slope, 5)
			}
			if l.Height != nil {
				share *= inRange(height, *l.Height, 0.5+0.02*math.Abs(l.Height[1]-l.Height[0]))
			}
			if cmp.Or(l.Share, 1) < 1 {
				patch := b.relief.unevenAt(x+float64(i)*37, y, 110)/2.6 + 0.5
				share *= smoothRamp((l.Share-patch)*7 + 0.5)
			}
			return share
		})
	}
	for i := range b.relief.rivers {
		v := &b.relief.rivers[i]
		add(v.Bed, func(x, y, _, _ float64) float64 {
			return 1 - smoothRamp((nearestOn(v.line, x, y).away-v.Width/2)/(v.Bank*0.7))
		})
	}
	for _, way := range g.Paths {
		if b.isPaved(way.Material) {
			_, e := b.lookOf(way.Material)
			if err == nil {
				err = e
			}
			continue
		}
		line := smoothLine(way.Along)
		add(way.Material, func(x, y, _, _ float64) float64 {
			return 1 - smoothRamp((nearestOn(line, x, y).away-way.Width*0.32)/(way.Width*0.3))
		})
	}
	return coats, err
}

// inRange returns 1 in a range and 0 outside, with soft edges.
func inRange(x float64, r [2]float64, soft float64) float64 {
	return smoothRamp((x-r[0])/soft+0.5) * smoothRamp((r[1]-x)/soft+0.5)
}

// addLandMesh adds a mesh of the land, which depends on the scene's land, water and seed. With a painter,
// it gets a texture of its own.
func (b *maker) addLandMesh(name, material string, p *landPainter, make func() *scene.Mesh) error {
	text, err := json.Marshal([]any{b.scene.Ground, b.scene.Water, b.scene.Materials})
	if err != nil {
		return err
	}
	if p != nil {
		material = name + ".surface"
	}
	key := fmt.Sprint("land ", name, b.scene.Seed, string(text))
	mesh, err := b.findMesh(key, []string{material}, func() (*Mesh, error) {
		m := &Mesh{Mesh: *make()}
		if p != nil {
			p.mapFaces(&m.Mesh)
			m.texture = p.paintOnce()
		}
		return m, nil
	})
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
	line := smoothLine(way.Along)
	length := spec.PathLength(line)
	n := min(max(int(length/0.8), 1), 1500)
	const across = 6
	for i := range n + 1 {
		at, turn := pathPoint(line, length*float64(i)/float64(n))
		left := scene.Vec{-math.Sin(turn), math.Cos(turn)}
		wobble := 1 + min(0.055, 0.12/way.Width)*(math.Sin(float64(i)*1.9)+math.Sin(float64(i)*0.7))/2
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
	return b.addLandMesh("water", "water", nil, func() *scene.Mesh {
		return (&scene.Mesh{}).At(scene.Quad(x1-x0, y1-y0), scene.Vec{(x0 + x1) / 2, (y0 + y1) / 2, w.Level}, 0)
	})
}

// farAway is the distance of the horizon.
const farAway = 3400.0

// addHorizon adds land and hills from the edge of the ground to the horizon, in rings around it.
func (b *maker) addHorizon(g *spec.Ground, coats []coat, around int) error {
	half := g.Size / 2
	height := b.farHeight(g)
	p := &landPainter{coats: coats, height: height, rough: b.relief.rough, pixels: 1024, pale: farAway / 2,
		spans: [2]span{newSpan(-farAway, farAway, 0, half*3), newSpan(-farAway, farAway, 0, half*3)}}
	return b.addLandMesh("ground.far", "", p, func() *scene.Mesh {
		m := &scene.Mesh{}
		rings := 0
		for r := half; r < farAway; r = min(r*1.22+2, farAway+1) {
			round := smoothRamp((r/half - 1) * 0.8)
			for i := range around {
				s := squarePoint(i, around)
				l := math.Hypot(s[0], s[1])
				k := r * (1 - round + round/l)
				m.V = append(m.V, scene.Vec{s[0] * k, s[1] * k, height(s[0]*k, s[1]*k)})
			}
			rings++
		}
		for k := range rings - 1 {
			for i := range around {
				p, q := k*around+i, k*around+(i+1)%around
				m.F = append(m.F, scene.Face{V: []int{p, p + around, q + around, q}, Smooth: true})
			}
		}
		return m
	})
}

// squarePoint returns the i-th of n points of the edge of the square from -1 to 1, counter-clockwise.
func squarePoint(i, n int) [2]float64 {
	side, t := i*4/n, float64(i*4%n)/float64(n)*2-1
	switch side {
	case 0:
		return [2]float64{t, -1}
	case 1:
		return [2]float64{1, t}
	case 2:
		return [2]float64{-t, 1}
	}
	return [2]float64{-1, -t}
}

// farHeight returns the function of the heights beyond the ground: its edge goes on, flatter, and hills
// rise on dry land.
func (b *maker) farHeight(g *spec.Ground) func(x, y float64) float64 {
	half := g.Size / 2
	ridge := noise.NewFractal(uint64(b.scene.Seed)+9, 9, 5)
	return func(x, y float64) float64 {
		k := max(math.Abs(x), math.Abs(y), 1e-9) / half
		if k <= 1 {
			return b.height(x, y)
		}
		edge := b.height(x/k, y/k)
		away := (k - 1) * half
		hill := float64(ridge.At(int64((x/6000+0.5)*60000)+noise.One, int64((y/6000+0.5)*60000)+noise.One))/noise.One - 0.3
		hills := max(hill, 0) * 1.9 * cmp.Or(g.Peaks, 110) * smoothRamp((away-40)/1100)
		if level, wet := b.water(x, y); wet {
			shore := smoothRamp((edge - level + 0.5) / 2)
			return edge*shore*(1-0.5*smoothRamp(away/500)) + (1-shore)*min(edge, level-1) + hills*shore
		}
		return edge*(1-0.6*smoothRamp(away/700)) + hills
	}
}
