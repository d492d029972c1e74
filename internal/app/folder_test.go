package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMakeFolderSyncsParents(t *testing.T) {
	top := t.TempDir()
	var written []string
	note := func(dir string) error {
		if _, err := os.Stat(filepath.Join(top, "a", "b", "c")); err != nil {
			t.Errorf("%s is written down before all is made", dir)
		}
		written = append(written, dir)
		return syncFolder(dir)
	}
	for range 2 { // the second time there is nothing to create
		if err := makeFolder(filepath.Join(top, "a", "b", "c"), note); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{filepath.Join(top, "a", "b"), filepath.Join(top, "a"), top}; !slices.Equal(written, want) {
		t.Errorf("written down: %v, want %v", written, want)
	}
	bad := errors.New("no disk")
	if err := makeFolder(filepath.Join(top, "d"), func(string) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("a folder that was not written down: %v", err)
	}
	file := filepath.Join(top, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := makeFolder(filepath.Join(file, "x"), note); err == nil {
		t.Error("a folder in a file")
	}
}
