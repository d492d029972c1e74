package gltftest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

type file struct {
	Asset struct {
		Version string `json:"version"`
	} `json:"asset"`
	Used     []string `json:"extensionsUsed"`
	Required []string `json:"extensionsRequired"`
	Scene    *int     `json:"scene"`
	Scenes   []struct {
		Nodes []int `json:"nodes"`
	} `json:"scenes"`
	Nodes []struct {
		Mesh        *int      `json:"mesh"`
		Children    []int     `json:"children"`
		Matrix      []float64 `json:"matrix"`
		Rotation    []float64 `json:"rotation"`
		Scale       []float64 `json:"scale"`
		Translation []float64 `json:"translation"`
	} `json:"nodes"`
	Meshes []struct {
		Primitives []primitive `json:"primitives"`
	} `json:"meshes"`
	Accessors   []accessor `json:"accessors"`
	BufferViews []view     `json:"bufferViews"`
	Buffers     []struct {
		Length int     `json:"byteLength"`
		URI    *string `json:"uri"`
	} `json:"buffers"`
	Materials []material `json:"materials"`
	Textures  []struct {
		Source  *int `json:"source"`
		Sampler *int `json:"sampler"`
	} `json:"textures"`
	Samplers []json.RawMessage `json:"samplers"`
	Images   []struct {
		View *int   `json:"bufferView"`
		Type string `json:"mimeType"`
	} `json:"images"`
}

type primitive struct {
	Attributes map[string]int `json:"attributes"`
	Indices    *int           `json:"indices"`
	Material   *int           `json:"material"`
	Mode       *int           `json:"mode"`
}

type accessor struct {
	View      *int      `json:"bufferView"`
	Offset    int       `json:"byteOffset"`
	Component int       `json:"componentType"`
	Count     int       `json:"count"`
	Type      string    `json:"type"`
	Min       []float64 `json:"min"`
	Max       []float64 `json:"max"`
}

type view struct {
	Buffer int  `json:"buffer"`
	Offset int  `json:"byteOffset"`
	Length int  `json:"byteLength"`
	Stride int  `json:"byteStride"`
	Target *int `json:"target"`
}

type texture struct {
	Index int `json:"index"`
}

type material struct {
	Metal struct {
		Color    []float64 `json:"baseColorFactor"`
		Metallic *float64  `json:"metallicFactor"`
		Rough    *float64  `json:"roughnessFactor"`
		Base     *texture  `json:"baseColorTexture"`
		Both     *texture  `json:"metallicRoughnessTexture"`
	} `json:"pbrMetallicRoughness"`
	Normal   *texture  `json:"normalTexture"`
	Occlude  *texture  `json:"occlusionTexture"`
	Emit     *texture  `json:"emissiveTexture"`
	Emissive []float64 `json:"emissiveFactor"`
}

// checker collects the faults of a file.
type checker struct {
	file
	bin   []byte
	wrong []string
}

func (c *checker) checkThat(ok bool, format string, args ...any) bool {
	if !ok {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
	}
	return ok
}

// Conform lists the rules that a GLB breaks.
func Conform(glb []byte) []string {
	c := &checker{}
	text := c.splitChunks(glb)
	if text == nil || !c.checkThat(json.Unmarshal(text, &c.file) == nil, "its JSON cannot be read") {
		return c.wrong
	}
	c.checkExtensions(text)
	c.checkThat(c.Asset.Version == "2.0", "its version is %q", c.Asset.Version)
	c.checkBuffers()
	for i := range c.Accessors {
		c.checkAccessor(i)
	}
	if len(c.wrong) > 0 {
		return c.wrong // the later checks depend on valid accessors
	}
	for i, m := range c.Meshes {
		c.checkThat(len(m.Primitives) > 0, "mesh %d has no primitives", i)
		for k, p := range m.Primitives {
			c.checkPrimitive(fmt.Sprintf("mesh %d, primitive %d", i, k), p)
		}
	}
	c.checkNodes()
	c.checkMaterials()
	return c.wrong
}

// splitChunks splits the container into its chunks.
func (c *checker) splitChunks(b []byte) (text []byte) {
	le := binary.LittleEndian
	if !c.checkThat(len(b) >= 20 && string(b[:4]) == "glTF" && le.Uint32(b[4:]) == 2, "it does not begin as a GLB does") {
		return nil
	}
	c.checkThat(int(le.Uint32(b[8:])) == len(b), "its header says %d bytes, there are %d", le.Uint32(b[8:]), len(b))
	for at, n := 12, 0; at+8 <= len(b); n++ {
		size, kind := int(le.Uint32(b[at:])), string(b[at+4:at+8])
		if !c.checkThat(size%4 == 0 && at+8+size <= len(b), "chunk %d has %d bytes", n, size) {
			return nil
		}
		part := b[at+8 : at+8+size]
		switch {
		case n == 0 && c.checkThat(kind == "JSON", "the first chunk is %q", kind):
			text = part
		case n == 1 && kind == "BIN\x00":
			c.bin = part
		}
		at += 8 + size
	}
	return text
}

// knownExtensions are the ratified extensions that Blender writes.
var knownExtensions = []string{"KHR_materials_emissive_strength", "KHR_materials_transmission", "KHR_materials_ior",
	"KHR_materials_specular", "KHR_materials_volume",
	"KHR_materials_clearcoat", "KHR_materials_unlit", "KHR_texture_transform", "KHR_lights_punctual",
	"EXT_mesh_gpu_instancing", "MSFT_lod"}

