//go:build !race

package gametest

const watched = false
