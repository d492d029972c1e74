//go:build !race

package raceenabled

// Detected is true if the race detector is enabled.
const Detected = false
