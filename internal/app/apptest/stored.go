package apptest

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"loregate/internal/app"
)

// Unpack creates a data folder from a compressed store, for example one that an earlier version
// wrote, and returns the store's bytes.
func Unpack(t testing.TB, packed, dir string) []byte {
	t.Helper()
	f, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, app.StoreFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}
