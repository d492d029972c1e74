// Package finder implements canon.Finder for every store: it searches words and names in the index
// of package search. It asks the store's snapshot for data that the index does not have: the cards
// of a page, and the cards that are visible only because their label names the subject.
//
// Its invariant: the index is searched only for the levels that the caller sees, and cards visible
// only by name are matched in their own text, so that hidden cards never influence results, their
// order or their number.
package finder
