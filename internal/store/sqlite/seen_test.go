package sqlite

import (
	"testing"

	"loregate/internal/access/accesstest"
)

// BenchmarkSeenBy asks who has seen a card, in an index of a million records.
func BenchmarkSeenBy(b *testing.B) {
	s := openTest(b, b.TempDir()+"/canon.db")
	accesstest.BenchmarkSeenBy(b, s, s)
}
