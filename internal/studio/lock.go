package studio

import (
	"context"
	"time"

	"loregate/internal/disk"
)

// lockWait is how often a lock that another process holds is tried again.
const lockWait = 20 * time.Millisecond

// lockFile holds a file against other processes until the function it gives is called, or
// this process ends.
func lockFile(ctx context.Context, name string) (unlock func(), err error) {
	tick := time.NewTicker(lockWait)
	defer tick.Stop()
	for {
		free, err := disk.TryLock(name)
		if err != nil {
			return nil, Fail(IOFailed, "the target cannot be locked").Because(err)
		}
		if free != nil {
			return func() { _ = free() }, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
