// Package wait lets time pass.
//
// Its invariant: the end of the context wakes whoever waits, and no timer is left behind.
package wait

import (
	"context"
	"time"
)

// For waits for a time; none or less is over at once. It reports whether the context goes on.
func For(ctx context.Context, d time.Duration) bool { return Or(ctx, d, nil) }

// Or waits for a time, or until something is received or closed before; nil never is. It
// reports whether the context goes on.
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
