//go:build race

package prooftest

// watched tells that the race detector is on, under which the embedded store takes ten
// times as long: the short proofs are shorter then.
const watched = true
