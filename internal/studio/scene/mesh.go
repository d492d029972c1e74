package scene

import (
	"encoding/binary"
	"math"
)

// Vec is a point, direction, rotation (Euler XYZ, radians) or scale.
type Vec [3]float64

// Add returns the sum.
func (v Vec) Add(o Vec) Vec { return Vec{v[0] + o[0], v[1] + o[1], v[2] + o[2]} }

// Sub returns the difference.
func (v Vec) Sub(o Vec) Vec { return Vec{v[0] - o[0], v[1] - o[1], v[2] - o[2]} }

// Mul returns the vector times a number.
func (v Vec) Mul(k float64) Vec { return Vec{v[0] * k, v[1] * k, v[2] * k} }

// Len returns the length.
func (v Vec) Len() float64 { return math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2]) }

// Cross returns the cross product.
func (v Vec) Cross(o Vec) Vec {
	return Vec{v[1]*o[2] - v[2]*o[1], v[2]*o[0] - v[0]*o[2], v[0]*o[1] - v[1]*o[0]}
}

// Turned returns the vector turned about Z.
func (v Vec) Turned(angle float64) Vec {
	s, c := math.Sincos(angle)
	return Vec{v[0]*c - v[1]*s, v[0]*s + v[1]*c, v[2]}
}

// roundCoord rounds to a tenth of a millimetre and turns -0 into 0.
func roundCoord(x float64) float64 { return math.Round(x*1e4)/1e4 + 0 }

// Rounded returns the vector as it is stored in scenes.
func (v Vec) Rounded() Vec { return Vec{roundCoord(v[0]), roundCoord(v[1]), roundCoord(v[2])} }

// Face is a polygon of a mesh: its corners, counter-clockwise from outside.
type Face struct {
	V      []int
	UV     [][2]float64 // one per corner; nil: derived from the face's position
	Slot   int          // material slot
	Smooth bool
}

// Mesh is a surface. The zero Mesh is empty and ready to be added to.
type Mesh struct {
	V []Vec
	F []Face
}

// Add appends another mesh: each vertex is mapped by move, and slot is added to its slots.
func (m *Mesh) Add(o *Mesh, move func(Vec) Vec, slot int) *Mesh {
	base := len(m.V)
	for _, v := range o.V {
		m.V = append(m.V, move(v))
	}
	for _, f := range o.F {
		g := Face{V: make([]int, len(f.V)), UV: f.UV, Slot: f.Slot + slot, Smooth: f.Smooth}
		for i, v := range f.V {
			g.V[i] = base + v
		}
		m.F = append(m.F, g)
	}
	return m
}

// At appends another mesh, moved to p.
func (m *Mesh) At(o *Mesh, p Vec, slot int) *Mesh {
	return m.Add(o, func(v Vec) Vec { return v.Add(p) }, slot)
}

// Bounds returns the lowest and the highest corner of the mesh's bounding box.
func (m *Mesh) Bounds() (low, high Vec) {
	low, high = Vec{math.Inf(1), math.Inf(1), math.Inf(1)}, Vec{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for _, v := range m.V {
		for i := range v {
			low[i], high[i] = min(low[i], v[i]), max(high[i], v[i])
		}
	}
	return low, high
}

// Normal returns a face's normal by Newell's method; its length is not 1.
func (m *Mesh) Normal(f Face) Vec {
	var n Vec
	for i, a := range f.V {
		p, q := m.V[a], m.V[f.V[(i+1)%len(f.V)]]
		n[0] += (p[1] - q[1]) * (p[2] + q[2])
		n[1] += (p[2] - q[2]) * (p[0] + q[0])
		n[2] += (p[0] - q[0]) * (p[1] + q[1])
	}
	return n
}

// TileMetres is the side of the square that one tile of a texture covers.
const TileMetres = 2.5

// UV returns a face's texture coordinates in tiles: its own, or a projection along the axis
// that it faces most.
func (m *Mesh) UV(f Face) [][2]float64 {
	if f.UV != nil {
		return f.UV
	}
	n := m.Normal(f)
	x, y, z := math.Abs(n[0]), math.Abs(n[1]), math.Abs(n[2])
	uv := make([][2]float64, len(f.V))
	for i, at := range f.V {
		v := m.V[at]
		switch {
		case z >= x && z >= y:
			uv[i] = [2]float64{v[0] / TileMetres, v[1] / TileMetres}
		case x >= y:
			uv[i] = [2]float64{v[1] / TileMetres, v[2] / TileMetres}
		default:
			uv[i] = [2]float64{v[0] / TileMetres, v[2] / TileMetres}
		}
	}
	return uv
}

// The flags of the packed form.
const (
	hasUV = 1 << iota
	hasSlots
	hasSmooth
)

// Pack encodes the mesh for adapters. All numbers are little-endian: the counts of vertices, loops
// and faces and the flags as uint32; then float32 coordinates, int32 vertex indices of all loops,
// int32 sizes of the faces, float32 texture coordinates of all loops, and int32 slots and
// smoothness of the faces.
func (m *Mesh) Pack() []byte {
	loops := 0
	for _, f := range m.F {
		loops += len(f.V)
	}
	b := make([]byte, 0, 16+12*len(m.V)+12*loops+12*len(m.F))
	le := binary.LittleEndian
	for _, n := range []int{len(m.V), loops, len(m.F), hasUV | hasSlots | hasSmooth} {
		b = le.AppendUint32(b, uint32(n))
	}
	for _, v := range m.V {
		for _, x := range v {
			b = le.AppendUint32(b, math.Float32bits(float32(roundCoord(x))))
		}
	}
	for _, f := range m.F {
		for _, v := range f.V {
			b = le.AppendUint32(b, uint32(v))
		}
	}
	for _, f := range m.F {
		b = le.AppendUint32(b, uint32(len(f.V)))
	}
	for _, f := range m.F {
		for _, uv := range m.UV(f) {
			b = le.AppendUint32(b, math.Float32bits(float32(roundCoord(uv[0]))))
			b = le.AppendUint32(b, math.Float32bits(float32(roundCoord(uv[1]))))
		}
	}
	for _, f := range m.F {
		b = le.AppendUint32(b, uint32(f.Slot))
	}
	for _, f := range m.F {
		smooth := uint32(0)
		if f.Smooth {
			smooth = 1
		}
		b = le.AppendUint32(b, smooth)
	}
	return b
}
