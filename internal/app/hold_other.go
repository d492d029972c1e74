//go:build !linux && !darwin

package app

import (
	"errors"
	"os"
)

// errHeld is returned if another process has the store open.
var errHeld = errors.New("another process has the store open")

// lockStoreFile opens a store's file. On these systems an open file cannot be renamed.
func lockStoreFile(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }
