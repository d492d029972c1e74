// Package bound limits the memory and the processor time that an input from outside may cost.
//
// Its invariant: work on an input runs within a Budget that follows from the size of the input. When the budget is
// spent, the context of the work is cancelled with an error that tells the person what was exceeded and what to do.
// The budgets of all work that runs at once share one Pool.
//
// Callers read the input in bounded pieces and check their context; package unpack does both for the files of an
// import.
package bound
