package storetest

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Template returns a function that writes copies of the files of a store that open creates at a
// path. The files are created once per process: under the race detector this takes a second, and
// thousands of tests need a store.
func Template(open func(path string) error) func(t testing.TB, path string) {
	made := sync.OnceValues(func() (map[string][]byte, error) { return filesOf(open) })
	return func(t testing.TB, path string) {
		t.Helper()
		files, err := made()
		for suffix, b := range files {
			if err == nil {
				err = os.WriteFile(path+suffix, b, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// filesOf returns the files that open creates, by the suffix that follows the path in their names.
func filesOf(open func(path string) error) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "loregate-template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "store")
	if err := open(path); err != nil {
		return nil, err
	}
	list, err := filepath.Glob(path + "*")
	files := map[string][]byte{}
	for _, file := range list {
		if files[strings.TrimPrefix(file, path)], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return files, err
}
