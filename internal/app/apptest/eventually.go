package apptest

import (
	"testing"
	"time"
)

// Eventually polls until a condition holds, and returns the time that this took. It fails the test
// if the condition does not hold within the given time. Use it to observe another process; wait for
// a channel or in a synctest bubble where that is possible.
func Eventually(t testing.TB, condition string, within time.Duration, holds func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Since(began) > within {
			t.Fatalf("not within %s: %s", within, condition)
		}
		<-tick.C
	}
	return time.Since(began)
}
