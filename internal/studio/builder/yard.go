package builder

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"loregate/internal/markup"
	"loregate/internal/slicesx"
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
	lib, err := loadRecipes()
	if err != nil {
		return Built{}, err
	}
	return lib.build(b, p)
}

func (lib *library) build(b Brief, p Painter) (Built, error) {
	r := lib.parseBrief(b)
	y := &yard{Script: &scene.Script{}, id: makeID(b), read: r, paint: p, mats: map[string]bool{},
		meshes: map[string]bool{}, counts: map[string]int{}}
	y.scope = scope{lib: lib, seed: b.Seed, rnd: noise.NewSource(b.Seed, "yard"), named: r.things}
	if i := slices.IndexFunc(lib.Styles, func(s style) bool { return s.Name == r.style }); i >= 0 {
		y.style = lib.Styles[i]
	}
	y.vars = []entry[float64]{{"pi", math.Pi}, {"true", 1}, {"false", 0}, {"dark", truth(y.style.Dark)}}
	y.addSteps(lib.Places[r.kind].Steps)
	y.placeProps()
	y.addLighting()
	if err := cmp.Or(y.Err(), y.err); err != nil {
		return Built{}, err
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
	scope

	id       string
	read     reading
	style    style
	paint    Painter
	mats     map[string]bool
	meshes   map[string]bool
	counts   map[string]int
	taken    []disc
	frame    scene.Box3              // box that the camera must show
	from     scene.Vec               // direction from the place to the camera
	front    [4]float64              // area where props are placed: least x, least y, greatest x, greatest y
	dry      func(x, y float64) bool // reports whether props can stand there
	lens     float64
	sun      float64 // azimuth of the sun, radians
	warnings []string
}

// useMaterial returns the full name of a material, and adds the material at its first use.
func (y *yard) useMaterial(name string) string {
	full := y.id + " " + name
	if y.mats[name] {
		return full
	}
	y.mats[name] = true
	look, ok := y.lib.Materials[name]
	if !ok {
		y.fail("no material %q", name)
		return full
	}
	if err := AddLook(y.Script, full, Look(look), y.paint); err != nil {
		y.err = cmp.Or(y.err, err)
	}
	return full
}

// useMesh returns the full name of a mesh, and adds the piece as that mesh at its first use.
func (y *yard) useMesh(name string, p *piece) string {
	full := y.id + " " + name
	if !y.meshes[name] {
		y.meshes[name] = true
		mats := slicesx.Map(p.mats, y.useMaterial)
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

// addLamp adds a point light.
func (y *yard) addLamp(at scene.Vec, watts float64) {
	y.counts["light"]++
	y.Light(scene.Light{Name: fmt.Sprintf("%s light %d", y.id, y.counts["light"]), Kind: "POINT", Energy: watts,
		Color: [3]float64{1, 0.62, 0.28}, Size: 0.15,
		Into: y.id, Transform: scene.Transform{Location: at}})
}
