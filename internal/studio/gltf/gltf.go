// Package gltf reads glTF 2.0 files and checks that their content is consistent.
//
// Its invariant: all counts come from the file itself, and every index and length in it is checked
// before it is used.
package gltf

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Info describes the content of a file.
type Info struct {
	Generator string
	Nodes     int      // of the scene; engines add a root node on import
	Meshes    int      // distinct meshes
	Triangles int      // of all nodes; each instance counts
	Vertices  int      // of the distinct meshes
	Materials []string // names, in the file's order
	Images    []string // SHA-256 of the embedded images, in hexadecimal
}

type document struct {
	Asset  struct{ Version, Generator string }
	Scene  int
	Scenes []struct{ Nodes []int }
	Nodes  []struct {
		Mesh     *int
		Children []int
	}
	Meshes []struct {
		Primitives []struct {
			Attributes map[string]int
			Indices    *int
			Material   *int
			Mode       *int
		}
	}
	Accessors []struct {
		BufferView    *int
		ByteOffset    int
		ComponentType int
		Count         int
		Type          string
	}
	BufferViews []struct {
		Buffer, ByteOffset, ByteLength, ByteStride int
	}
	Buffers   []struct{ ByteLength int }
	Materials []struct{ Name string }
	Images    []struct {
		BufferView *int
		MimeType   string
		URI        string
	}
}

const (
	magic     = 0x46546c67 // "glTF"
	chunkJSON = 0x4e4f534a
	chunkBin  = 0x004e4942
)

// ErrFormat is wrapped by every error about an invalid file.
var ErrFormat = errors.New("gltf: not a valid file")

func formatErrorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// ParseGLB parses a binary file.
func ParseGLB(b []byte) (Info, error) {
	text, bin, err := Split(b)
	if err != nil {
		return Info{}, err
	}
	return Parse(text, bin)
}

// Split returns the two chunks of a binary file: the JSON and, behind it, the first buffer, which may be absent. A file
// with other chunks, or with bytes behind them, is not valid: readers differ in the chunk that they take.
func Split(b []byte) (text, bin []byte, err error) {
	le := binary.LittleEndian
	if len(b) < 20 || le.Uint32(b) != magic || le.Uint32(b[4:]) != 2 || int64(le.Uint32(b[8:])) != int64(len(b)) {
		return nil, nil, formatErrorf("header")
	}
	text, rest, err := cutChunk(b[12:], chunkJSON)
	if err == nil && len(rest) > 0 {
		bin, rest, err = cutChunk(rest, chunkBin)
	}
	if err == nil && len(rest) > 0 {
		err = formatErrorf("more than two chunks")
	}
	return text, bin, err
}

// cutChunk returns the content of the first chunk, which must be of a kind, and the bytes behind it.
func cutChunk(b []byte, kind uint32) (content, rest []byte, err error) {
	le := binary.LittleEndian
	if len(b) < 8 || le.Uint32(b[4:]) != kind {
		return nil, nil, formatErrorf("kind of a chunk")
	}
	n := int64(le.Uint32(b))
	if n > int64(len(b)-8) || n%4 != 0 {
		return nil, nil, formatErrorf("length of a chunk")
	}
	return b[8 : 8+n], b[8+n:], nil
}

// Parse parses the JSON of a file, given the bytes of its first buffer.
func Parse(text, bin []byte) (Info, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return Info{}, formatErrorf("JSON: %v", err)
	}
	if d.Asset.Version != "2.0" {
		return Info{}, formatErrorf("version %q", d.Asset.Version)
	}
	if err := d.checkBounds(int64(len(bin))); err != nil {
		return Info{}, err
	}
	info := Info{Generator: d.Asset.Generator, Meshes: len(d.Meshes), Materials: []string{}, Images: []string{}}
	for _, m := range d.Materials {
		info.Materials = append(info.Materials, m.Name)
	}
	if err := d.countNodes(&info); err != nil {
		return Info{}, err
	}
	for _, m := range d.Meshes {
		for _, p := range m.Primitives {
			info.Vertices += d.Accessors[p.Attributes["POSITION"]].Count
		}
	}
	for i, im := range d.Images {
		if im.BufferView != nil {
			v := d.BufferViews[*im.BufferView]
			if v.ByteOffset+v.ByteLength > len(bin) {
				return Info{}, formatErrorf("image %d", i)
			}
			sum := sha256.Sum256(bin[v.ByteOffset : v.ByteOffset+v.ByteLength])
			info.Images = append(info.Images, hex.EncodeToString(sum[:]))
		}
	}
	return info, nil
}

