// Package scene describes scenes as lists of operations on named objects, and makes the meshes for
// them. Adapters send the operations to a program; this package does not depend on any program.
//
// Its invariant: the same calls give the same bytes on every machine. Coordinates are rounded to a
// tenth of a millimetre, so that differences in the last bit of a sine disappear. Angles are in
// radians, lengths in metres, and Z is up. Package builder decides which objects to build.
package scene
