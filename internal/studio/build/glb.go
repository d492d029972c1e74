package build

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"loregate/internal/studio/gltf"
	"loregate/internal/studio/scene"
	"loregate/internal/studio/texture"
)

// arrays is a mesh as the primitives of a GLB file, one for each slot that has faces.
type arrays struct {
	slots      []int
	primitives []gltf.Primitive
}

// Painter returns the maps of a painted surface.
type Painter interface {
	PaintedPNG(kind string) (texture.Images, error)
}

// GLB encodes the model as a file, with its lights, cameras and markers. Each body is a node of its own.
func (m *Model) GLB(p Painter) ([]byte, error) { return m.encode(p, false) }

// GameGLB is GLB for engines: with bodies for collisions (nodes whose names end with -colonly), simpler
// plants for a distance (MSFT_lod), and one node for many bodies of one mesh (EXT_mesh_gpu_instancing).
func (m *Model) GameGLB(p Painter) ([]byte, error) { return m.encode(p, true) }

func (m *Model) encode(p Painter, game bool) ([]byte, error) {
	f := gltf.File{Generator: "Loregate"}
	materials, err := m.addMaterials(&f, p)
	if err != nil {
		return nil, err
	}
	e := &encoder{f: &f, materials: materials, meshes: map[*Mesh]int{}}
	many := map[*Mesh][]*Node{}
	if game {
		many = m.sharedMeshes()
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if e.meshOf(n.Mesh, n.Path) < 0 {
			continue
		}
		o := m.encodeNode(n, e.meshes[n.Mesh])
		if all := many[n.Mesh]; all != nil {
			if all[0] != n {
				continue
			}
			o = e.encodeInstances(o, all)
		}
		f.Nodes = append(f.Nodes, o)
		if game && n.Mesh.simpler != nil {
			e.addSimpler(len(f.Nodes)-1, n.Mesh.simpler())
		}
	}
	if game {
		m.addCollisions(&f)
	}
	m.addLookers(&f)
	return gltf.Write(f)
}

func (m *Model) encodeNode(n *Node, mesh int) gltf.Node {
	o := gltf.Node{Name: n.Path, Mesh: mesh, Camera: -1, Light: -1, Translation: toYUp(n.Location),
		Rotation: rotationYUp(n.Rotation), Scale: roundTo(n.Scale[0])}
	if n.Thing >= 0 {
		o.Extras = map[string]any{"kind": m.Things[n.Thing].Kind}
	}
	return o
}

// encoder adds meshes to a file, each once.
type encoder struct {
	f         *gltf.File
	materials map[string]int
	meshes    map[*Mesh]int // -1: empty
}

// meshOf returns the index of a mesh in the file; -1 if it is empty.
func (e *encoder) meshOf(mesh *Mesh, name string) int {
	if i, ok := e.meshes[mesh]; ok {
		return i
	}
	a := mesh.toArrays()
	if len(a.primitives) == 0 {
		e.meshes[mesh] = -1
		return -1
	}
	e.meshes[mesh] = len(e.f.Meshes)
	parts := slices.Clone(a.primitives)
	for i, slot := range a.slots {
		parts[i].Material = e.materials[mesh.Materials[slot]]
	}
	e.f.Meshes = append(e.f.Meshes, gltf.Mesh{Name: name, Primitives: parts})
	return e.meshes[mesh]
}

func roundTo(x float64) float64 { return math.Round(x*1e5)/1e5 + 0 }

func toYUp(v scene.Vec) [3]float64 { return [3]float64{roundTo(v[0]), roundTo(v[2]), roundTo(-v[1])} }

// quaternion returns the rotation of Euler angles about X, then Y, then Z.
func quaternion(r scene.Vec) [4]float64 {
	sx, cx := math.Sincos(r[0] / 2)
	sy, cy := math.Sincos(r[1] / 2)
	sz, cz := math.Sincos(r[2] / 2)
	return [4]float64{sx*cy*cz - cx*sy*sz, cx*sy*cz + sx*cy*sz, cx*cy*sz - sx*sy*cz, cx*cy*cz + sx*sy*sz}
}

// rotationYUp returns a node's rotation for a mesh whose points were turned to Y up, too.
func rotationYUp(r scene.Vec) [4]float64 {
	q := quaternion(r)
	return unit4([4]float64{q[0], q[2], -q[1], q[3]})
}

// lookYUp returns the rotation of a camera or light, which look along their own -Z in both worlds.
func lookYUp(r scene.Vec) [4]float64 {
	q := quaternion(r)
	const h = math.Sqrt2 / 2 // a turn about X by -90 degrees, before
	return unit4([4]float64{h*q[0] - h*q[3], h*q[1] + h*q[2], h*q[2] - h*q[1], h*q[3] + h*q[0]})
}

