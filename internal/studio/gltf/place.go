package gltf

import (
	"encoding/json"
	"math"
)

// Place is a node with a mesh, as it stands in the scene: the places of its origin and of the ends of its three axes,
// and the sizes of its mesh along its own axes.
type Place struct {
	Name    string
	Points  [4][3]float64
	Size    [3]float64
	Corners int
}

type placedNode struct {
	Name        string
	Mesh        *int
	Children    []int
	Matrix      *[16]float64
	Translation [3]float64
	Rotation    *[4]float64
	Scale       *[3]float64
}

// affine is a matrix of three rows: an axis each for X, Y and Z, and the offset.
type affine [3][4]float64

func (a affine) times(b affine) (c affine) {
	for i := range 3 {
		for k := range 4 {
			for j := range 3 {
				c[i][k] += a[i][j] * b[j][k]
			}
		}
		c[i][3] += a[i][3]
	}
	return c
}

func (n *placedNode) matrix() (a affine) {
	if m := n.Matrix; m != nil {
		for i := range 3 {
			for k := range 4 {
				a[i][k] = m[4*k+i]
			}
		}
		return a
	}
	q, s := [4]float64{0, 0, 0, 1}, [3]float64{1, 1, 1}
	if n.Rotation != nil {
		q = *n.Rotation
	}
	if n.Scale != nil {
		s = *n.Scale
	}
	x, y, z, w := q[0], q[1], q[2], q[3]
	r := [3][3]float64{{1 - 2*(y*y+z*z), 2 * (x*y - z*w), 2 * (x*z + y*w)},
		{2 * (x*y + z*w), 1 - 2*(x*x+z*z), 2 * (y*z - x*w)}, {2 * (x*z - y*w), 2 * (y*z + x*w), 1 - 2*(x*x+y*y)}}
	for i := range 3 {
		for k := range 3 {
			a[i][k] = r[i][k] * s[k]
		}
		a[i][3] = n.Translation[i]
	}
	return a
}

// Places returns the nodes of a binary file that have a mesh, with their places in the scene.
func Places(glb []byte) ([]Place, error) {
	if _, err := ParseGLB(glb); err != nil { // all indices and lengths are sound, and no node is reached twice
		return nil, err
	}
	text, _, err := Split(glb)
	if err != nil {
		return nil, err
	}
	var d document
	var more struct {
		Nodes     []placedNode
		Accessors []struct{ Min, Max []float64 }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, formatErrorf("JSON: %v", err)
	}
	if err := json.Unmarshal(text, &more); err != nil {
		return nil, formatErrorf("JSON: %v", err)
	}
	type step struct {
		node int
		from affine
	}
	var queue []step
	for _, n := range d.Scenes[d.Scene].Nodes {
		queue = append(queue, step{n, affine{{1}, {0, 1}, {0, 0, 1}}})
	}
	var out []Place
	for len(queue) > 0 {
		n, at := &more.Nodes[queue[0].node], queue[0].from
		queue = queue[1:]
		at = at.times(n.matrix())
		for _, c := range n.Children {
			queue = append(queue, step{c, at})
		}
		if n.Mesh == nil {
			continue
		}
		p := Place{Name: n.Name}
		for i := range 3 {
			p.Points[0][i] = at[i][3]
			for k := range 3 {
				p.Points[k+1][i] = at[i][3] + at[i][k]
			}
		}
		low, high := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}, [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
		for _, part := range d.Meshes[*n.Mesh].Primitives {
			i := part.Attributes["POSITION"]
			a := more.Accessors[i]
			for axis := range min(len(a.Min), len(a.Max), 3) {
				low[axis], high[axis] = min(low[axis], a.Min[axis]), max(high[axis], a.Max[axis])
			}
			p.Corners += d.Accessors[i].Count
		}
		for axis := range 3 {
			p.Size[axis] = max(high[axis]-low[axis], 0)
		}
		out = append(out, p)
	}
	return out, nil
}

// KeepNodes returns a binary file whose scene has only the nodes that keep accepts, by name, with all below them. The
// other nodes lose their meshes.
func KeepNodes(glb []byte, keep func(name string) bool) ([]byte, error) {
	if _, err := ParseGLB(glb); err != nil {
		return nil, err
	}
	text, bin, err := Split(glb)
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, formatErrorf("JSON: %v", err)
	}
	nodes, _ := doc["nodes"].([]any)
	for _, n := range nodes {
		node, _ := n.(object)
		if name, _ := node["name"].(string); !keep(name) {
			for _, field := range []string{"mesh", "camera", "skin", "extensions"} {
				delete(node, field)
			}
		}
	}
	if text, err = json.Marshal(doc); err != nil {
		return nil, err
	}
	w := &writer{parts: [][]byte{bin}, size: len(bin)}
	return w.packGLB(text), nil
}
