package sqlite

import (
	"testing"

	"loregate/internal/canon"
	"loregate/internal/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) canon.Store { return openNew(t) })
}

func BenchmarkStore(b *testing.B) {
	storetest.BenchmarkStore(b, func(b *testing.B) canon.Store { return openNew(b) })
}

func TestUnchangingWriteWakesNobody(t *testing.T) {
	storetest.TestLooksWakeNobody(t, openNew(t))
}
