// Package service stores a store's data outside the canon: keys and invitations, access records,
// jobs, deliveries of events, and secrets. SQLite and PostgreSQL keep them in tables of the same
// names and columns and both understand the statements here. Each store has its own statements for
// the canon, where speed and visibility depend on them.
//
// Its invariant: the effects of a method that returns without an error are durable.
//
// Ids and hashes are bound and read as bytes. Keys, invitations and access records keep times as
// nanoseconds since 1970, jobs and deliveries as milliseconds; the zero time is 0 in both.
package service
