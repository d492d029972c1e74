// Package fifth implements the rules of the fifth edition by the System Reference Document 5.1 (CC
// BY 4.0, Wizards of the Coast LLC): checks, attacks, conditions, spells, rests, experience,
// characters and encounters. Every result names the heading of the document that it follows.
//
// Its invariant: an encounter is determined by its setup, its acts in order and the dice drawn from
// the given ruleset.Chance. An act that the rules do not allow returns an error and changes nothing.
//
// Places in an encounter are zones, not squares: see Encounter.
package fifth
