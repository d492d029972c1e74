// Package loadtest puts a running server under a mixed load, as its clients would, and measures it:
// reads, searches, writes, proposals, and notices of changes.
//
// Its invariants: the calls follow from the seed; it writes only below one card of one world, which
// it names before it begins; it ends by itself, after a time or a number of calls. Every write has
// an idempotency key: if its answer is lost, it is sent again, to another server if there are
// several, and takes effect once.
//
// It uses no part of the product: it speaks REST, and MCP for notices.
package loadtest
