package build

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"loregate/internal/studio/builder"
	"loregate/internal/studio/scene"
)

// Model is a scene that was built: meshes, and the nodes that place them.
type Model struct {
	Name      string
	Meshes    []*Mesh
	Nodes     []Node
	Things    []Thing
	Lamps     []Lamp
	Cameras   []Camera // the main one first
	Markers   []Marker
	Materials map[string]builder.Look // by name; those in use
	Sky       scene.Sky
	Sun       *scene.Light // nil: none
	Warnings  []string

	shows  map[string]int
	relief *relief // nil: no land
	height func(x, y float64) float64
	water  func(x, y float64) (level float64, ok bool)
	bounds scene.Box3 // of all things, without the land
}

// Mesh is a body that nodes share.
type Mesh struct {
	scene.Mesh
	Materials []string // of the slots
	Solids    []Solid
	low, high scene.Vec
	lamp      float64                       // height of its lamp; 0: none
	texture   func(Painter) ([]byte, error) // paints its texture as JPEG, once; nil: it has none of its own
	simpler   func() *Mesh                  // the same for a distance; nil: none
	leafy     bool                          // its faces are seen from both sides
	watts     float64
	key       string
	once      sync.Once // makes arrays
	arrays    *arrays
}

// Solid is a box that nothing passes through: its middle, half its size, and its turn about Z.
type Solid struct {
	Middle, Half scene.Vec
	Turn         float64
}

// Node is a mesh at a place.
type Node struct {
	Path  string
	Mesh  *Mesh
	Thing int  // index of the thing that it belongs to; -1 for land and water
	Ghost bool // it stops nothing
	scene.Transform
}

// Thing is a part that descriptions count: a body, a composite, or a group with a noun.
type Thing struct {
	Path      string
	Kind      string // noun
	Body      string // kind of its body, or group
	Inside    int    // index of the thing around it; -1: none
	Front     float64
	At        scene.Vec
	Box       scene.Box3 // of all its bodies; empty if it has none
	Materials []string

	width float64 // of a door
}

// plainBodies are the nouns of bodies that say nothing about a thing that has them.
var plainBodies = []string{"box", "cylinder", "prism", "extrude", "lathe", "wall", "panel", "framing"}

// Lamp is a point light.
type Lamp struct {
	Path  string
	At    scene.Vec
	Watts float64
	Color [3]float64 // linear
}

// Camera is a named camera.
type Camera struct {
	Name string
	Lens float64
	scene.Transform
}

// Marker is a named point.
type Marker struct {
	Name, Kind, Note string
	At               scene.Vec
	Turn             float64 // radians
}

// Counts returns the number of things by noun, and of rivers and paths of the land. Plain bodies inside of other things do not count.
func (m *Model) Counts() map[string]int {
	counts := map[string]int{}
	for _, t := range m.Things {
		if t.Inside < 0 || !slices.Contains(plainBodies, t.Kind) {
			counts[t.Kind]++
		}
	}
	if m.relief != nil {
		for noun, n := range map[string]int{"river": len(m.relief.ground.Rivers), "path": len(m.relief.ground.Paths)} {
			if n > 0 {
				counts[noun] += n
			}
		}
	}
	return counts
}

// apply returns a point of the node's mesh in the scene.
func (n *Node) apply(v scene.Vec) scene.Vec {
	v = v.Mul(n.Scale[0])
	sx, cx := math.Sincos(n.Rotation[0])
	v = scene.Vec{v[0], v[1]*cx - v[2]*sx, v[1]*sx + v[2]*cx}
	sy, cy := math.Sincos(n.Rotation[1])
	v = scene.Vec{v[0]*cy + v[2]*sy, v[1], v[2]*cy - v[0]*sy}
	return v.Turned(n.Rotation[2]).Add(n.Location)
}

// box returns the node's bounding box in the scene.
func (n *Node) box() (b scene.Box3) {
	for i := range 8 {
		corner := n.Mesh.low
		for axis := range corner {
			if i>>axis&1 == 1 {
				corner[axis] = n.Mesh.high[axis]
			}
		}
		b.Grow(n.apply(corner))
	}
	return b
}

// solids returns the node's solids in the scene.
func (n *Node) solids() []Solid {
	if n.Ghost {
		return nil
	}
	out := make([]Solid, 0, len(n.Mesh.Solids))
	if n.Rotation[0] != 0 || n.Rotation[1] != 0 {
		b := n.box()
		return append(out, Solid{Middle: b.Low.Add(b.High).Mul(0.5), Half: b.High.Sub(b.Low).Mul(0.5)})
	}
	for _, s := range n.Mesh.Solids {
		out = append(out, Solid{n.apply(s.Middle), s.Half.Mul(n.Scale[0]), s.Turn + n.Rotation[2]})
	}
	return out
}

// Features returns the counts of the things that are in no other thing, as texts.
func (m *Model) Features() []string {
	counts := map[string]int{}
	for _, i := range m.outer() {
		counts[m.Things[i].Kind]++
	}
	out := []string{}
	for _, noun := range sortedKeys(counts) {
		out = append(out, fmt.Sprintf("%d %s", counts[noun], noun))
	}
	return out
}

// Triangles returns the number of triangles of all nodes.
func (m *Model) Triangles() int {
	n := 0
	for i := range m.Nodes {
		for _, f := range m.Nodes[i].Mesh.F {
			n += len(f.V) - 2
		}
	}
	return n
}
