// Package player plays a seat by program. It has two halves that share nothing but a cue.
//
// The Core is rules: from its own seat's view it picks votes and night actions, and says
// when to consider speaking. The Brain is language: it reads the public table, and only
// that, and gives a text. Its invariant: what the Core knows beyond the table never gets
// to the Brain, so that no text can hold it.
//
// Both are functions of a seed and of what was seen, with nothing carried over: a restart
// goes on where it stopped, and the same seed plays the same game. Who feeds them, on
// what clock, is the host's matter (package game) or Simulate's.
package player
