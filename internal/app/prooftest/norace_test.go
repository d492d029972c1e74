//go:build !race

package prooftest

const watched = false
