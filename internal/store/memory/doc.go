// Package memory is a store that keeps worlds in the memory of one process. It is the reference
// that every other store is compared with, and the store of tests that need none on disk.
//
// Its invariant: a published state is never changed. A write works on a fork and publishes it as a
// whole, so every reader has a snapshot of its own. Clarity comes before speed: queries are plain
// scans that call View.Sees for every row. Durable storage is left to the other stores.
package memory
