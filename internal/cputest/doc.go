// Package cputest measures processor time for tests and benchmarks: unlike the time on the wall, it does not grow
// while other programs use the machine.
package cputest
