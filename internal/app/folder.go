package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// makeFolder makes a folder and those above it that are not there, and has each that got
// a new one written down: a folder whose parent is not may be gone after a power cut, with
// all that was acknowledged in it.
func makeFolder(dir string, written func(dir string) error) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var parents []string
	for at := dir; filepath.Dir(at) != at; at = filepath.Dir(at) {
		_, err := os.Stat(at)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		parents = append(parents, filepath.Dir(at))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, p := range parents {
		if err := written(p); err != nil {
			return err
		}
	}
	return nil
}

// syncFolder has a folder's entries written down, where the system can do that.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // it may be written to and not read, and cannot be synced then
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
