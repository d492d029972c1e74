package gltf

import (
	"encoding/binary"
	"errors"
	"testing"
)

func glb(text string, bin []byte) []byte {
	for len(text)%4 != 0 {
		text += " "
	}
	le := binary.LittleEndian
	out := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, magic), 2), uint32(28+len(text)+len(bin)))
	out = append(le.AppendUint32(le.AppendUint32(out, uint32(len(text))), chunkJSON), text...)
	return append(le.AppendUint32(le.AppendUint32(out, uint32(len(bin))), chunkBin), bin...)
}

const whole = `{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0,1]}],"nodes":[{"mesh":0},{"children":[2]},{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1,"material":0}]}],"materials":[{"name":"M"}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},{"bufferView":1,"componentType":5123,"count":6,"type":"SCALAR"}],
"bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":12}],"buffers":[{"byteLength":48}]}`

func TestCounts(t *testing.T) {
	i, err := ParseGLB(glb(whole, make([]byte, 48)))
	if err != nil || i.Nodes != 3 || i.Triangles != 4 || i.Meshes != 1 || i.Vertices != 3 || len(i.Materials) != 1 {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestUnsoundFilesAreRefused(t *testing.T) {
	good := glb(whole, make([]byte, 48))
	for what, b := range map[string][]byte{"nothing": nil, "a torn file": good[:len(good)-1],
		"a short buffer":         glb(whole, make([]byte, 8)),
		"a cycle":                glb(`{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"children":[0]}]}`, nil),
		"a lost node":            glb(`{"asset":{"version":"2.0"},"scenes":[{"nodes":[7]}]}`, nil),
		"a lost mesh":            glb(`{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"mesh":3}]}`, nil),
		"a long view":            glb(`{"asset":{"version":"2.0"},"scenes":[{}],"bufferViews":[{"buffer":0,"byteLength":99}],"buffers":[{"byteLength":4}]}`, make([]byte, 4)),
		"a huge offset":          glb(`{"asset":{"version":"2.0"},"scenes":[{}],"bufferViews":[{"buffer":0,"byteOffset":9223372036854775807,"byteLength":9}],"buffers":[{"byteLength":4}]}`, make([]byte, 4)),
		"another age":            glb(`{"asset":{"version":"1.0"},"scenes":[{}]}`, nil),
		"no scene":               glb(`{"asset":{"version":"2.0"}}`, nil),
		"a lost image":           glb(`{"asset":{"version":"2.0"},"scenes":[{}],"images":[{"bufferView":2}]}`, nil),
		"an image without bytes": glb(`{"asset":{"version":"2.0"},"scenes":[{}],"images":[{"bufferView":0}],"bufferViews":[{"buffer":0,"byteLength":4}],"buffers":[{"byteLength":4}]}`, nil),
		"uneven corners":         glb(`{"asset":{"version":"2.0"},"scenes":[{}],"meshes":[{"primitives":[{"attributes":{"POSITION":0,"NORMAL":1}}]}],"accessors":[{"componentType":5126,"count":3,"type":"VEC3"},{"componentType":5126,"count":4,"type":"VEC3"}]}`, nil)} {
		if _, err := ParseGLB(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzParseGLB(f *testing.F) {
	f.Add(glb(whole, make([]byte, 48)))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = ParseGLB(b) })
}
