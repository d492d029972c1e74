package cputest

import (
	"testing"
	"time"
)

// Of returns the processor time that the process uses during f. It counts other tests that run at the same time, so
// that a test with a bound on it must not be parallel.
func Of(f func()) time.Duration {
	before := Used()
	f()
	return Used() - before
}

// CheckLinear fails the test if the cost of 8n is more than 16 times the cost of n: a quadratic cost is 64 times. One
// good measurement of three is enough, because the garbage collector may disturb the others.
func CheckLinear(t testing.TB, name string, n int, cost func(n int)) {
	t.Helper()
	const times, floor = 8, 5 * time.Millisecond
	var small, large time.Duration
	for range 3 {
		small, large = Of(func() { cost(n) }), Of(func() { cost(times * n) })
		if large <= 2*times*max(small, floor) {
			return
		}
	}
	t.Errorf("%s: %v of processor time for %d, %v for %d", name, small, n, large, times*n)
}