var componentSize = map[int]int{5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
var componentCount = map[string]int{"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}

func inRange(i, n int) bool { return i >= 0 && i < n }

// checkBounds checks every index and length against the file's content.
func (d *document) checkBounds(bin int64) error {
	if len(d.Buffers) > 0 && bin > 0 && (int64(d.Buffers[0].ByteLength) > bin || d.Buffers[0].ByteLength < 0) {
		return formatErrorf("buffer 0 is longer than its bytes")
	}
	for i, v := range d.BufferViews {
		if !inRange(v.Buffer, len(d.Buffers)) || v.ByteOffset < 0 || v.ByteLength < 0 ||
			v.ByteOffset > d.Buffers[v.Buffer].ByteLength-v.ByteLength {
			return formatErrorf("buffer view %d", i)
		}
		if v.Buffer == 0 && bin > 0 && int64(v.ByteOffset)+int64(v.ByteLength) > bin {
			return formatErrorf("buffer view %d", i)
		}
	}
	for i, a := range d.Accessors {
		size := componentSize[a.ComponentType] * componentCount[a.Type]
		if size == 0 || a.Count < 0 || a.ByteOffset < 0 || a.BufferView != nil &&
			!inRange(*a.BufferView, len(d.BufferViews)) {
			return formatErrorf("accessor %d", i)
		}
		if a.BufferView != nil && a.Count > 0 {
			v := d.BufferViews[*a.BufferView]
			step := max(v.ByteStride, size)
			if a.Count > (v.ByteLength-a.ByteOffset-size)/step+1 || a.ByteOffset+size > v.ByteLength {
				return formatErrorf("accessor %d is longer than its view", i)
			}
		}
	}
	return d.checkMeshes()
}

func (d *document) checkMeshes() error {
	for i, m := range d.Meshes {
		for _, p := range m.Primitives {
			pos, ok := p.Attributes["POSITION"]
			if !ok || p.Indices != nil && !inRange(*p.Indices, len(d.Accessors)) || p.Material != nil &&
				!inRange(*p.Material, len(d.Materials)) {
				return formatErrorf("mesh %d", i)
			}
			for _, a := range p.Attributes {
				if !inRange(a, len(d.Accessors)) || d.Accessors[a].Count != d.Accessors[pos].Count {
					return formatErrorf("mesh %d", i)
				}
			}
		}
	}
	for i, im := range d.Images {
		if im.BufferView != nil && (!inRange(*im.BufferView, len(d.BufferViews)) ||
			d.BufferViews[*im.BufferView].Buffer != 0) {
			return formatErrorf("image %d", i)
		}
	}
	return nil
}

// countNodes counts the nodes and the triangles of the scene. A node that is reached twice is an
// error, which also ends cycles.
func (d *document) countNodes(info *Info) error {
	if !inRange(d.Scene, len(d.Scenes)) {
		return formatErrorf("scene %d", d.Scene)
	}
	seen := make([]bool, len(d.Nodes))
	queue := append([]int(nil), d.Scenes[d.Scene].Nodes...)
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if !inRange(n, len(d.Nodes)) || seen[n] {
			return formatErrorf("node %d", n)
		}
		seen[n] = true
		info.Nodes++
		node := d.Nodes[n]
		queue = append(queue, node.Children...)
		if node.Mesh == nil {
			continue
		}
		if !inRange(*node.Mesh, len(d.Meshes)) {
			return formatErrorf("node %d", n)
		}
		for _, p := range d.Meshes[*node.Mesh].Primitives {
			if p.Mode != nil && *p.Mode != 4 {
				continue // points and lines
			}
			count := d.Accessors[p.Attributes["POSITION"]].Count
			if p.Indices != nil {
				count = d.Accessors[*p.Indices].Count
			}
			info.Triangles += count / 3
		}
	}
	return nil
}
