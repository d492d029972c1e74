// Package search is a full-text index for the cards of a world: an inverted index, separated by
// level, that follows the world's stream.
//
// Its invariant: a result depends only on the living documents of the levels that are searched. The
// layout of segments, removed documents, and documents of other levels never affect which documents
// are found, nor their order, scores or number.
//
// The caller decides which texts make up a document, and who may search which levels.
package search
