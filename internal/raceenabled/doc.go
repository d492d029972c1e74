// Package raceenabled tells tests if the race detector is enabled. With it most code takes several
// times as long, so a long single-threaded test does only part of its work. Only tests and the
// packages that help them import it.
package raceenabled
