//go:build !race

package player_test

const (
	first = 6
	step  = 2
)
