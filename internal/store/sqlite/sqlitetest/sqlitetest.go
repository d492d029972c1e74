// Package sqlitetest gives tests a store on disk.
package sqlitetest

import (
	"path/filepath"
	"testing"

	"loregate/internal/store/sqlite"
)

// Open opens an empty store in a folder of the test's, closed at its end.
func Open(t testing.TB) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "canon.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}
