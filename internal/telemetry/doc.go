// Package telemetry sets up the logs, metrics and traces of the process.
//
// Its invariant: no content, query text, token or key leaves the process through it. Log attributes
// are cleaned, metric labels come from sets that are fixed at start, and span names come only from
// the program. It imports no internal package. Its callers decide which events to measure.
package telemetry
