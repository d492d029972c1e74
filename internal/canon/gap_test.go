package canon_test

import (
	"errors"
	"testing"

	"loregate/internal/canon"
)

// TestAGapIsRecordedOnlyByARepair checks which commits may follow a head: only one that a repair made may
// leave out numbers, and none may leave the chain.
func TestAGapIsRecordedOnlyByARepair(t *testing.T) {
	head := canon.Head{Seq: 11, Hash: canon.Hash{1}}
	for _, c := range []struct {
		name   string
		commit canon.StoredCommit
		want   bool
	}{
		{"the next", canon.StoredCommit{Seq: 12, Prev: head.Hash, Op: "create_card"}, true},
		{"a later one", canon.StoredCommit{Seq: 20, Prev: head.Hash, Op: "create_card"}, false},
		{"a repair", canon.StoredCommit{Seq: 20, Prev: head.Hash, Op: canon.RepairOperation}, true},
		{"a repair with a used number", canon.StoredCommit{Seq: 11, Prev: head.Hash, Op: canon.RepairOperation}, false},
		{"a repair of another chain", canon.StoredCommit{Seq: 20, Op: canon.RepairOperation}, false},
	} {
		if got := head.Precedes(c.commit); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

// TestEveryBrokenStreamIsNamed checks that an error of several streams gives all of them.
func TestEveryBrokenStreamIsNamed(t *testing.T) {
	a, b := &canon.Broken{Stream: "world:a", Seq: 1}, &canon.Broken{Stream: "world:b", Seq: 2}
	if got := canon.BrokenIn(errors.Join(a, b)); len(got) != 2 || got[0] != a || got[1] != b {
		t.Errorf("got %v", got)
	}
	if got := canon.BrokenIn(errors.New("another")); got != nil {
		t.Errorf("got %v of another error", got)
	}
}
