// Package turns imports records of play, one turn a line.
//
// Its invariant: memory use does not grow with the texts of a record, which is read and committed in
// batches. A line that cannot be read is reported by its number and left out.
package turns
