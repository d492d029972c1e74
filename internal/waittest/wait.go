// Package waittest bounds the waits of tests.
//
// A test waits for the event itself. Patience only ends a test that hangs: it is far longer than an event takes
// on a busy machine, and no test judges how much of it passed.
package waittest

import (
	"context"
	"testing"
	"time"
)

// Patience is the time after which a test takes an event for lost.
const Patience = 2 * time.Minute

// Context returns a context that ends after Patience, or when the test has ended with its cleanups.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Receive returns the next value of a channel, or the zero value of a closed one. It fails the test if neither comes.
func Receive[T any](t testing.TB, from <-chan T, awaited string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-Context(t).Done():
		t.Fatalf("waited in vain: %s", awaited)
	}
	return v
}
