// Package bundle reads and writes worlds as one file, the bundle: a zip file with the ending .lore.
//
// It has four entries. manifest.json is the Manifest, and signature.jws its signature, if there is a Sealer.
// commits.jsonl holds the records of the world's stream, one a line, as the store holds them. contents.bin holds
// the contents that the commits name, in the order of their hashes: for each a line with its hash and size, the
// bytes, and a line end. Nothing in the file depends on the time or the system, so that the same world and key give the same bytes. The manifest names
// the head of the chain of commits, and these the hashes of all contents: its signature covers the whole world.
//
// Its invariant: a world that was imported has the hashes that its bundle names. The checks and the tables
// are package canon's.
package bundle
