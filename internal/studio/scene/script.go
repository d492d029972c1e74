package scene

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
)

// Script is a list of operations on a scene, in the order in which they are done. Its methods check
// names and keep the first error for Err, so that a builder need not check each step.
type Script struct {
	Ops []json.RawMessage

	names map[string]bool
	err   error
}

// Box3 is an axis-aligned box; the zero Box3 is empty.
type Box3 struct {
	Low, High Vec
	full      bool
}

// Grow extends the box to include a point.
func (b *Box3) Grow(v Vec) {
	if !b.full {
		b.Low, b.High, b.full = v, v, true
	}
	for i := range v {
		b.Low[i], b.High[i] = min(b.Low[i], v[i]), max(b.High[i], v[i])
	}
}

// NameForm is the form of names in a scene. It is narrow, so that every program and file format
// keeps a name unchanged.
var NameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9 _.-]{0,54}$`)

// Err returns the first error.
func (s *Script) Err() error { return s.err }

func (s *Script) claimName(kind, name string) {
	if s.names == nil {
		s.names = map[string]bool{}
	}
	switch {
	case s.err != nil:
	case !NameForm.MatchString(name):
		s.err = fault.BadField("name",
			"%q: use 1 to 55 letters, digits, spaces, dots, dashes and underscores, the first a letter or digit", name)
	case s.names[kind+name]:
		s.err = fault.BadField("name", "%q is used twice", name)
	}
	s.names[kind+name] = true
}

// appendOp encodes an operation and appends it.
func (s *Script) appendOp(op any) {
	b, err := json.Marshal(op)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("scene: encode operation: %w", err)
	}
	s.Ops = append(s.Ops, b)
}

// Transform is the position of an object. A zero Scale means 1.
type Transform struct {
	Location Vec `json:"location"`
	Rotation Vec `json:"rotation"`
	Scale    Vec `json:"scale"`
}

func (t Transform) normalized() Transform {
	if t.Scale == (Vec{}) {
		t.Scale = Vec{1, 1, 1}
	}
	return Transform{t.Location.Rounded(), t.Rotation.Rounded(), t.Scale.Rounded()}
}

// Material is the appearance of a surface. Colours are linear, 0 to 1.
type Material struct {
	Op           string      `json:"op"`
	Name         string      `json:"name"`
	Color        [4]float64  `json:"color"`
	Roughness    float64     `json:"roughness"`
	Metallic     float64     `json:"metallic"`
	Emission     *[3]float64 `json:"emission,omitempty"`
	Strength     float64     `json:"strength,omitempty"`
	Transmission float64     `json:"transmission,omitempty"`
	Image        string      `json:"image,omitempty"`
	Normal       string      `json:"normal,omitempty"`
	Rough        string      `json:"rough,omitempty"` // image whose G multiplies Roughness
	Bump         float64     `json:"bump,omitempty"`
}

// Material adds a material.
func (s *Script) Material(m Material) {
	m.Op = "material"
	s.claimName("material", m.Name)
	s.appendOp(m)
}

// Image adds an image stored under its hash; linear is set if it does not contain colours.
func (s *Script) Image(name, sha256 string, linear bool) {
	s.claimName("image", name)
	s.appendOp(struct {
		Op     string `json:"op"`
		Name   string `json:"name"`
		Blob   string `json:"blob"`
		SHA256 string `json:"sha256"`
		Linear bool   `json:"linear"`
	}{"image", name, sha256, sha256, linear})
}

// Mesh adds a mesh; materials fill its slots.
func (s *Script) Mesh(name string, m *Mesh, materials ...string) {
	s.MeshData(name, Bytes{Data: m.Pack()}, materials...)
}

// Bytes is packed data: inline, or stored under its hash.
type Bytes struct {
	Data []byte `json:"data,omitempty"`
	Blob string `json:"blob,omitempty"`
}

// MeshData adds a mesh that is packed already.
func (s *Script) MeshData(name string, b Bytes, materials ...string) {
	s.claimName("mesh", name)
	s.appendOp(struct {
		Op        string   `json:"op"`
		Name      string   `json:"name"`
		Materials []string `json:"materials,omitempty"`
		Bytes
	}{"mesh", name, materials, b})
}

// Object places a mesh in the scene, in a collection ("" is the scene's own).
func (s *Script) Object(name, mesh, into string, t Transform) {
	s.claimName("object", name)
	s.appendOp(struct {
		Op   string `json:"op"`
		Name string `json:"name"`
		Mesh string `json:"mesh,omitempty"`
		Into string `json:"into,omitempty"`
		Transform
	}{"object", name, mesh, into, t.normalized()})
}

// Instances places many objects of one mesh in the scene, named prefix.00001 and so on.
func (s *Script) Instances(prefix, mesh, into string, at []Transform) {
	s.InstancesData(prefix, mesh, into, len(at), Bytes{Data: PackTransforms(at)})
}

// InstancesData is Instances with the transforms packed already.
func (s *Script) InstancesData(prefix, mesh, into string, count int, b Bytes) {
	s.claimName("instances", prefix)
	s.appendOp(struct {
		Op     string `json:"op"`
		Prefix string `json:"prefix"`
		Mesh   string `json:"mesh"`
		Into   string `json:"into,omitempty"`
		Count  int    `json:"count"`
		Bytes
	}{"instances", prefix, mesh, into, count, b})
}

// PackTransforms encodes each transform as nine little-endian float32: location, rotation, scale.
func PackTransforms(at []Transform) []byte {
	b := make([]byte, 0, 36*len(at))
	for _, t := range at {
		t = t.normalized()
		for _, v := range []Vec{t.Location, t.Rotation, t.Scale} {
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
			}
		}
	}
	return b
}

// Text adds a text object; unturned it faces -Y.
func (s *Script) Text(name, body, material, into string, size float64, t Transform) {
	s.claimName("object", name)
	s.appendOp(struct {
		Op       string  `json:"op"`
		Name     string  `json:"name"`
		Body     string  `json:"body"`
		Material string  `json:"material,omitempty"`
		Into     string  `json:"into,omitempty"`
		Size     float64 `json:"size"`
		Transform
	}{"text", name, body, material, into, size, t.normalized()})
}

// Light is a lamp. Energy is in watts, for a SUN in watts per square metre.
type Light struct {
	Op     string     `json:"op"`
	Name   string     `json:"name"`
	Kind   string     `json:"kind"` // POINT, SUN, AREA, SPOT
	Energy float64    `json:"energy"`
	Color  [3]float64 `json:"color"`
	Size   float64    `json:"size"` // of the source: a radius or side, or for a SUN an angle
	Into   string     `json:"into,omitempty"`
	Transform
}

// Light adds a lamp to the scene.
func (s *Script) Light(l Light) {
	l.Op, l.Transform = "light", l.normalized()
	s.claimName("object", l.Name)
	s.appendOp(l)
}

// Camera adds a camera to the scene; previews are rendered with the main one.
func (s *Script) Camera(name string, lens float64, main bool, t Transform) {
	s.claimName("object", name)
	s.appendOp(struct {
		Op   string  `json:"op"`
		Name string  `json:"name"`
		Lens float64 `json:"lens"`
		Main bool    `json:"main,omitempty"`
		Transform
	}{"camera", name, roundCoord(lens), main, t.normalized()})
}

// Sky is the light from all directions: an atmosphere with the sun at an elevation, or one colour.
type Sky struct {
	Op        string      `json:"op"`
	Elevation float64     `json:"elevation"`
	Rotation  float64     `json:"rotation"`
	Strength  float64     `json:"strength"`
	Color     *[3]float64 `json:"color,omitempty"`
	Ozone     float64     `json:"ozone"`
	Dust      float64     `json:"dust"`
	Clouds    float64     `json:"clouds,omitempty"`   // share of the sky that they cover
	Haze      float64     `json:"haze,omitempty"`     // metres at which things pale to half; 0: never
	Pale      [3]float64  `json:"pale,omitzero"`      // linear colour of the haze
	Exposure  float64     `json:"exposure,omitempty"` // of pictures, in stops
}

// Sky sets the light of the sky.
func (s *Script) Sky(k Sky) {
	k.Op = "sky"
	s.appendOp(k)
}

// Assign gives an object a material of its own.
func (s *Script) Assign(object, material string) {
	s.appendOp(struct {
		Op       string `json:"op"`
		Object   string `json:"object"`
		Material string `json:"material"`
	}{"assign", object, material})
}

// LookAt returns the rotation of a camera at from that looks at to.
func LookAt(from, to Vec) Vec {
	d := to.Sub(from)
	return Vec{math.Atan2(math.Hypot(d[0], d[1]), -d[2]), 0, math.Atan2(d[1], d[0]) - math.Pi/2}
}

// Frame places a camera so that a box fills its view. The direction from need not be of unit
// length; lens is for a 36 mm film of aspect 16 to 9.
func Frame(b Box3, from Vec, lens float64) Transform {
	middle := b.Low.Add(b.High).Mul(0.5)
	from = from.Mul(1 / from.Len())
	side := Vec{-from[1], from[0], 0}
	side = side.Mul(1 / side.Len())
	up := from.Cross(side)
	tanX, tanY := 18/lens, 18*9/16/lens
	away := 0.0
	for i := range 8 {
		corner := Vec{b.Low[0], b.Low[1], b.Low[2]}
		for axis := range corner {
			if i>>axis&1 == 1 {
				corner[axis] = b.High[axis]
			}
		}
		d := corner.Sub(middle)
		x, y, z := math.Abs(dot(d, side)), math.Abs(dot(d, up)), dot(d, from)
		away = max(away, z+x/tanX, z+y/tanY)
	}
	at := middle.Add(from.Mul(away * 1.08))
	return Transform{Location: at, Rotation: LookAt(at, middle)}
}

func dot(a, b Vec) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
