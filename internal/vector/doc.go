// Package vector finds cards by the nearness of their texts to a query: it keeps a vector for each piece of a card's
// text, as an embedding model makes them.
//
// Its invariant: vectors are kept by world, model and level of their card, and an answer for a reader depends only on
// the vectors of cards that everyone at the reader's level sees. Vectors are made in the background; a search never
// waits for them, and for a model no longer than askTimeout.
//
// The vectors of a level are in a file of their own, {folder}/{model}/{world}/{level}.vec: the line "loregate vectors
// 1", then records. A record is a key of 32 bytes, the number of vectors as a byte, their length as a uint16, the
// vectors, one byte for each number, and the CRC-32 of all these (IEEE), a uint32. Numbers are little-endian. The first
// broken record ends the file; its key is a hash of the card's id, names and content.
package vector
