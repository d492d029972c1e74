// Package ranvier imports areas of the Ranvier engine.
//
// Its invariant: a room has the exits that it has in the engine, listed ones and those of the grid.
// Exits that are moved or left out, and loot, are reported.
package ranvier
