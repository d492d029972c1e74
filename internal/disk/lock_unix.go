//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

// TryLock locks a file against other processes, and creates it if it is missing. The lock is held
// until unlock is called or this process ends. unlock is nil if another process holds the lock.
func TryLock(name string) (unlock func() error, err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f.Close, nil // closing unlocks
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return nil, errors.Join(err, f.Close())
}
