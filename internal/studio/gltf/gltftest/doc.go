// Package gltftest checks GLB files in tests against the rules of glTF 2.0 that exporters tend to
// break. It has its own parser, so that it also finds errors of package gltf.
//
// Its invariant: a file without findings breaks none of the rules below. They are those errors of
// Khronos' gltf-validator that can occur in a static scene of meshes and images. If GLTF_VALIDATOR
// names a folder with that program's npm module, Check runs it too.
package gltftest
