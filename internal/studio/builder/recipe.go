package builder

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"loregate/internal/studio/scene"
)

//go:embed recipes/*.yaml
var recipeFiles embed.FS

// library is all recipes.
type library struct {
	Things    map[string]thing
	Places    map[string]place
	Materials map[string]look
	Styles    []style
	Numbers   map[string]int // words of numbers

	thingByWord map[string]string
}

// thing is the recipe of a thing or of a part of a building. Let names values that a use of the
// recipe can replace.
type thing struct {
	Words    []string
	Room     float64 // radius of the ground that it occupies
	Lamp     float64 // height of its lamp; 0: none
	Variants int
	Let      bindings
	// Materials are those of names in Parts; a use of the recipe can replace them.
	Materials map[string]list[string]
	Parts     []part
}

// place is the recipe of a kind of place.
type place struct {
	Words   []string // in the order of their weight
	Terrain []string // of cards whose words name no kind of place
	Boats   bool     // boats can stand anywhere
	Steps   []step
}

// look is a material with its painted surface. If the material has a colour of its own, only the
// relief of the surface is used.
type look struct {
	scene.Material `yaml:",inline"`
	Paint          string
}

// style is the light of a time of day or a weather.
type style struct {
	Name  string
	Words []string
	Dark  bool // lamps are lit
	Sky   scene.Sky
	Sun   scene.Light
}

// control repeats a part or a step.
type control struct {
	Each loops
	Let  bindings
	When number
	Next bindings // new values of outer names after each repetition
}

// part is a body, a thing, or a group of parts.
type part struct {
	control `yaml:",inline"`

	Use       string // a thing
	With      bindings
	Materials map[string]list[string]
	Parts     []part

	Box, Frustum, Quad, Cylinder, Cone, Sphere, Torus, Gable []number

	Lathe    [][2]number // radius and height, from the base up
	Segments int
	Surface  *surface
	Mesh     *polyhedron
	Smooth   *bool

	Rough number     // random displacement, as a fraction
	Scale *[3]number // after the displacement
	Map   *[3]number // the new coordinates of a point x, y, z
	Flip  number     // turns the faces inside out

	Of   list[string]
	Pick number // which of the materials, counted from 0 and repeating; default: i
	Ends string // material of a gable's ends
	At   *[3]number
	Tilt number // about Y, before Turn
	Turn number // about Z
	Into string // the object's layer
}

// surface is a grid of points in rows and columns; its expressions know row and column.
type surface struct {
	Rows, Columns int // of faces
	Let           bindings
	Point         [3]number
}

type polyhedron struct {
	Points [][3]number
	Faces  [][]int
}

// list is a list in which a single element needs no brackets.
type list[T any] []T

// UnmarshalYAML decodes a list or its single element.
func (l *list[T]) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode((*[]T)(l))
	}
	*l = make(list[T], 1)
	return node.Decode(&(*l)[0])
}

// bindings are names with their values, in the order of the file.
type bindings []binding

type binding struct {
	name  string
	value number
}

// UnmarshalYAML decodes a mapping.
func (b *bindings) UnmarshalYAML(node *yaml.Node) error {
	return eachPair(node, func(name string, value *yaml.Node) error {
		*b = append(*b, binding{name: name})
		return value.Decode(&(*b)[len(*b)-1].value)
	})
}

func (b bindings) has(name string) bool {
	for _, one := range b {
		if one.name == name {
			return true
		}
	}
	return false
}

// loops are repetitions, the outermost first.
type loops []loop

// loop gives names to the values of each row, or one name to the numbers from 0 to below count.
type loop struct {
	names []string
	rows  []list[number]
	count number
}

// UnmarshalYAML decodes a mapping from names to values.
func (l *loops) UnmarshalYAML(node *yaml.Node) error {
	return eachPair(node, func(names string, value *yaml.Node) error {
		one := loop{names: strings.Fields(names)}
		err := error(nil)
		if value.Kind == yaml.ScalarNode {
			err = value.Decode(&one.count)
		} else {
			err = value.Decode(&one.rows)
		}
		for _, row := range one.rows {
			if len(row) != len(one.names) {
				return fmt.Errorf("line %d: %d values for %q", value.Line, len(row), names)
			}
		}
		*l = append(*l, one)
		return err
	})
}

func eachPair(node *yaml.Node, f func(name string, value *yaml.Node) error) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a mapping is needed", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if err := f(node.Content[i].Value, node.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// embedded returns the recipes of the program.
var embedded = sync.OnceValues(func() (*library, error) {
	files, err := fs.Sub(recipeFiles, "recipes")
	if err != nil {
		return nil, err
	}
	return loadLibrary(files)
})

// loadLibrary reads all recipes of a folder. Unknown fields are errors.
func loadLibrary(folder fs.FS) (*library, error) {
	lib := &library{thingByWord: map[string]string{}}
	names, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		if err := d.Decode(lib); err != nil {
			return nil, fmt.Errorf("recipes: %s: %w", name, err)
		}
	}
	for name, t := range lib.Things {
		for _, w := range t.Words {
			if other := lib.thingByWord[w]; other != "" {
				return nil, fmt.Errorf("recipes: %q names both %s and %s", w, name, other)
			}
			lib.thingByWord[w] = name
		}
	}
	return lib, nil
}
