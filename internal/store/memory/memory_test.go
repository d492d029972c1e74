package memory_test

import (
	"testing"

	"loregate/internal/canon"
	"loregate/internal/store/memory"
	"loregate/internal/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) canon.Store { return memory.New() })
}

func BenchmarkStore(b *testing.B) {
	storetest.BenchmarkStore(b, func(b *testing.B) canon.Store { return memory.New() })
}
