// Package wait waits for time to pass, and keeps callers from waiting in vain.
//
// Its invariant: the end of the context ends every wait, and no timer is left behind.
package wait

import (
	"context"
	"time"
)

// For waits for d; it returns at once if d is not positive. It reports whether the context is still
// active.
func For(ctx context.Context, d time.Duration) bool { return Or(ctx, d, nil) }

// Or waits for d, or until woken receives a value or is closed; a nil woken never ends the wait. It
// reports whether the context is still active.
func Or(ctx context.Context, d time.Duration, woken <-chan struct{}) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C:
	case <-woken:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
