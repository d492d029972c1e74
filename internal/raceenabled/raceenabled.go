package raceenabled

// Share returns n, or with the race detector n/part, at least 1.
func Share(n, part int) int {
	if Detected {
		return max(n/part, 1)
	}
	return n
}
