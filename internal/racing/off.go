//go:build !race

package racing

// Detected is whether the race detector watches.
const Detected = false