func unit4(q [4]float64) [4]float64 {
	l := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	for i := range q {
		q[i] = math.Round(q[i]/l*1e7)/1e7 + 0
	}
	return q
}

// addLookers adds lights, cameras and markers.
func (m *Model) addLookers(f *gltf.File) {
	add := func(n gltf.Node) { f.Nodes = append(f.Nodes, n) }
	if s := m.Sun; s != nil {
		f.Lights = append(f.Lights, gltf.Light{Name: "sun", Kind: "directional", Color: s.Color,
			Intensity: s.Energy * wattsToLumen})
		add(gltf.Node{Name: "sun", Mesh: -1, Camera: -1, Light: 0, Rotation: lookYUp(s.Rotation)})
	}
	for _, l := range m.Lamps {
		f.Lights = append(f.Lights, gltf.Light{Name: l.Path, Kind: "point", Color: l.Color,
			Intensity: roundTo(l.Watts * wattsToLumen / (4 * math.Pi))})
		add(gltf.Node{Name: l.Path + ".light", Mesh: -1, Camera: -1, Light: len(f.Lights) - 1,
			Translation: toYUp(l.At)})
	}
	for i, c := range m.Cameras {
		f.Cameras = append(f.Cameras, gltf.Camera{Name: c.Name, Angle: roundTo(2 * math.Atan(18*9.0/16/c.Lens))})
		add(gltf.Node{Name: "camera." + c.Name, Mesh: -1, Camera: i, Light: -1, Translation: toYUp(c.Location),
			Rotation: lookYUp(c.Rotation)})
	}
	for _, k := range m.Markers {
		extras := map[string]any{"marker": k.Kind}
		if k.Note != "" {
			extras["note"] = k.Note
		}
		add(gltf.Node{Name: "marker." + k.Name, Mesh: -1, Camera: -1, Light: -1, Translation: toYUp(k.At),
			Rotation: rotationYUp(scene.Vec{0, 0, k.Turn}), Extras: extras})
	}
}

// wattsToLumen converts radiant watts as Blender has them, as Blender's own exporter does.
const wattsToLumen = 683

// addMaterials adds the materials in use, with their images, and returns their indices by name.
func (m *Model) addMaterials(f *gltf.File, p Painter) (map[string]int, error) {
	index, images := map[string]int{}, map[string]int{}
	add := func(kind string, data []byte) int {
		if i, ok := images[kind]; ok {
			return i
		}
		images[kind] = len(f.Images)
		f.Images = append(f.Images, gltf.Image{Name: kind, Data: data})
		return images[kind]
	}
	own, leafy := m.ownTextures()
	for _, name := range sortedKeys(m.Materials) {
		l := m.Materials[name]
		o := gltf.Material{Name: name, TwoSided: leafy[name], Color: l.Color, Roughness: l.Roughness, Metallic: l.Metallic,
			Emission: l.Emission,
			Strength: l.Strength, Image: -1, Normal: -1, Rough: -1, Bump: cmp.Or(l.Bump, 1)}
		if l.Paint != "" {
			painted, err := p.PaintedPNG(l.Paint)
			if err != nil {
				return nil, err
			}
			if l.Color == ([4]float64{}) {
				o.Image = add(l.Paint, painted.Color)
			}
			kind, finish := splitKind(l.Paint)
			finish.Tint = [3]byte{}
			o.Normal = add(kind+" normal", painted.Normal)
			o.Rough = add(finishedKind(kind, finish)+" roughness", painted.Rough)
		}
		if paint := own[name]; paint != nil {
			jpeg, err := paint(p)
			if err != nil {
				return nil, err
			}
			o.Image = add(name, jpeg)
		}
		if o.Color == ([4]float64{}) {
			o.Color = [4]float64{1, 1, 1, 1}
		}
		index[name] = len(f.Materials)
		f.Materials = append(f.Materials, o)
	}
	return index, nil
}

// ownTextures returns the painters of textures by material, and the materials of leaves.
func (m *Model) ownTextures() (own map[string]func(Painter) ([]byte, error), leafy map[string]bool) {
	own, leafy = map[string]func(Painter) ([]byte, error){}, map[string]bool{}
	for _, mesh := range m.Meshes {
		for _, name := range mesh.Materials {
			if mesh.texture != nil {
				own[name] = mesh.texture
			}
			leafy[name] = leafy[name] || mesh.leafy
		}
	}
	return own, leafy
}

// corner is a vertex of a primitive.
type corner struct {
	at, normal scene.Vec
	uv         [2]float64
	tangent    scene.Vec
	hand       float64
}

// toArrays returns the mesh's primitives, made at first use.
func (m *Mesh) toArrays() *arrays {
	m.once.Do(func() {
		m.arrays = &arrays{}
		smooth := m.smoothNormals()
		for slot := range m.Materials {
			if p, ok := m.makePrimitive(slot, smooth); ok {
				m.arrays.slots = append(m.arrays.slots, slot)
				m.arrays.primitives = append(m.arrays.primitives, p)
			}
		}
	})
	return m.arrays
}

