package gltf

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
)

// File is the content of a file that is written. Coordinates are as in glTF: metres, Y up.
type File struct {
	Generator string
	Nodes     []Node
	Meshes    []Mesh
	Materials []Material
	Images    []Image
	Cameras   []Camera
	Lights    []Light
}

// Node is a node of the scene. The indices are -1 for none; a zero Scale is 1.
type Node struct {
	Name                string
	Mesh, Camera, Light int
	Translation         [3]float64
	Rotation            [4]float64 // quaternion, w last; zero: none
	Scale               float64
	Extras              map[string]any
	Instances           *Instances // its mesh at many places, by EXT_mesh_gpu_instancing
	Simpler             []int      // nodes that are drawn instead when it is small, by MSFT_lod
	Aside               bool       // it is not in the scene: another node refers to it
}

// Instances are the places of a mesh, relative to its node: little-endian float32, by three, four
// (quaternions, w last) and three.
type Instances struct{ Translations, Rotations, Scales []byte }

// simplerCoverage is the share of the screen below which a simpler node is drawn, and below which nothing is.
var simplerCoverage = []float64{0.15, 0.002}

// Mesh is a mesh. Its arrays may be shared with other files.
type Mesh struct {
	Name       string
	Primitives []Primitive
}

// Primitive is a part of a mesh with one material, or with none if it is -1. The arrays are little-endian: float32 positions
// and normals by three, tangents by four, texture coordinates by two, and uint32 indices.
type Primitive struct {
	Positions, Normals, Tangents, UVs, Indices []byte
	Low, High                                  [3]float32 // of the positions
	Material                                   int
}

// Material is a metallic-roughness material. Image, Normal and Rough are indices of images;
// -1: none. G of Rough multiplies Roughness, B multiplies Metallic.
type Material struct {
	Name                 string
	Color                [4]float64
	Roughness, Metallic  float64
	Emission             *[3]float64
	Strength             float64
	Image, Normal, Rough int
	Bump                 float64
	TwoSided             bool
}

// Image is an embedded PNG or JPEG.
type Image struct {
	Name string
	Data []byte
}

// Camera is a perspective camera; its angle is the vertical one, in radians.
type Camera struct {
	Name  string
	Angle float64
}

// Light is a light of KHR_lights_punctual. Intensity is in candela, for a directional one in lux.
type Light struct {
	Name      string
	Kind      string // point or directional
	Color     [3]float64
	Intensity float64
}

type object = map[string]any

// writer collects the parts of the buffer and the lists that refer to it.
type writer struct {
	parts     [][]byte // each starts at a multiple of four
	size      int
	views     []bufferView
	accessors []accessor
	used      map[string]bool
}

type bufferView struct {
	Buffer     int `json:"buffer"`
	ByteOffset int `json:"byteOffset"`
	ByteLength int `json:"byteLength"`
	Target     int `json:"target,omitzero"`
}

type accessor struct {
	BufferView    int         `json:"bufferView"`
	ComponentType int         `json:"componentType"`
	Count         int         `json:"count"`
	Type          string      `json:"type"`
	Min           *[3]float32 `json:"min,omitzero"`
	Max           *[3]float32 `json:"max,omitzero"`
}

// Write encodes a binary file: the same content gives the same bytes.
func Write(f File) ([]byte, error) {
	w := &writer{used: map[string]bool{}}
	nodes := w.encodeNodes(f)
	roots := []int{}
	for i, n := range f.Nodes {
		if !n.Aside {
			roots = append(roots, i)
		}
	}
	doc := object{"asset": object{"version": "2.0", "generator": f.Generator}, "scene": 0,
		"scenes": []object{{"name": "Scene", "nodes": roots}}, "nodes": nodes}
	if len(roots) == 0 {
		delete(doc["scenes"].([]object)[0], "nodes")
		delete(doc, "nodes")
	}
	setList(doc, "meshes", w.encodeMeshes(f))
	setList(doc, "materials", w.encodeMaterials(f))
	w.encodeImages(f, doc)
	cameras := make([]object, len(f.Cameras))
	for i, c := range f.Cameras {
		cameras[i] = object{"name": c.Name, "type": "perspective",
			"perspective": object{"yfov": c.Angle, "znear": 0.05, "zfar": 9000.0, "aspectRatio": 16.0 / 9}}
	}
	setList(doc, "cameras", cameras)
	w.encodeLights(f, doc)
	setList(doc, "accessors", w.accessors)
	setList(doc, "bufferViews", w.views)
	if w.size > 0 {
		doc["buffers"] = []object{{"byteLength": w.size}}
	}
	var used []string
	for _, name := range []string{"EXT_mesh_gpu_instancing", "KHR_lights_punctual", "KHR_materials_emissive_strength",
		"MSFT_lod"} {
		if w.used[name] {
			used = append(used, name)
		}
	}
	if used != nil {
		doc["extensionsUsed"] = used
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("gltf: encode: %w", err)
	}
	return w.packGLB(text), nil
}

