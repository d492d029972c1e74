// Package lore reads and searches the facts of a world: cards of certain types that have a
// codename.
//
// Its invariant: ranks, scores and statistics depend only on the facts that everyone at the
// reader's level sees. Facts that are shared with the reader by name come last, without a score.
//
// A search is the canon's search by relevance, among facts.
//
// Writing facts is up to the archive; citing and rereading them is done by package world.
package lore
