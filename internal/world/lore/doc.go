// Package lore reads and searches the facts of a world: cards of certain types that have a
// codename.
//
// Its invariant: ranks, scores and statistics depend only on the facts that everyone at the
// reader's level sees. Facts that are shared with the reader by name come last, without a score.
//
// A search fuses several rankings (fuse.go): by words, by names, by similar names, and by vectors
// if an embedding model is configured. The index of a level is cached (cache.go) and follows the
// changes of the world commit by commit. A world with more facts than an index holds is searched
// in the store (store.go).
//
// Writing facts is up to the archive; citing and rereading them is done by package world.
package lore
