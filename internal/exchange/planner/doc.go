// Package planner imports the exports of programs in which game masters plan: Kanka, LegendKeeper,
// Scabard, World Anvil and Decko.
//
// Its invariant: a thing that its program hides from players comes in for the GM, and a thing whose
// readers the export does not tell comes in for the GM until it is confirmed.
package planner
