// Package sample contains the sample world: Lendwater, the town on rented land.
//
// It is text only, one card per file, in the native Markdown dialect that package native reads.
// Each file states who may see its card.
package sample
