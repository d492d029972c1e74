// Package player plays a seat by program. It has two halves that share nothing but a cue.
//
// The Core is rules. It reads the claims in the chat, compares them with the reports and with what
// is revealed, and so suspects; accusations as such count for nothing. One agenda decides what the
// seat says and how it votes: whom it has accused today it nominates. On the AI side it plays a
// human's part, and hides gifts to its own side by stories that the others may refute. The Brain is
// language: it reads only the public table, and puts one claim into words. Its invariant: of the
// Core's knowledge beyond the table, only that claim reaches the Brain.
//
// Both are functions of a seed and of their observations, and keep no other state: a restarted
// program continues where it stopped, and the same seed plays the same game. The host (package
// game) or Simulate feeds them and runs the clock.
package player
