// Package view builds the views of a seat: Table, the only view that MCP clients get, and Own,
// which a person and a program's Core read.
//
// Its invariant: a Table is built from the public half of a state only, field by field. Its code
// has no access to the secret half, so nothing needs to be removed. Only Own reads secrets, and
// only those of its own seat.
package view
