// Package ruleset settles uncertain acts by rules: dice, a source of chance that everyone can check
// afterwards, and the interface of a system of rules. Package fifth implements the fifth edition,
// package freeform a system of difficulty and two ten-sided dice.
//
// Its invariant: a result depends only on the arguments and on the numbers drawn from the given
// Chance. The package knows no canon and no players; package rules offers it to callers.
package ruleset
