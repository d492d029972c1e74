package apptest

import (
	"context"
	"testing"
	"time"

	"loregate/internal/wait"
)

// Eventually polls until a condition holds. It fails the test if the condition does not hold within the given time,
// which only ends a test that hangs: give waittest.Patience, unless a package has a longer one. Use it to observe
// another process; wait for a channel or in a synctest bubble where that is possible.
func Eventually(t testing.TB, condition string, within time.Duration, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), within)
	defer cancel()
	for !holds() {
		if !wait.For(ctx, 10*time.Millisecond) {
			t.Fatalf("not within %s: %s", within, condition)
		}
	}
}
