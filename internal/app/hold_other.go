//go:build !linux && !darwin

package app

import (
	"errors"
	"os"
)

// errHeld is that another process has a store open.
var errHeld = errors.New("another process has the store open")

// hold opens a store's file. Here the system itself refuses to rename a file that is open.
func hold(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }
