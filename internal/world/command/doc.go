// Package command reads the commands that players type: "go north then look at the well" is two
// acts, each with a verb, a direction, an object and targets.
//
// Its invariant: parsing is a pure function of the text. It knows no world and no player, uses
// time and memory linear in the length of the text, and never fails: parts that are unclear
// become ambiguities of the result.
//
// Version names the rules; it changes whenever the same text may be parsed differently. The
// package also compares typed names with names and finds them in descriptions (match.go).
// Resolving a name to a card at a place is up to package play.
package command
