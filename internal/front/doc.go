// Package front has the default set: the few tools that a new client is shown, with which it can
// reach every operation of its key.
//
// Its invariant: it decides nothing about the canon. Each tool calls declared operations through
// op.Invoker with the rights of its own caller, so an answer holds what those operations show. The
// set destroys nothing: operations that do so are called on their own surfaces.
//
// find_operation, call_operation and change_by_operation reach the operations that have no tool
// here. Ranking of search results and the texts of operations are left to the surfaces.
package front
