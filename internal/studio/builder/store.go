package builder

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/studio/noise"
	"loregate/internal/studio/scene"
)

// Look is a material with the kind of surface that is painted for it; "" if its colour is plain.
type Look struct {
	scene.Material
	Paint string
}

// LookNamed returns a material of the recipes.
func LookNamed(name string) (Look, error) {
	lib, err := loadRecipes()
	if err != nil {
		return Look{}, err
	}
	l, ok := lib.Materials[name]
	if !ok {
		all := slices.Sorted(maps.Keys(lib.Materials))
		return Look{}, fault.BadField("material", "there is no material %q; there is %s", name, strings.Join(all, ", "))
	}
	return Look(l), nil
}

// Stored are the maps of a painted surface, as hashes of stored images.
type Stored struct{ Color, Normal, Rough string }

// Painter returns painted surfaces by kind.
type Painter interface {
	Painted(kind string) (Stored, error)
}

// AddLook adds a material and the images of its surface. If the material has a colour of its own,
// only the relief and the roughness of the surface are used.
func AddLook(s *scene.Script, name string, l Look, p Painter) error {
	m := l.Material
	m.Name = name
	if l.Paint != "" {
		painted, err := p.Painted(l.Paint)
		if err != nil {
			return err
		}
		if m.Color == ([4]float64{}) {
			s.Image(name+" color", painted.Color, false)
			m.Image = name + " color"
		}
		s.Image(name+" normal", painted.Normal, true)
		s.Image(name+" rough", painted.Rough, true)
		m.Normal, m.Rough = name+" normal", name+" rough"
	}
	if m.Color == ([4]float64{}) {
		m.Color = [4]float64{0.8, 0.8, 0.8, 1}
	}
	s.Material(m)
	return nil
}

// Sunlight returns the sky and the sun of a time of day or a weather, and whether lamps are lit. The
// sun has no position yet.
func Sunlight(style string) (sky scene.Sky, sun scene.Light, dark bool, err error) {
	lib, err := loadRecipes()
	if err != nil {
		return sky, sun, false, err
	}
	for _, s := range lib.Styles {
		if s.Name == style {
			return s.Sky, s.Sun, s.Dark, nil
		}
	}
	return sky, sun, false, fault.BadField("light", "there is no light %q", style)
}

// Thing is a thing made from its recipe.
type Thing struct {
	Mesh      *scene.Mesh
	Materials []string
	Lamp      float64 // height of its lamp; 0: none
	Watts     float64 // of its lamp
	Trunk     float64 // radius of the part that stops people; 0: none
	Variants  int
}

// MakeThing makes the thing of a recipe. With replaces values of the recipe, materials replaces
// materials by name. The same arguments give the same mesh.
func MakeThing(kind string, seed uint64, with map[string]float64, materials map[string]string) (Thing, error) {
	lib, err := loadRecipes()
	if err != nil {
		return Thing{}, err
	}
	t, ok := lib.Things[kind]
	if !ok || t.Parts == nil {
		return Thing{}, fault.BadField("prop.kind", "there is no thing %q; there is %s", kind,
			strings.Join(lib.standing(), ", "))
	}
	use := &part{Use: kind}
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if !t.Let.has(name) {
			return Thing{}, fault.BadField("prop.with", "%s has no measure %q", kind, name)
		}
		v := with[name]
		use.With = append(use.With, entry[number]{name, func(*scope) float64 { return v }})
	}
	s := &scope{lib: lib, seed: seed, rnd: noise.NewSource(seed, kind),
		vars: []entry[float64]{{"pi", math.Pi}, {"true", 1}, {"false", 0}, {"dark", 0}}}
	p := &piece{}
	s.addThing(p, use)
	for i, name := range p.mats {
		if other, ok := materials[name]; ok {
			p.mats[i] = other
		}
	}
	trunk := t.Room
	if t.Trunk != nil {
		trunk = *t.Trunk
	}
	return Thing{&p.m, p.mats, t.Lamp, t.watts(), trunk, max(t.Variants, 1)}, s.err
}

// watts returns the power of the thing's lamp.
func (t thing) watts() float64 { return cmp.Or(t.Watts, 90) }

// Vocabulary returns the names of the things that stand by themselves, and of the materials, sorted.
func Vocabulary() (things, materials []string, err error) {
	lib, err := loadRecipes()
	if err != nil {
		return nil, nil, err
	}
	return lib.standing(), slices.Sorted(maps.Keys(lib.Materials)), nil
}

// standing returns the names of the things that stand by themselves, sorted.
func (lib *library) standing() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(lib.Things)) {
		if t := lib.Things[name]; t.Parts != nil && t.Room > 0 {
			names = append(names, name)
		}
	}
	return names
}
