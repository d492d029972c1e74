// Package bundle reads and writes worlds as one file, the bundle: a zip file with the ending .lore.
//
// It has three entries. manifest.json is the Manifest. commits.jsonl holds the records of the world's
// stream, one a line, as the store holds them. contents.bin holds the contents that the commits name, in the
// order of their hashes: for each a line with its hash and size, the bytes, and a line end. Nothing in the
// file depends on the time or the system, so that the same world gives the same bytes.
//
// Its invariant: a world that was imported has the hashes that its bundle names. The checks and the tables
// are package canon's.
package bundle
