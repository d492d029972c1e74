package gltf_test

import (
	"fmt"

	"loregate/internal/studio/gltf"
)

// The counts of a file are read from the file itself: a triangle that two nodes show counts twice.
func ExampleParse() {
	info, err := gltf.Parse([]byte(`{
		"asset": {"version": "2.0", "generator": "by hand"},
		"scene": 0, "scenes": [{"nodes": [0, 1]}],
		"nodes": [{"mesh": 0}, {"mesh": 0, "translation": [1, 0, 0]}],
		"meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
		"accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
		"bufferViews": [{"buffer": 0, "byteLength": 36}],
		"buffers": [{"byteLength": 36}]
	}`), make([]byte, 36))
	fmt.Println(info.Nodes, info.Meshes, info.Triangles, info.Vertices, err)
	// Output: 2 1 2 3 <nil>
}
