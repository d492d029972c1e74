package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"loregate/internal/slicesx"
	"loregate/internal/studio/builder"
	"loregate/internal/studio/scene"
)

// Store paints surfaces and keeps textures.
type Store interface {
	builder.Painter
	Painter
	Keep(data []byte) (sha256 string, err error)
}

// Script returns the operations that make the model in an authoring program. All names begin with
// the name of the scene and a space.
func (m *Model) Script(p Store) ([]json.RawMessage, error) {
	s := &scene.Script{}
	own, _ := m.ownTextures()
	for _, name := range sortedKeys(m.Materials) {
		look, full := m.Materials[name], m.fullName(name)
		if paint := own[name]; paint != nil {
			jpeg, err := paint(p)
			if err != nil {
				return nil, err
			}
			if look.Image, err = p.Keep(jpeg); err != nil {
				return nil, err
			}
			s.Image(full+" color", look.Image, false)
			look.Image, look.Color = full+" color", [4]float64{1, 1, 1, 1}
		}
		if err := builder.AddLook(s, full, look, p); err != nil {
			return nil, err
		}
	}
	names := map[*Mesh]string{}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if len(n.Mesh.F) == 0 {
			continue
		}
		name := m.fullName(n.Path)
		if names[n.Mesh] == "" {
			names[n.Mesh] = name
			s.Mesh(name, &n.Mesh.Mesh, slicesx.Map(n.Mesh.Materials, m.fullName)...)
		}
		s.Object(name, names[n.Mesh], m.Name, n.Transform)
	}
	for _, l := range m.Lamps {
		s.Light(scene.Light{Name: m.fullName(l.Path + ".light"), Kind: "POINT", Energy: l.Watts, Color: l.Color,
			Size: 0.15,
			Into: m.Name, Transform: scene.Transform{Location: l.At}})
	}
	s.Sky(m.Sky)
	if m.Sun != nil {
		sun := *m.Sun
		sun.Name, sun.Into = m.Name+" sun", m.Name
		s.Light(sun)
	}
	for i, c := range m.Cameras {
		s.Camera(m.fullName("camera."+c.Name), c.Lens, i == 0, c.Transform)
	}
	for _, k := range m.Markers {
		s.Object(m.fullName("marker."+k.Name), "", m.Name, scene.Transform{Location: k.At, Rotation: scene.Vec{0,
			0, k.Turn}})
	}
	return s.Ops, s.Err()
}

// maxName is the length of names that every program keeps.
const maxName = 55

// fullName returns the name of a part in a program. The middle of a long one is replaced by a hash.
func (m *Model) fullName(path string) string {
	name := m.Name + " " + path
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:24] + "." + hex.EncodeToString(sum[:4]) + "." + name[len(name)-20:]
}

// CameraNames returns the names of the cameras in a program, the main one first.
func (m *Model) CameraNames() []string {
	return slices.Clip(slicesx.Map(m.Cameras, func(c Camera) string { return m.fullName("camera." + c.Name) }))
}
