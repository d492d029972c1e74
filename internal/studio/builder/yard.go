package builder

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// Built is a place as a list of operations.
type Built struct {
	ID       string // prefix of all names
	Kind     string
	Ops      []json.RawMessage
	Features []string
	Warnings []string
}

// Painter returns painted surfaces by kind, as hashes of stored images.
type Painter interface {
	Painted(kind string) (color, normal string, err error)
}

// Build builds a place.
func Build(b Brief, p Painter) (Built, error) {
	r := parseBrief(b)
	y := &yard{Script: &scene.Script{}, id: makeID(b), read: r, seed: b.Seed, paint: p, mats: map[string]bool{},
		meshes: map[string]bool{}, counts: map[string]int{}}
	y.rnd = noise.NewSource(b.Seed, "yard")
	kindBuilders[r.kind](y)
	y.placeProps()
	y.addLighting()
	if err := y.Err(); err != nil {
		return Built{}, err
	}
	if y.err != nil {
		return Built{}, y.err
	}
	return Built{ID: y.id, Kind: r.kind, Ops: y.Ops, Features: r.features(), Warnings: y.warnings}, nil
}

var nonIDChars = regexp.MustCompile(`[^a-z0-9]+`)

// makeID makes a short prefix from the title, or from the first words.
func makeID(b Brief) string {
	text := b.Title
	if text == "" {
		words := strings.Fields(b.Words)
		text = strings.Join(words[:min(len(words), 5)], " ")
	}
	text = strings.TrimPrefix(string(markup.KeyOf(text)), "the_")
	text = strings.Trim(nonIDChars.ReplaceAllString(strings.ToLower(text), "_"), "_")
	if text == "" {
		return "scene"
	}
	return strings.Trim(text[:min(len(text), 24)], "_")
}

// disc is an occupied area on the ground.
type disc struct{ x, y, r float64 }

// yard is a place being built.
type yard struct {
	*scene.Script
	id       string
	read     reading
	seed     uint64
	paint    Painter
	rnd      *noise.Source
	mats     map[string]bool
	meshes   map[string]bool
	counts   map[string]int
	taken    []disc
	frame    scene.Box3                 // box that the camera must show
	from     scene.Vec                  // direction from the place to the camera
	front    [4]float64                 // area where props are placed: least x, least y, greatest x, greatest y
	height   func(x, y float64) float64 // of the ground
	dry      func(x, y float64) bool    // reports whether props can stand there
	lens     float64
	sun      float64 // azimuth of the sun, radians
	warnings []string
	err      error
}

// useMaterial returns the full name of a material, and adds the material at its first use.
func (y *yard) useMaterial(name string) string {
	full := y.id + " " + name
	if y.mats[name] {
		return full
	}
	y.mats[name] = true
	look, ok := looks[name]
	if !ok {
		y.err = fmt.Errorf("builder: no look %q", name)
		return full
	}
	m := look.Material
	m.Name = full
	if look.paint != "" {
		color, normal, err := y.paint.Painted(look.paint)
		if err != nil {
			y.err = err
			return full
		}
		if look.Color == ([4]float64{}) {
			y.Image(full+" color", color, false)
			m.Image = full + " color"
		}
		y.Image(full+" normal", normal, true)
		m.Normal = full + " normal"
	}
	if m.Color == ([4]float64{}) {
		m.Color = [4]float64{0.8, 0.8, 0.8, 1}
	}
	y.Material(m)
	return full
}

// look is a material with its painted surface. If the material has a colour of its own, only the
// relief of the surface is used.
type look struct {
	scene.Material
	paint string
}

func plainLook(r, g, b, rough float64) look {
	return look{Material: scene.Material{Color: [4]float64{r, g, b, 1}, Roughness: rough}}
}

func paintedLook(kind string, rough float64) look {
	return look{Material: scene.Material{Roughness: rough}, paint: kind}
}

