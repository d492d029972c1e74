// Package sqlite keeps worlds in one SQLite file, and access records in a second file beside it. It
// is the default store of a single binary; any number of processes on one machine may share it.
//
// Its invariant: rows that a view does not see never influence a query: not its results, their
// order, scores or counts. Queries reach rows through indexes that begin with world and level. A
// write is acknowledged after its commit is on disk (WAL, synchronous FULL).
//
// Package canon defines commits and decides who may read and write.
//
// Row formats: ids and hashes are blobs of 16 and 32 bytes, the zero Hash is NULL. Times are
// milliseconds since 1970, 0 for the zero time. JSON is kept as the bytes given. A label is a level
// and the number of a row in labels, 0 if the label names no subject.
package sqlite
