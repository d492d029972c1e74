// Package witness keeps statements about the heads of a store's chains outside the store, so that a store that was cut
// back, forked or exchanged later can be told apart from a whole one. The store alone cannot show that: every chain of
// such a store is intact.
//
// Each process of a store writes statements of its own into files of JSON lines. A statement holds the heads that have
// changed since the one before it, its number, and the hash of the one before it; the first of a file holds all heads.
// Each is signed by a key of the store.
//
// Its invariant: Read returns only heads of statements whose signatures are valid and whose files have no gap. It cannot
// detect that statements were removed from the end of a file, or whole files: the folder must be out of reach of
// those who can change the store.
package witness
