//go:build race

package player_test

// Tables that are simulated: one size under the race detector, under which everything
// takes ten times as long.
const (
	first = 8
	step  = 4
)
