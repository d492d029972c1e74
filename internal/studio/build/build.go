// Package build makes scenes from their descriptions in the language of package spec: meshes, lights
// and cameras, as operations for an authoring program or as a GLB file. It also describes what was
// built, and finds its faults.
//
// Its invariant: the same description gives the same bytes, with or without a Cache, and building
// takes bounded time and memory.
package build

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/studio/builder"
	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/spec"
)

// maxCorners bounds the corners of all distinct meshes of a scene.
const maxCorners = 4_000_000

// maker builds one scene.
type maker struct {
	*Model
	scene    *spec.Scene
	cache    *Cache
	meshes   map[string]*Mesh
	corners  int
	dark     bool
	deferred []func() error // scatters
	anchors  map[string]int // things by path

	standing  *space // of all parts that no scatter placed
	scattered *discs
}

// frame is the group around a part.
type frame struct {
	at    scene.Vec
	turn  float64 // radians
	scale float64
	thing int // innermost thing around it; -1: none
	main  string
	roles map[string]string
	ghost bool
	top   bool // parts stand on the ground
	seed  uint64
}

// Build builds a scene that Check accepted. The cache may be nil.
func Build(s *spec.Scene, cache *Cache) (*Model, error) {
	b := &maker{Model: &Model{Name: s.Name, Materials: map[string]builder.Look{}, shows: s.Shows}, scene: s, cache: cache,
		meshes: map[string]*Mesh{}, anchors: map[string]int{}}
	b.height = func(x, y float64) float64 { return 0 }
	b.water = func(x, y float64) (float64, bool) { return 0, false }
	if err := b.addLight(); err != nil {
		return nil, err
	}
	if err := b.addLand(); err != nil {
		return nil, err
	}
	top := frame{scale: 1, thing: -1, top: true, seed: uint64(s.Seed)}
	if err := b.addParts("", s.Parts, top); err != nil {
		return nil, err
	}
	for len(b.deferred) > 0 {
		next := b.deferred[0]
		b.deferred = b.deferred[1:]
		if err := next(); err != nil {
			return nil, err
		}
	}
	if err := b.addMarkers(); err != nil {
		return nil, err
	}
	return b.Model, b.addCameras()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (b *maker) addParts(path string, parts map[string]*spec.Part, f frame) error {
	for _, name := range sortedKeys(parts) {
		if err := b.addPart(spec.JoinPath(path, name), parts[name], f); err != nil {
			return err
		}
	}
	return nil
}

// addPart adds a part with all members of its repeat.
func (b *maker) addPart(path string, p *spec.Part, f frame) error {
	switch {
	case p.Omit:
		return nil
	case p.Use != "":
		from := *p
		from.Use = ""
		return b.addPart(path, b.scene.Define[p.Use].Override(&from), f)
	case p.Repeat == nil:
		return b.placePart(path, p, f)
	case p.Repeat.Scatter != nil:
		b.deferred = append(b.deferred, func() error { return b.scatterPart(path, p, f) })
		return nil
	}
	for i, m := range members(p.Repeat) {
		if err := b.addMember(path, p, f, m, i); err != nil {
			return err
		}
	}
	return nil
}

// member is the position of a member of a repeat.
type member struct {
	at   scene.Vec
	turn float64 // radians
}

// addMember adds a member of a repeat.
func (b *maker) addMember(path string, p *spec.Part, f frame, m member, i int) error {
	number := strconv.Itoa(i + 1)
	at := spec.JoinPath(path, number)
	one, vary := *p, p.Repeat.Vary
	one.Repeat = nil
	f.seed = noise.Hash(f.seed, uint32(i), uint32(len(path)))
	rnd := noise.NewSource(f.seed, path)
	turn := m.turn + p.Turn*math.Pi/180 + rnd.Between(-1, 1)*vary.Turn*math.Pi/180
	scale := 1 + rnd.Between(-1, 1)*vary.Scale
	shift := scene.Vec{rnd.Between(-1, 1) * vary.Shift, rnd.Between(-1, 1) * vary.Shift}
	place := m.at.Turned(p.Turn * math.Pi / 180).Add(pointOf(p.At)).Add(shift)
	one.At, one.Turn = []float64{place[0], place[1], place[2]}, turn*180/math.Pi
	one.Scale = orOne(p.Scale) * scale
	if p.Repeat.Ring != nil || p.Repeat.Along != nil {
		one.Facing = nil
	}
	if one.Facing != nil {
		one.Turn = 0
	}
	individual := i % cmp.Or(vary.Variants, 3)
	if one.Prop != nil {
		prop := *one.Prop
		prop.Variant += individual
		one.Prop = &prop
	}
	if one.Plant != nil {
		plant := *one.Plant
		plant.Variant += individual
		one.Plant = &plant
	}
	varyMaterials(&one, vary.Materials, i)
	return b.addPart(at, one.Override(p.Repeat.Members[number]), f)
}

// varyMaterials takes the i-th material of each list.
func varyMaterials(p *spec.Part, lists map[string][]string, i int) {
	if len(lists) == 0 {
		return
	}
	p.Materials = maps.Clone(p.Materials)
	if p.Materials == nil {
		p.Materials = map[string]string{}
	}
	for role, list := range lists {
		switch {
		case len(list) == 0:
		case role == "main":
			p.Material = list[i%len(list)]
		default:
			p.Materials[role] = list[i%len(list)]
		}
	}
}

func pointOf(at []float64) (v scene.Vec) {
	copy(v[:], at)
	return v
}

func orOne(x float64) float64 {
	if x == 0 {
		return 1
	}
	return x
}

// enter returns the frame inside of a part.
func (b *maker) enter(p *spec.Part, f frame) frame {
	at := pointOf(p.At)
	turn := p.Turn * math.Pi / 180
	if p.Facing != nil {
		turn = math.Atan2(p.Facing[1]-at[1], p.Facing[0]-at[0]) + math.Pi/2
	}
	g := f
	g.at = f.at.Add(at.Mul(f.scale).Turned(f.turn))
	if f.top {
		g.at[2] += b.height(g.at[0], g.at[1])
	}
	g.turn, g.scale, g.top = f.turn+turn, f.scale*orOne(p.Scale), false
	g.ghost = f.ghost || p.Ghost
	if p.Material != "" {
		g.main, g.roles = p.Material, nil
	}
	if len(p.Materials) > 0 {
		g.roles = maps.Clone(g.roles)
		if g.roles == nil {
			g.roles = map[string]string{}
		}
		maps.Copy(g.roles, p.Materials)
	}
	return g
}

// placePart adds one part at its position.
func (b *maker) placePart(path string, p *spec.Part, f frame) error {
	kind, body := p.Body()
	g := b.enter(p, f)
	if kind == "group" && p.Is == "" {
		g.top = f.top && p.At == nil && p.Turn == 0 && p.Facing == nil
		if g.top {
			g.at, g.turn = f.at, f.turn
		}
		return b.addParts(path, p.Parts, g)
	}
	noun := p.Is
	if noun == "" {
		noun = kind
		if p.Prop != nil {
			noun = p.Prop.Kind
		}
		if p.Plant != nil {
			noun = p.Plant.Kind
		}
	}
	if err := b.addThing(path, noun, kind, &g); err != nil {
		return err
	}
	if kind == "group" {
		return b.addParts(path, p.Parts, g)
	}
	return named(path, b.addBody(path, kind, body, p, g))
}

// named adds the path of the part to an error that names only a field.
func named(path string, err error) error {
	var bad *fault.Error
	if !errors.As(err, &bad) || strings.HasPrefix(bad.Message, path) {
		return err
	}
	return fault.BadField(path, "%s", bad.Message)
}

// addThing records a thing; parts inside of the frame belong to it.
func (b *maker) addThing(path, noun, kind string, g *frame) error {
	if len(b.Things) >= spec.MaxParts {
		return fault.BadField(path, "the scene has more than %d bodies; lower the counts of its repeats",
			spec.MaxParts)
	}
	b.Things = append(b.Things, Thing{Path: path, Kind: noun, Body: kind, Inside: g.thing,
		Front: g.turn - math.Pi/2, At: g.at})
	g.thing = len(b.Things) - 1
	b.anchors[path] = g.thing
	return nil
}

// addBody adds the body of a part, and the bodies that it is composed of.
func (b *maker) addBody(path, kind string, body any, p *spec.Part, g frame) error {
	if make, ok := volumes[kind]; ok {
		return b.addVolume(path, kind, body, p, g, make)
	}
	switch kind {
	case "prop":
		return b.addProp(path, p, g)
	case "plant":
		return b.addPlant(path, p, g)
	case "lamp":
		return b.addLamp(path, p.Lamp, g)
	}
	parts, err := b.compose(kind, body, g)
	if err != nil {
		return err
	}
	for name, change := range p.Parts {
		old, ok := parts[name]
		switch {
		case ok:
			parts[name] = old.Override(change)
		case len(change.Kinds()) == 0 && !change.Omit:
			return fault.BadField("parts", "%s has no body %q; it has %s", kind, name,
				strings.Join(sortedKeys(parts), ", "))
		default:
			parts[name] = change
		}
	}
	g.roles = nil
	return b.addParts(path, parts, g)
}

// addVolume adds a body with a mesh of its own.
func (b *maker) addVolume(path, kind string, body any, p *spec.Part, g frame, make volume) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	mats := make.materials(body, g)
	key := fmt.Sprint(kind, string(text), mats)
	mesh, err := b.findMesh(key, mats, func() (*Mesh, error) { return make.make(body) })
	if err != nil {
		return err
	}
	switch {
	case p.Door != nil:
		b.Things[g.thing].width = p.Door.Size[0] * g.scale
	case kind == "gap":
		b.Things[g.thing].width = p.Inner.(*gap).Width * g.scale
	}
	b.addNode(path, mesh, p.Tilt, g)
	return nil
}

