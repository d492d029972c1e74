package sqlite

import (
	"path/filepath"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) canon.Store { return openTest(t, filepath.Join(t.TempDir(), "canon.db")) })
}

func BenchmarkStore(b *testing.B) {
	storetest.BenchmarkStore(b, func(b *testing.B) canon.Store { return openTest(b, filepath.Join(b.TempDir(), "canon.db")) })
}

func TestAWriteThatChangesNothingWakesNobody(t *testing.T) {
	storetest.TestLooksWakeNobody(t, openNew(t))
}
