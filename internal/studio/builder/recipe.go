package builder

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"go.yaml.in/yaml/v4"

	"loregate/internal/studio/scene"
)

//go:embed recipes/*.yaml
var recipeFiles embed.FS

// library is all recipes.
type library struct {
	Things    map[string]thing
	Materials map[string]look
	Styles    []style
}

// thing is the recipe of a thing or of a part of one. Let names values that a use of the recipe can
// replace.
type thing struct {
	Room     float64  // radius of the ground that it occupies
	Trunk    *float64 // radius of the part that stops people, if it is not the room; 0: none
	Lamp     float64  // height of its lamp; 0: none
	Watts    float64  // of its lamp; 0: 90
	Variants int
	Let      ordered[number]
	// Materials are those of names in Parts; a use of the recipe can replace them.
	Materials map[string]list[string]
	Parts     []part
}

// look is a material with its painted surface. If the material has a colour of its own, only the
// relief of the surface is used.
type look struct {
	scene.Material `yaml:",inline"`
	Paint          string
}

// style is the light of a time of day or a weather.
type style struct {
	Name string
	Dark bool // lamps are lit
	Sky  scene.Sky
	Sun  scene.Light
}

// control repeats a part.
type control struct {
	Each ordered[values] // the names of each loop, the outermost loop first
	Let  ordered[number]
	When number
	Next ordered[number] // new values of outer names after each repetition
}

// part is a body, a thing, or a group of parts.
type part struct {
	control `yaml:",inline"`

	Use       string // a thing
	With      ordered[number]
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
}

// surface is a grid of points in rows and columns; its expressions know row and column.
type surface struct {
	Rows, Columns int // of faces
	Let           ordered[number]
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

// ordered is a mapping in the order of the file.
type ordered[T any] []entry[T]

type entry[T any] struct {
	name  string
	value T
}

// UnmarshalYAML decodes a mapping.
func (o *ordered[T]) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a mapping is needed", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		e := entry[T]{name: node.Content[i].Value}
		if err := node.Content[i+1].Decode(&e.value); err != nil {
			return err
		}
		*o = append(*o, e)
	}
	return nil
}

func (o ordered[T]) has(name string) bool {
	return slices.ContainsFunc(o, func(e entry[T]) bool { return e.name == name })
}

// values are those of a loop: rows of one value for each of its names, or the numbers from 0 to below
// count.
type values struct {
	count number
	rows  []list[number]
}

// UnmarshalYAML decodes a count or a list of rows.
func (v *values) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Decode(&v.count)
	}
	return node.Decode(&v.rows)
}

// loadRecipes loads the recipes of the program, once.
var loadRecipes = sync.OnceValues(func() (*library, error) {
	files, err := fs.Sub(recipeFiles, "recipes")
	if err != nil {
		return nil, err
	}
	return loadLibrary(files)
})

// loadLibrary reads all recipes of a folder. Unknown fields are errors.
func loadLibrary(folder fs.FS) (*library, error) {
	lib := &library{}
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
	return lib, nil
}
