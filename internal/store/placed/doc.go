// Package placed keeps worlds in several databases: a canon.Store over a home database and others that
// have names.
//
// Its invariant: each world is read and written in one database at a time, and a commit that was
// acknowledged is in the database that serves the world from then on. A process with an old placement
// finds a fence in the transaction in which it looks the world up, and goes to the database that the
// fence names.
//
// The home database holds the placements, the ledgers, and everything outside of the canon. A database
// that is down fails the reads and writes of its worlds with fault.Unavailable, and lists leave its worlds
// out. The copy of a world that was moved away is discarded; its fence stays.
package placed
