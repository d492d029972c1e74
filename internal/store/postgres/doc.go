// Package postgres keeps worlds in a PostgreSQL database: the store that any number of processes on
// any number of machines share.
//
// Its invariant: rows that a view does not see never influence a query: not its results, their
// order, scores or counts. Rows carry a level and a label, and each query restricts both. A write
// is acknowledged after its commit is on the server's disk.
//
// Writers of all processes run one after the other: each transaction begins by locking the row of
// the table writer, and increments its counter before the commit. Many writes of one process share
// a transaction. Readers have snapshots and wait for nobody.
//
// The address may name several servers: a primary and its standbys. Calls are refused while there is
// no primary, and a server that was the primary before another one is not used: see failover.
//
// Package canon defines commits and decides who may read and write. Backups are made with pg_dump.
//
// Row formats: ids are uuids, all zero for none; hashes are 32 bytes, NULL for the zero Hash. Times
// are milliseconds since 1970, in the tables of identity nanoseconds, 0 for the zero time. JSON is
// kept as the bytes given. A label is a level and the number of a row in labels, 0 if the label
// names no subject.
package postgres
