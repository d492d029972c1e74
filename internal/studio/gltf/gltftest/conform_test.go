package gltftest

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// good is a file of one triangle with normals and indices.
const good = `{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"children":[1]},{"mesh":0,"rotation":[0,0,0,1]}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0,"NORMAL":1},"indices":2,"material":0}]}],
"materials":[{"pbrMetallicRoughness":{"baseColorFactor":[1,0.5,0,1],"metallicFactor":0}}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,2,0]},
{"bufferView":1,"componentType":5126,"count":3,"type":"VEC3"},{"bufferView":2,"componentType":5123,"count":3,"type":"SCALAR"}],
"bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":36},{"buffer":0,"byteOffset":72,"byteLength":6}],
"buffers":[{"byteLength":78}]}`

// newGLB makes a GLB from JSON; number at of its vertex data is replaced by x, and its last index
// by index.
func newGLB(text string, at int, x float32, index uint16) []byte {
	le := binary.LittleEndian
	numbers := []float32{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1}
	if at >= 0 {
		numbers[at] = x
	}
	var bin []byte
	for _, n := range numbers {
		bin = le.AppendUint32(bin, math.Float32bits(n))
	}
	bin = append(le.AppendUint16(le.AppendUint16(le.AppendUint16(bin, 0), 1), index), 0, 0)
	for len(text)%4 != 0 {
		text += " "
	}
	b := append([]byte("glTF"), 2, 0, 0, 0)
	b = le.AppendUint32(b, uint32(28+len(text)+len(bin)))
	b = append(le.AppendUint32(b, uint32(len(text))), "JSON"...)
	b = append(b, text...)
	b = append(le.AppendUint32(b, uint32(len(bin))), "BIN\x00"...)
	return append(b, bin...)
}

func TestEachRuleIsChecked(t *testing.T) {
	if wrong := Conform(newGLB(good, -1, 0, 2)); len(wrong) > 0 {
		t.Fatalf("a good file: %q", wrong)
	}
	for _, row := range []struct{ old, new, say string }{
		{`"2.0"`, `"1.0"`, "version"},
		{`"max":[1,2,0]`, `"max":[1,3,0]`, "its values are"},
		{`,"min":[0,0,0],"max":[1,2,0]`, ``, "no least"},
		{`"count":3,"type":"SCALAR"`, `"count":4,"type":"SCALAR"`, "leads out of its view"},
		{`"byteOffset":36,"byteLength":36`, `"byteOffset":38,"byteLength":36`, "not aligned"},
		{`"byteLength":78`, `"byteLength":700`, "the buffer says"},
		{`"byteLength":6`, `"byteLength":60`, "leads out of its buffer"},
		{`"componentType":5123`, `"componentType":5122`, "no whole numbers"},
		{`"material":0`, `"material":4`, "material that is not there"},
		{`"children":[1]`, `"children":[]`, "is empty"},
		{`"children":[1]`, `"children":[7]`, "child that is not there"},
		{`"nodes":[0]`, `"nodes":[1]`, "has a parent"},
		{`[0,0,0,1]`, `[0,0,0,2]`, "rotation"},
		{`"metallicFactor":0`, `"metallicFactor":2`, "factor 2"},
		{`"metallicFactor":0`, `"baseColorTexture":{"index":0}`, "texture that is not there"},
		{`"material":0`, `"material":0,"extensions":{"KHR_x":{}}`, "not declared"},
		{`"scene":0`, `"scene":0,"extensionsUsed":["EXT_own"]`, "not known"},
		{`"scene":0`, `"scene":3`, "scene is not there"},
		{`"NORMAL":1`, `"NORMAL":2`, "is a SCALAR"},
	} {
		text := strings.Replace(good, row.old, row.new, 1)
		if wrong := strings.Join(Conform(newGLB(text, -1, 0, 2)), "; "); text == good || !strings.Contains(wrong, row.say) {
			t.Errorf("%s for %s: it says %q, not %q", row.new, row.old, wrong, row.say)
		}
	}
	for what, glb := range map[string][]byte{
		"of unit length": newGLB(good, 11, 0.9, 2), "no numbers": newGLB(good, 11, float32(math.NaN()), 2),
		"lead to no vertex": newGLB(good, -1, 0, 3),
		"header says":       append(newGLB(good, -1, 0, 2), 0, 0, 0, 0), "does not begin": []byte("GLB"),
	} {
		if wrong := strings.Join(Conform(glb), "; "); !strings.Contains(wrong, what) {
			t.Errorf("it says %q, not %q", wrong, what)
		}
	}
}
