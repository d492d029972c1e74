// Package texture paints tiling surfaces: a base colour and a normal map, from a kind, a size and a
// seed.
//
// Its invariant: everything is computed in integers, so that the same arguments give the same
// pixels on every machine.
package texture