// findMesh returns the mesh of a key; it makes the mesh if neither this scene nor the cache has it.
func (b *maker) findMesh(key string, mats []string, make func() (*Mesh, error)) (*Mesh, error) {
	if m := b.meshes[key]; m != nil {
		return m, nil
	}
	m := b.cache.findMesh(key)
	if m == nil {
		var err error
		if m, err = make(); err != nil {
			return nil, err
		}
		if m.key = key; mats != nil {
			m.Materials = mats
		}
		m.low, m.high = m.Bounds()
		b.cache.keepMesh(key, m)
	}
	if b.corners += m.countCorners(); b.corners > maxCorners {
		return nil, fault.BadField("parts",
			"the bodies of the scene have more than %d corners; use fewer sides, or the same body more often",
			maxCorners)
	}
	for _, name := range m.Materials {
		if m.texture != nil {
			b.Materials[name] = builder.Look{Material: scene.Material{Roughness: 0.95}}
			continue
		}
		if err := b.useMaterial(name); err != nil {
			return nil, err
		}
	}
	b.meshes[key] = m
	b.Meshes = append(b.Meshes, m)
	return m, nil
}

func (m *Mesh) countCorners() int {
	n := 0
	for _, f := range m.F {
		n += len(f.V)
	}
	return n
}

