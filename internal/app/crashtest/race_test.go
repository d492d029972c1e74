//go:build race

package crashtest

// few is how much is done under the race detector, where SQLite is ten times as slow and
// what is proved here needs no detector: a part of it.
func few(all int) int { return max(all/10, 2) }
