// Package player plays a seat by program. It has two halves that share nothing but a cue.
//
// The Core is rules: from its own seat's view it picks votes and night actions, and decides when to
// consider speaking. The Brain is language: it reads only the public table, and returns a text. Its
// invariant: the Core's knowledge beyond the table never reaches the Brain, so no text can contain
// it.
//
// Both are functions of a seed and of their observations, and keep no other state: a restarted
// program continues where it stopped, and the same seed plays the same game. The host (package
// game) or Simulate feeds them and runs the clock.
package player
