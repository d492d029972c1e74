// Package rules offers the rules of package ruleset to callers: dice, checks, characters, rests,
// encounters on ledgers, and advice about them, with creatures and spells from the world's cards.
//
// Its invariant: an encounter's ledger holds its setup and its acts; the state is computed from them
// and from the encounter's seed. A caller below game master sees no number of the other
// sides, and the seed only after the end.
package rules
