//go:build !race

package raceenabled

// Detected is whether the race detector watches.
const Detected = false
