package sqlite

import (
	"path/filepath"
	"testing"

	"loregate/internal/canon"
)

// TestMarkChangesWithEachCommit checks that the mark stays the same while nothing is committed, and
// that a commit of another process changes it before that process's write returns.
func TestMarkChangesWithEachCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	one, other := openTest(t, path), openTest(t, path)
	last, ok := one.Mark()
	if !ok {
		t.Fatal("there is no mark")
	}
	for n := range 50 {
		if again, ok := one.Mark(); !ok || again != last {
			t.Fatalf("after %d commits the mark changes by itself", n)
		}
		writer := []*Store{one, other}[n%2]
		if err := writer.Write(t.Context(), func(tx canon.Tx) error {
			return tx.PutRepeat(t.Context(), canon.Repeat{Account: "a", Key: string(rune('a' + n)), Stream: "world:x", Seq: 1})
		}); err != nil {
			t.Fatal(err)
		}
		now, ok := one.Mark()
		if !ok || now == last {
			t.Fatalf("commit %d leaves the mark as it was", n)
		}
		if theirs, _ := other.Mark(); theirs != now {
			t.Fatalf("after commit %d two processes see two marks", n)
		}
		last = now
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := one.Mark(); ok {
		t.Error("a closed store has a mark")
	}
}
