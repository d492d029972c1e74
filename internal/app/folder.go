package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// makeFolder creates a folder and its missing parents, and calls written for each folder that got a
// new entry, to sync it. Without the sync, a power cut could remove the folder with all
// acknowledged data in it.
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

// syncFolder syncs a folder's entries to disk, if the system supports that.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // the folder is writable but not readable, so it cannot be synced
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
