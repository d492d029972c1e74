// Package capacitytest reckons how much Loregate's processes and their database carry. It simulates
// discrete events: the calls of many players queue for the cores of the processes and of the
// database, and for the one writer. Times are drawn from distributions that were measured on the
// real program and are kept in testdata. A test holds docs/capacity.md to the simulation.
package capacitytest
