// Package usage records the cost and results of models and moderation: one event for each call,
// aggregates of them, and budgets.
//
// Its invariant: an event holds names and numbers, never content, and no event is dropped by
// sampling. Events are stored in a world's ledger of usage ("usage:<world>"), many in one record. A
// process that stops loses the events that it has not written yet, about one second of them.
// Callers see aggregates only.
package usage
