// Package blender carries out the studio's tools in Blender: one background session per target,
// which receives a fixed set of operations over a socket pair.
//
// Its invariant: a scene is the result of its journal. Operations, including all random choices,
// are made here in Go; Blender only executes them. A session that died or whose state is uncertain
// is replaced by a fresh one that is brought to the same state. Code that a caller or a model wrote
// never reaches it.
package blender
