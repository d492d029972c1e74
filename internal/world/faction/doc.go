// Package faction simulates how factions may act, for game masters who plan ahead.
//
// Its invariant: a simulation runs on a copy in memory of the factions that its caller sees. It writes
// nothing, and the same canon and seed give the same steps.
package faction