// smoothNormals returns the sums of the normals of the smooth faces at each vertex.
func (m *Mesh) smoothNormals() []scene.Vec {
	sums := make([]scene.Vec, len(m.V))
	for _, f := range m.F {
		if !f.Smooth {
			continue
		}
		n := m.Normal(f)
		for _, v := range f.V {
			sums[v] = sums[v].Add(n)
		}
	}
	return sums
}

func unitOf(v scene.Vec) (scene.Vec, bool) {
	l := v.Len()
	if l < 1e-12 {
		return scene.Vec{0, 0, 1}, false
	}
	return v.Mul(1 / l), true
}

// makePrimitive makes the primitive of one slot. Smooth faces share vertices, flat ones do not.
func (m *Mesh) makePrimitive(slot int, smooth []scene.Vec) (gltf.Primitive, bool) {
	type key struct {
		v  int
		uv [2]float64
	}
	shared := map[key]uint32{}
	var corners []corner
	var indices []uint32
	for _, f := range m.F {
		if f.Slot != slot {
			continue
		}
		flat, ok := unitOf(m.Normal(f))
		if !ok {
			continue
		}
		uvs := m.UV(f)
		at := make([]uint32, len(f.V))
		for i, v := range f.V {
			k := key{v, uvs[i]}
			if old, ok := shared[k]; ok && f.Smooth {
				at[i] = old
				continue
			}
			n := flat
			if f.Smooth {
				if s, ok := unitOf(smooth[v]); ok {
					n = s
				}
				shared[k] = uint32(len(corners))
			}
			at[i] = uint32(len(corners))
			corners = append(corners, corner{at: m.V[v].Rounded(), normal: n, uv: uvs[i]})
		}
		for i := 2; i < len(at); i++ {
			if addTangent(corners, at[0], at[i-1], at[i]) {
				indices = append(indices, at[0], at[i-1], at[i])
			}
		}
	}
	if len(indices) == 0 {
		return gltf.Primitive{}, false
	}
	return packPrimitive(corners, indices), true
}

// addTangent adds a triangle's tangent to its corners. It reports whether the triangle has an area.
func addTangent(c []corner, i, j, k uint32) bool {
	e1, e2 := c[j].at.Sub(c[i].at), c[k].at.Sub(c[i].at)
	if e1.Cross(e2).Len() < 1e-9 {
		return false
	}
	u1, v1 := c[j].uv[0]-c[i].uv[0], c[j].uv[1]-c[i].uv[1]
	u2, v2 := c[k].uv[0]-c[i].uv[0], c[k].uv[1]-c[i].uv[1]
	det := u1*v2 - u2*v1
	if math.Abs(det) < 1e-12 {
		return true
	}
	t := e1.Mul(v2).Sub(e2.Mul(v1)).Mul(1 / det)
	hand := math.Copysign(1, det)
	for _, n := range []uint32{i, j, k} {
		c[n].tangent = c[n].tangent.Add(t)
		c[n].hand += hand
	}
	return true
}

func packPrimitive(corners []corner, indices []uint32) gltf.Primitive {
	var p gltf.Primitive
	for i := range 3 {
		p.Low[i], p.High[i] = math.MaxFloat32, -math.MaxFloat32
	}
	for _, c := range corners {
		at, n := toYUp(c.at), unitYUp(c.normal)
		p.Positions, p.Normals = appendFloats(p.Positions, at[:]...), appendFloats(p.Normals, n[:]...)
		t, ok := unitOf(c.tangent.Sub(c.normal.Mul(dotOf(c.tangent, c.normal))))
		if !ok {
			if t, ok = unitOf(c.normal.Cross(scene.Vec{0, 0, 1})); !ok {
				t = scene.Vec{1, 0, 0}
			}
		}
		tangent := unitYUp(t)
		p.Tangents = appendFloats(p.Tangents, tangent[0], tangent[1], tangent[2], math.Copysign(1, c.hand))
		p.UVs = appendFloats(p.UVs, roundTo(c.uv[0]), roundTo(1-c.uv[1]))
		for i := range at {
			p.Low[i], p.High[i] = min(p.Low[i], float32(at[i])), max(p.High[i], float32(at[i]))
		}
	}
	for _, i := range indices {
		p.Indices = binary.LittleEndian.AppendUint32(p.Indices, i)
	}
	return p
}

// unitYUp rounds a unit vector, so that differences in the last bits of a sine disappear.
func unitYUp(v scene.Vec) [3]float64 {
	for i := range v {
		v[i] = math.Round(v[i]*1e6) / 1e6
	}
	l := v.Len()
	return [3]float64{v[0]/l + 0, v[2]/l + 0, -v[1]/l + 0}
}

func dotOf(a, b scene.Vec) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
