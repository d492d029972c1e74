// Package raceenabled tells tests if the race detector is enabled. With it most code takes several
// times as long, so a long single-threaded test does only part of its work. Only tests and the
// packages that help them import it.
package raceenabled

// Share returns n, or with the race detector n/part, at least 1.
func Share(n, part int) int {
	if Detected {
		return max(n/part, 1)
	}
	return n
}
