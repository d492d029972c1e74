//go:build unix

package studio

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lockWait is how often a lock that another process holds is tried again.
const lockWait = 20 * time.Millisecond

// lockFile holds a file against other processes until the function it gives is called, or
// this process ends.
func lockFile(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, Fail(IOFailed, "the target cannot be locked").Because(err)
	}
	tick := time.NewTicker(lockWait)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // closing unlocks
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(Fail(IOFailed, "the target cannot be locked").Because(err), f.Close())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		}
	}
}
