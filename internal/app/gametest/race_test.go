//go:build race

package gametest

// watched is whether the race detector watches, under which everything takes ten times
// as long.
const watched = true
