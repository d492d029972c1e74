// Package racing tells tests whether the race detector watches. Under it everything takes
// some ten times as long, the embedded store above all, so that what proves nothing about
// races is done in part. Nothing but tests and what they are made of imports it.
package racing

// Share is all of n, or under the race detector one part of it, at least 1.
func Share(n, part int) int {
	if Detected {
		return max(n/part, 1)
	}
	return n
}
