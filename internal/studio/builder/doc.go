// Package builder parses the description of a place and builds it: buildings, ground, water, trees
// and props, the light, and a camera that frames everything.
//
// Its invariant: the same words and seed give the same operations. It knows a fixed vocabulary and
// ignores all other words; words are never executed.
package builder
