package build

import (
	"encoding/binary"
	"math"

	"loregate/internal/studio/gltf"
	"loregate/internal/studio/scene"
)

// fewest is the number of bodies of one mesh from which a file for engines has one node for all of them.
const fewest = 8

// sharedMeshes returns the nodes of the meshes that have many.
func (m *Model) sharedMeshes() map[*Mesh][]*Node {
	all := map[*Mesh][]*Node{}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		all[n.Mesh] = append(all[n.Mesh], n)
	}
	for mesh, nodes := range all {
		if len(nodes) < fewest {
			delete(all, mesh)
		}
	}
	return all
}

func appendFloats(to []byte, values ...float64) []byte {
	for _, x := range values {
		to = binary.LittleEndian.AppendUint32(to, math.Float32bits(float32(x)))
	}
	return to
}

// encodeInstances turns the node of a mesh into one for all of its nodes.
func (e *encoder) encodeInstances(o gltf.Node, nodes []*Node) gltf.Node {
	at := &gltf.Instances{}
	for _, n := range nodes {
		where, turn, size := toYUp(n.Location), rotationYUp(n.Rotation), roundTo(n.Scale[0])
		at.Translations = appendFloats(at.Translations, where[:]...)
		at.Rotations = appendFloats(at.Rotations, turn[:]...)
		at.Scales = appendFloats(at.Scales, size, size, size)
	}
	o.Translation, o.Rotation, o.Scale, o.Instances = [3]float64{}, [4]float64{}, 0, at
	return o
}

// addSimpler adds a simpler mesh for a node.
func (e *encoder) addSimpler(node int, mesh *Mesh) {
	index := e.meshOf(mesh, e.f.Nodes[node].Name+"-far")
	if index < 0 {
		return
	}
	far := e.f.Nodes[node]
	far.Name, far.Mesh, far.Aside, far.Simpler = far.Name+"-far", index, true, nil
	e.f.Nodes = append(e.f.Nodes, far)
	e.f.Nodes[node].Simpler = []int{len(e.f.Nodes) - 1}
}

// addCollisions adds a node with the solids of each node that stops people.
func (m *Model) addCollisions(f *gltf.File) {
	meshes := map[*Mesh]int{}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if n.Ghost || len(n.Mesh.Solids) == 0 {
			continue
		}
		index, ok := meshes[n.Mesh]
		if !ok {
			index = len(f.Meshes)
			meshes[n.Mesh] = index
			f.Meshes = append(f.Meshes, gltf.Mesh{Name: n.Path + "-colonly",
				Primitives: []gltf.Primitive{solidPrimitive(n.Mesh.Solids)}})
		}
		o := m.encodeNode(n, index)
		o.Name += "-colonly"
		o.Extras = map[string]any{"collision": true}
		f.Nodes = append(f.Nodes, o)
	}
}

// solidPrimitive makes the boxes of solids.
func solidPrimitive(solids []Solid) gltf.Primitive {
	p := gltf.Primitive{Material: -1}
	for i := range 3 {
		p.Low[i], p.High[i] = math.MaxFloat32, -math.MaxFloat32
	}
	for k, s := range solids {
		box := scene.Box(2*s.Half[0], 2*s.Half[1], 2*s.Half[2])
		for _, v := range box.V {
			v[2] -= s.Half[2]
			at := toYUp(v.Turned(s.Turn).Add(s.Middle))
			p.Positions = appendFloats(p.Positions, at[:]...)
			for i, x := range at {
				p.Low[i], p.High[i] = min(p.Low[i], float32(x)), max(p.High[i], float32(x))
			}
		}
		for _, f := range box.F {
			for i := 2; i < len(f.V); i++ {
				for _, v := range []int{f.V[0], f.V[i-1], f.V[i]} {
					p.Indices = binary.LittleEndian.AppendUint32(p.Indices, uint32(8*k+v))
				}
			}
		}
	}
	return p
}
