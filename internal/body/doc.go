// Package body takes in the bodies of requests and keeps large answers, within bounds.
//
// A request has a Hold, which counts the bytes that the request has in memory and on disk. A Hold takes them from two
// budgets of its Intake, which bound them by caller, by world and in all. A body of text or JSON is read into memory; a
// file goes to disk, and so does a large answer while its client reads it. Bodies that come slower than a minimum rate
// are ended.
//
// Its invariant: no byte beyond the first 16 KiB of a body is in memory uncounted, and no file of a request outlives
// the request: Release closes them all. A file on disk has no name, so that the system removes it with its process,
// however that ends; where the system cannot do so, New removes the files that a process left behind.
//
// Who may send a body is decided by the callers of this package, before they read one.
package body
