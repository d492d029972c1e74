package studio

import (
	"context"
	"time"

	"loregate/internal/disk"
)

// lockWait is the interval between attempts to take a lock that another process holds.
const lockWait = 20 * time.Millisecond

// lockFile locks a file against other processes until unlock is called or this process ends.
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
