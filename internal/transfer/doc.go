// Package transfer declares the operations with which people bring files into a world and take the world
// out as files.
//
// Its invariant: an import carries out only a dry run that its caller has seen. It first repeats the dry run,
// and stops without a change if that gives another report.
//
// A source waits in a folder of the server between its dry run and its import: one for each person and world,
// for a day at most. The formats belong to package exchange; the caller of New reads and writes them.
package transfer