// checkExtensions checks that extensions are declared and known, and that no list is empty.
func (c *checker) checkExtensions(text []byte) {
	for _, e := range c.Required {
		c.checkThat(slices.Contains(c.Used, e), "extension %s is required and not declared as used", e)
	}
	for _, e := range c.Used {
		c.checkThat(slices.Contains(knownExtensions, e), "extension %s is not known", e)
	}
	var whole any
	if json.Unmarshal(text, &whole) == nil {
		c.walkJSON("", whole)
	}
}

func (c *checker) walkJSON(at string, v any) {
	switch v := v.(type) {
	case []any:
		c.checkThat(len(v) > 0, "%s is empty", at)
		for i, e := range v {
			c.walkJSON(fmt.Sprintf("%s/%d", at, i), e)
		}
	case map[string]any:
		for name, e := range v {
			if list, ok := e.(map[string]any); ok && name == "extensions" {
				for used := range list {
					c.checkThat(slices.Contains(c.Used, used), "%s uses %s, which is not declared", at, used)
				}
			}
			c.walkJSON(at+"/"+name, e)
		}
	}
}

func inRange(i, n int) bool { return i >= 0 && i < n }

func (c *checker) checkBuffers() {
	if !c.checkThat(len(c.Buffers) <= 1, "there are %d buffers", len(c.Buffers)) {
		return
	}
	for _, b := range c.Buffers {
		c.checkThat(b.URI == nil && b.Length > 0 && b.Length <= len(c.bin) && len(c.bin)-b.Length < 4,
			"the buffer says %d bytes, its chunk has %d", b.Length, len(c.bin))
	}
	for i, v := range c.BufferViews {
		c.checkThat(v.Buffer == 0 && len(c.Buffers) == 1 && v.Offset >= 0 && v.Length > 0 &&
			v.Offset <= c.Buffers[0].Length-v.Length, "buffer view %d leads out of its buffer", i)
		c.checkThat(v.Stride == 0 || v.Stride >= 4 && v.Stride <= 252 && v.Stride%4 == 0, "buffer view %d has a stride of %d",
			i, v.Stride)
		c.checkThat(v.Target == nil || *v.Target == 34962 || *v.Target == 34963, "buffer view %d has an unknown target", i)
	}
}

var widths = map[int]int{5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
var counts = map[string]int{"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}

// checkAccessor checks that an accessor is within its view and aligned.
func (c *checker) checkAccessor(i int) {
	a := c.Accessors[i]
	width, n := widths[a.Component], counts[a.Type]
	if !c.checkThat(width > 0 && n > 0 && a.Count > 0 && a.Offset >= 0, "accessor %d is of no known kind, or empty", i) {
		return
	}
	if !c.checkThat(a.View != nil && inRange(*a.View, len(c.BufferViews)), "accessor %d has no view", i) {
		return
	}
	v := c.BufferViews[*a.View]
	step := max(v.Stride, width*n)
	c.checkThat(a.Offset%width == 0 && (v.Offset+a.Offset)%width == 0, "accessor %d is not aligned", i)
	c.checkThat(a.Offset+step*(a.Count-1)+width*n <= v.Length, "accessor %d leads out of its view", i)
}

// eachElement calls f with each element of an accessor.
func (c *checker) eachElement(i int, f func(row []float64)) {
	a := c.Accessors[i]
	v := c.BufferViews[*a.View]
	width, n := widths[a.Component], counts[a.Type]
	row := make([]float64, n)
	for k := range a.Count {
		at := v.Offset + a.Offset + k*max(v.Stride, width*n)
		for j := range row {
			row[j] = decodeNumber(a.Component, c.bin[at+j*width:])
		}
		f(row)
	}
}

func decodeNumber(component int, b []byte) float64 {
	le := binary.LittleEndian
	switch component {
	case 5120:
		return float64(int8(b[0]))
	case 5121:
		return float64(b[0])
	case 5122:
		return float64(int16(le.Uint16(b)))
	case 5123:
		return float64(le.Uint16(b))
	case 5125:
		return float64(le.Uint32(b))
	}
	return float64(math.Float32frombits(le.Uint32(b)))
}

// checkBounds checks that the declared minimum and maximum are those of the data.
func (c *checker) checkBounds(i int) {
	a := c.Accessors[i]
	n := counts[a.Type]
	if !c.checkThat(len(a.Min) == n && len(a.Max) == n, "accessor %d says no least and greatest values", i) {
		return
	}
	least, most := slices.Repeat([]float64{math.Inf(1)}, n), slices.Repeat([]float64{math.Inf(-1)}, n)
	c.eachElement(i, func(row []float64) {
		for j, x := range row {
			least[j], most[j] = min(least[j], x), max(most[j], x)
		}
	})
	for j := range n {
		c.checkThat(float32(a.Min[j]) == float32(least[j]) && float32(a.Max[j]) == float32(most[j]),
			"accessor %d says %v to %v, its values are %v to %v", i, a.Min, a.Max, least, most)
	}
}

var magics = map[string][]byte{"image/png": []byte("\x89PNG\r\n\x1a\n"), "image/jpeg": {0xff, 0xd8, 0xff}}

func (c *checker) checkImage(i int) {
	im := c.Images[i]
	if c.checkThat(im.View != nil && inRange(*im.View, len(c.BufferViews)), "image %d is not in the file", i) {
		v := c.BufferViews[*im.View]
		c.checkThat(magics[im.Type] != nil && bytes.HasPrefix(c.bin[v.Offset:], magics[im.Type]), "image %d is no %s", i,
			im.Type)
		c.checkThat(v.Stride == 0 && v.Target == nil, "image %d lies in a view for vertices", i)
	}
}
