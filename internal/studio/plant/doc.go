// Package plant grows plants by rules: trees by the branching of their species, smaller plants by the
// arrangement of their leaves.
//
// Its invariant: the same species, height, season and seed give the same mesh, and two seeds give two
// individuals. A plant has at most MaxLeaves leaves.
package plant