// addNode places a mesh, and extends the boxes of the things around it.
func (b *maker) addNode(path string, mesh *Mesh, tilt []float64, g frame) {
	n := Node{Path: path, Mesh: mesh, Thing: g.thing, Ghost: g.ghost, Transform: scene.Transform{Location: g.at,
		Rotation: scene.Vec{0, 0, g.turn}, Scale: scene.Vec{g.scale, g.scale, g.scale}}}
	if tilt != nil {
		n.Rotation[0], n.Rotation[1] = tilt[0]*math.Pi/180, tilt[1]*math.Pi/180
	}
	b.Nodes = append(b.Nodes, n)
	if len(mesh.F) == 0 {
		return
	}
	box := n.box()
	b.bounds.Grow(box.Low)
	b.bounds.Grow(box.High)
	for i := g.thing; i >= 0; i = b.Things[i].Inside {
		b.Things[i].Box.Grow(box.Low)
		b.Things[i].Box.Grow(box.High)
		for _, m := range mesh.Materials {
			if !slices.Contains(b.Things[i].Materials, m) {
				b.Things[i].Materials = append(b.Things[i].Materials, m)
			}
		}
	}
}

// addProp adds a thing from the store.
func (b *maker) addProp(path string, p *spec.Part, g frame) error {
	with, err := json.Marshal(p.Prop.With)
	if err != nil {
		return err
	}
	aliases := maps.Clone(p.Materials)
	if aliases == nil {
		aliases = map[string]string{}
	}
	key := fmt.Sprint("prop ", p.Prop.Kind, p.Prop.Variant, string(with), aliases, p.Material)
	mesh, err := b.findMesh(key, nil, func() (*Mesh, error) {
		t, err := builder.MakeThing(p.Prop.Kind, uint64(p.Prop.Variant), p.Prop.With, aliases)
		if err != nil {
			return nil, err
		}
		m := &Mesh{Mesh: *t.Mesh, Materials: t.Materials, lamp: t.Lamp, watts: t.Watts}
		if t.Trunk > 0 {
			m.Solids = []Solid{trunkOf(m, t.Trunk)}
		}
		return m, nil
	})
	if err != nil {
		return err
	}
	b.addNode(path, mesh, p.Tilt, g)
	if mesh.lamp > 0 && b.dark {
		b.Lamps = append(b.Lamps, Lamp{Path: path, At: g.at.Add(scene.Vec{0, 0, mesh.lamp * g.scale}),
			Watts: mesh.watts,
			Color: [3]float64{1, 0.62, 0.28}})
	}
	return nil
}

// trunkOf returns the solid of a thing: the middle of its box, above its foot. The part below stands
// in the ground.
func trunkOf(m *Mesh, radius float64) Solid {
	low, high := m.Bounds()
	low[2] = max(low[2], 0)
	s := boxSolid(low, high)
	s.Half[0], s.Half[1] = min(s.Half[0], radius), min(s.Half[1], radius)
	return s
}

func (b *maker) addLamp(path string, l *spec.Lamp, g frame) error {
	b.Lamps = append(b.Lamps, Lamp{Path: path, At: g.at, Watts: l.Watts, Color: linearColor(l.Color)})
	return nil
}