func setList[T any](doc object, name string, list []T) {
	if len(list) > 0 {
		doc[name] = list
	}
}

// packGLB puts the two chunks of a binary file together.
func (w *writer) packGLB(text []byte) []byte {
	for len(text)%4 != 0 {
		text = append(text, ' ')
	}
	bin := alignToFour(w.size)
	size := 12 + 8 + len(text)
	if bin > 0 {
		size += 8 + bin
	}
	le := binary.LittleEndian
	out := make([]byte, 0, size)
	for _, n := range []int{magic, 2, size, len(text), chunkJSON} {
		out = le.AppendUint32(out, uint32(n))
	}
	out = append(out, text...)
	if bin == 0 {
		return out
	}
	out = le.AppendUint32(out, uint32(bin))
	out = le.AppendUint32(out, chunkBin)
	for _, part := range w.parts {
		out = append(out, part...)
		for len(out)%4 != 0 {
			out = append(out, 0)
		}
	}
	return out
}

func alignToFour(n int) int { return (n + 3) &^ 3 }

// addView adds bytes to the buffer and returns the index of their view.
func (w *writer) addView(data []byte, target int) int {
	at := alignToFour(w.size)
	w.parts, w.size = append(w.parts, data), at+len(data)
	w.views = append(w.views, bufferView{ByteOffset: at, ByteLength: len(data), Target: target})
	return len(w.views) - 1
}

// The targets of views and the types of components, as glTF numbers them.
const (
	targetArray    = 34962
	targetElements = 34963
	typeFloat      = 5126
	typeUint32     = 5125
)

func (w *writer) addFloats(data []byte, kind string) int {
	w.accessors = append(w.accessors, accessor{BufferView: w.addView(data, targetArray), ComponentType: typeFloat,
		Count: len(data) / 4 / componentCount[kind], Type: kind})
	return len(w.accessors) - 1
}

func (w *writer) encodeMeshes(f File) []object {
	out := make([]object, len(f.Meshes))
	for i, m := range f.Meshes {
		parts := make([]object, len(m.Primitives))
		for k, p := range m.Primitives {
			position := w.addFloats(p.Positions, "VEC3")
			w.accessors[position].Min, w.accessors[position].Max = &p.Low, &p.High
			attributes := object{"POSITION": position}
			if p.Material >= 0 {
				attributes["NORMAL"], attributes["TEXCOORD_0"] = w.addFloats(p.Normals, "VEC3"), w.addFloats(p.UVs, "VEC2")
			}
			if p.Material >= 0 && f.Materials[p.Material].Normal >= 0 {
				attributes["TANGENT"] = w.addFloats(p.Tangents, "VEC4")
			}
			w.accessors = append(w.accessors, accessor{BufferView: w.addView(p.Indices, targetElements),
				ComponentType: typeUint32, Count: len(p.Indices) / 4, Type: "SCALAR"})
			parts[k] = object{"attributes": attributes, "indices": len(w.accessors) - 1}
			if p.Material >= 0 {
				parts[k]["material"] = p.Material
			}
		}
		out[i] = object{"name": m.Name, "primitives": parts}
	}
	return out
}

