//go:build linux || darwin

package app

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// The bytes of a file that SQLite locks: a process that has the file open holds a shared lock on
// some of them. See "File Locking And Concurrency In SQLite Version 3", and os_unix.c.
const (
	lockedFrom  = 0x40000000
	lockedBytes = 512
)

// errHeld is returned if another process has the store open.
var errHeld = errors.New("another process has the store open")

// lockStoreFile opens a store's file and keeps every other process from opening it as a store until
// the file is closed. The lock belongs to the process: it ends when the process closes any other
// handle of the file.
func lockStoreFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	l := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockedFrom, Len: lockedBytes}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &l); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
			return nil, errHeld
		}
		return nil, err
	}
	return f, nil
}
