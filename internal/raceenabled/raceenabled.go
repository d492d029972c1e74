// Package raceenabled tells tests whether the race detector watches. Under it most things take
// several times as long, so that a long test of one caller does a part of its work. Only
// tests and the packages that help them import it.
package raceenabled

// Share is all of n, or under the race detector one part of it, at least 1.
func Share(n, part int) int {
	if Detected {
		return max(n/part, 1)
	}
	return n
}
