// Package sqlstore holds the parts of a store that are the same in every SQL database: the reading
// and writing of rows, the queries that a visibility restricts, streams, dumps, the search data of
// a world, and the tables beside the canon (keys and invitations, access records, jobs, deliveries
// of events, secrets). Packages sqlite and postgres embed Reader and Tx, and add the parts that
// depend on their database: connections, transactions, prefetching and the statements of the
// fastest paths.
//
// Its invariant: each query restricts level and label of every row that it reads, so that rows that
// a view does not see never influence a result, its order or its counts.
//
// Placeholders are $1, $2 and so on, in every database. In a query with a Scope $1 is the world's
// number. Ids and hashes are bound and read as bytes. Keys, invitations and access records keep
// times as nanoseconds since 1970, all other tables as milliseconds; the zero time is 0. A label is
// a level and the number of a row in labels, 0 if the label names no subject.
package sqlstore