func glowLook(r, g, b, strength float64) look {
	return look{Material: scene.Material{Color: [4]float64{r, g, b, 1}, Roughness: 1, Emission: &[3]float64{r, g, b},
		Strength: strength}}
}

var looks = map[string]look{
	"stone": paintedLook("stone", 0.9), "timber": paintedLook("wood", 0.75), "plaster": paintedLook("plaster", 0.95),
	"slate":  paintedLook("slate", 0.6),
	"thatch": paintedLook("thatch", 1), "cobbles": paintedLook("cobbles", 0.8), "grass": paintedLook("grass", 1),
	"sand":  paintedLook("sand", 1),
	"earth": paintedLook("earth", 1), "rock": paintedLook("rock", 0.95), "bark": paintedLook("bark", 1),
	"salt": paintedLook("salt", 0.8), "brick": paintedLook("brick", 0.9),
	"canvas": paintedLook("fabric", 1),
	"metal":  {Material: scene.Material{Roughness: 0.5, Metallic: 0.8}, paint: "metal"},
	"water": {Material: scene.Material{Color: [4]float64{0.012, 0.035, 0.042, 1}, Roughness: 0.06, Bump: 0.35},
		paint: "water"},
	"brine": {Material: scene.Material{Color: [4]float64{0.16, 0.19, 0.2, 1}, Roughness: 0.03, Bump: 0.05},
		paint: "water"},
	"iron":  {Material: scene.Material{Color: [4]float64{0.03, 0.032, 0.035, 1}, Roughness: 0.5, Metallic: 0.7}},
	"brass": {Material: scene.Material{Color: [4]float64{0.55, 0.36, 0.11, 1}, Roughness: 0.3, Metallic: 1}},
	"white": plainLook(0.75, 0.73, 0.68, 0.7), "red": plainLook(0.34, 0.05, 0.035, 0.7),
	"blue": plainLook(0.05, 0.11, 0.2, 0.7), "dark": plainLook(0.02, 0.018, 0.016, 0.8),
	"leaf": plainLook(0.055, 0.105, 0.025, 0.9), "leaf2": plainLook(0.085, 0.13, 0.03, 0.9),
	"leaf3": plainLook(0.035, 0.08, 0.03, 0.9), "straw": plainLook(0.36, 0.27, 0.1, 1),
	"far":  plainLook(0.075, 0.105, 0.115, 1), // paler and bluer than near objects, as seen through air
	"pane": {Material: scene.Material{Color: [4]float64{0.03, 0.035, 0.04, 1}, Roughness: 0.08}},
	"lit":  glowLook(1, 0.52, 0.16, 3.2), "flame": glowLook(1, 0.62, 0.25, 14), "beacon": glowLook(1, 0.8, 0.5, 40),
}

// piece is a mesh of several materials that is being made.
type piece struct {
	m    scene.Mesh
	mats []string
}

// materialSlot returns the slot of a material.
func (p *piece) materialSlot(mat string) int {
	for i, m := range p.mats {
		if m == mat {
			return i
		}
	}
	p.mats = append(p.mats, mat)
	return len(p.mats) - 1
}

// put adds a body of one material at a position, turned about Z.
func (p *piece) put(m *scene.Mesh, mat string, at scene.Vec, turn float64) {
	p.m.AtTurned(m, at, turn, p.materialSlot(mat))
}

// putTilted adds a body that is turned about Y first.
func (p *piece) putTilted(m *scene.Mesh, mat string, at scene.Vec, tilt, turn float64) {
	s, c := math.Sincos(tilt)
	p.m.Add(m, func(v scene.Vec) scene.Vec {
		return scene.Vec{v[0]*c + v[2]*s, v[1], v[2]*c - v[0]*s}.Turned(turn).Add(at)
	}, p.materialSlot(mat))
}

// add adds another piece.
func (p *piece) add(o *piece, at scene.Vec, turn float64) {
	for i, mat := range o.mats {
		part := scene.Mesh{V: o.m.V}
		for _, f := range o.m.F {
			if f.Slot == i {
				f.Slot = 0
				part.F = append(part.F, f)
			}
		}
		p.m.AtTurned(compactMesh(&part), at, turn, p.materialSlot(mat))
	}
}

