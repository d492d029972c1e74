// Package storetest is the conformance suite that every store of the canon must pass, and fixtures
// for further tests.
//
// Its invariant: it knows stores only through the interfaces of package canon, and tests all stores
// alike. Run checks the promises of these interfaces one by one. RunModel compares a store with the
// memory store under random work. Each store tests its own promises (crashes, files, several
// processes) itself.
package storetest
