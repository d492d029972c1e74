// Package studio turns intent and lore into scenes: it makes operations that authoring programs
// execute, and records every run.
//
// Its invariant: a run either completes, is recorded and can be repeated, or it leaves its target
// unchanged. A result is read back from the target itself, never taken from a program's own report.
// Which tools a program can carry out is up to its adapter, below this package. Text written by a
// caller or a model is never run as code.
package studio
