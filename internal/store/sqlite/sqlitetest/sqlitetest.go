// Package sqlitetest provides SQLite stores on disk for tests.
package sqlitetest

import (
	"context"
	"path/filepath"
	"testing"

	"loregate/internal/store/sqlite"
	"loregate/internal/store/storetest"
)

// Open opens an empty store in a temporary folder of the test. It is closed when the test ends.
func Open(t testing.TB) *sqlite.Store {
	t.Helper()
	return OpenAt(t, filepath.Join(t.TempDir(), "canon.db"))
}

// OpenAt opens an empty store at a path that does not exist yet. It is closed when the test ends.
func OpenAt(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	WriteEmpty(t, path)
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// WriteEmpty writes the files of an empty store at a path.
var WriteEmpty = storetest.Template(func(path string) error {
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	return store.Close()
})