func (w *writer) encodeMaterials(f File) []object {
	out := make([]object, len(f.Materials))
	for i, m := range f.Materials {
		pbr := object{"baseColorFactor": m.Color, "roughnessFactor": m.Roughness, "metallicFactor": m.Metallic}
		o := object{"name": m.Name, "pbrMetallicRoughness": pbr}
		if m.Image >= 0 {
			pbr["baseColorTexture"] = object{"index": m.Image}
		}
		if m.Rough >= 0 {
			pbr["metallicRoughnessTexture"] = object{"index": m.Rough}
		}
		if m.Normal >= 0 {
			o["normalTexture"] = object{"index": m.Normal, "scale": m.Bump}
		}
		if m.TwoSided {
			o["doubleSided"] = true
		}
		if m.Emission != nil {
			o["emissiveFactor"] = *m.Emission
			if m.Strength != 1 {
				w.used["KHR_materials_emissive_strength"] = true
				o["extensions"] = object{"KHR_materials_emissive_strength": object{"emissiveStrength": m.Strength}}
			}
		}
		out[i] = o
	}
	return out
}

func mediaOf(image []byte) string {
	if bytes.HasPrefix(image, []byte{0xff, 0xd8}) {
		return "image/jpeg"
	}
	return "image/png"
}

func (w *writer) encodeImages(f File, doc object) {
	var images, textures []object
	for i, im := range f.Images {
		images = append(images, object{"name": im.Name, "mimeType": mediaOf(im.Data),
			"bufferView": w.addView(im.Data, 0)})
		textures = append(textures, object{"source": i, "sampler": 0})
	}
	if images != nil {
		doc["images"], doc["textures"] = images, textures
		doc["samplers"] = []object{{"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497}}
	}
}

func (w *writer) encodeLights(f File, doc object) {
	if len(f.Lights) == 0 {
		return
	}
	w.used["KHR_lights_punctual"] = true
	list := make([]object, len(f.Lights))
	for i, l := range f.Lights {
		list[i] = object{"name": l.Name, "type": l.Kind, "color": l.Color, "intensity": l.Intensity}
	}
	doc["extensions"] = object{"KHR_lights_punctual": object{"lights": list}}
}

func (w *writer) encodeNodes(f File) []object {
	out := make([]object, len(f.Nodes))
	for i, n := range f.Nodes {
		o := object{"name": n.Name}
		if n.Mesh >= 0 {
			o["mesh"] = n.Mesh
		}
		if n.Camera >= 0 {
			o["camera"] = n.Camera
		}
		if ext := w.encodeExtensions(&n); len(ext) > 0 {
			o["extensions"] = ext
		}
		if n.Translation != ([3]float64{}) {
			o["translation"] = n.Translation
		}
		if n.Rotation != ([4]float64{}) && n.Rotation != ([4]float64{0, 0, 0, 1}) {
			o["rotation"] = n.Rotation
		}
		if n.Scale != 0 && n.Scale != 1 {
			o["scale"] = [3]float64{n.Scale, n.Scale, n.Scale}
		}
		if len(n.Simpler) > 0 {
			n.Extras = maps.Clone(n.Extras)
			if n.Extras == nil {
				n.Extras = map[string]any{}
			}
			n.Extras["MSFT_screencoverage"] = simplerCoverage[:len(n.Simpler)+1]
		}
		if len(n.Extras) > 0 {
			o["extras"] = n.Extras
		}
		out[i] = o
	}
	return out
}

// encodeExtensions returns the extensions of a node.
func (w *writer) encodeExtensions(n *Node) object {
	ext := object{}
	if n.Light >= 0 {
		ext["KHR_lights_punctual"] = object{"light": n.Light}
	}
	if len(n.Simpler) > 0 {
		w.used["MSFT_lod"] = true
		ext["MSFT_lod"] = object{"ids": n.Simpler}
	}
	if at := n.Instances; at != nil {
		w.used["EXT_mesh_gpu_instancing"] = true
		ext["EXT_mesh_gpu_instancing"] = object{"attributes": object{
			"TRANSLATION": w.addInstances(at.Translations, "VEC3"), "ROTATION": w.addInstances(at.Rotations, "VEC4"),
			"SCALE": w.addInstances(at.Scales, "VEC3")}}
	}
	return ext
}

// addInstances adds floats that are no attributes of vertices.
func (w *writer) addInstances(data []byte, kind string) int {
	i := w.addFloats(data, kind)
	w.views[w.accessors[i].BufferView].Target = 0
	return i
}