// compactMesh returns the mesh without vertices that no face uses.
func compactMesh(m *scene.Mesh) *scene.Mesh {
	at := make([]int, len(m.V))
	out := &scene.Mesh{}
	for _, f := range m.F {
		g := f
		g.V = make([]int, len(f.V))
		for i, v := range f.V {
			if at[v] == 0 {
				out.V = append(out.V, m.V[v])
				at[v] = len(out.V)
			}
			g.V[i] = at[v] - 1
		}
		out.F = append(out.F, g)
	}
	return out
}

// useMesh returns the full name of a mesh, and adds the piece as that mesh at its first use.
func (y *yard) useMesh(name string, p *piece) string {
	full := y.id + " " + name
	if !y.meshes[name] {
		y.meshes[name] = true
		mats := make([]string, len(p.mats))
		for i, m := range p.mats {
			mats[i] = y.useMaterial(m)
		}
		y.Mesh(full, &p.m, mats...)
	}
	return full
}

// addObject adds an object of a mesh at a position; its name gets a number.
func (y *yard) addObject(name, mesh string, at scene.Vec, turn, size float64) {
	y.counts[name]++
	full := fmt.Sprintf("%s %s %d", y.id, name, y.counts[name])
	y.Object(full, mesh, y.id, scene.Transform{Location: at, Rotation: scene.Vec{0, 0, turn},
		Scale: scene.Vec{size, size, size}})
}

// addFramed adds a piece as a single object that the camera must show.
func (y *yard) addFramed(name string, p *piece, at scene.Vec, turn float64) {
	y.addObject(name, y.useMesh(name, p), at, turn, 1)
	y.growFrame(p, at, turn)
}

// growFrame extends the camera's box by a piece.
func (y *yard) growFrame(p *piece, at scene.Vec, turn float64) {
	for _, v := range p.m.V {
		y.frame.Grow(v.Turned(turn).Add(at))
	}
}

// takeDisc marks a disc as occupied.
func (y *yard) takeDisc(x, yy, r float64) { y.taken = append(y.taken, disc{x, yy, r}) }

func (y *yard) isFree(x, yy, r float64) bool {
	for _, d := range y.taken {
		if math.Hypot(d.x-x, d.y-yy) < d.r+r {
			return false
		}
	}
	return y.dry == nil || y.dry(x, yy)
}

// findSpot finds a free spot in an area and marks it as occupied; ok is false if there is none.
func (y *yard) findSpot(rnd *noise.Source, area [4]float64, r float64) (at scene.Vec, ok bool) {
	for range 60 {
		x, yy := rnd.Between(area[0], area[2]), rnd.Between(area[1], area[3])
		if y.isFree(x, yy, r) {
			y.takeDisc(x, yy, r)
			return scene.Vec{x, yy, y.groundHeight(x, yy)}, true
		}
	}
	return scene.Vec{}, false
}

func (y *yard) groundHeight(x, yy float64) float64 {
	if y.height == nil {
		return 0
	}
	return y.height(x, yy)
}

// addLamp adds a point light.
func (y *yard) addLamp(at scene.Vec, watts float64) {
	y.counts["light"]++
	y.Light(scene.Light{Name: fmt.Sprintf("%s light %d", y.id, y.counts["light"]), Kind: "POINT", Energy: watts,
		Color: [3]float64{1, 0.62, 0.28}, Size: 0.15,
		Into: y.id, Transform: scene.Transform{Location: at}})
}

// isDark reports whether lamps are lit.
func (y *yard) isDark() bool { return y.read.style == "dusk" || y.read.style == "night" }

// windowMaterial returns the material of windows.
func (y *yard) windowMaterial() string {
	if y.isDark() {
		return "lit"
	}
	return "pane"
}
