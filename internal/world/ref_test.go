package world

import (
	"crypto/rand"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// A reference has the same length after a million hidden commits as after none.
func TestReferenceLengthHidesCommitCount(t *testing.T) {
	s, err := newRefSealer([32]byte{1}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	length := 0
	for _, seq := range []canon.Seq{1, 99, 1_000_000, 1<<64 - 1} {
		r := contextRef{Tool: "list-exits", Args: []byte(`{}`), Level: access.LevelUser, Seq: seq}
		ref, err := s.seal(access.WorldID{1}, r)
		if err != nil {
			t.Fatal(err)
		}
		if length == 0 {
			length = len(ref)
		}
		if len(ref) != length {
			t.Errorf("the reference to commit %d is %d characters long, that to the first one %d", seq, len(ref), length)
		}
		if back, err := s.open(access.WorldID{1}, ref); err != nil || back.Seq != r.Seq {
			t.Errorf("commit %d comes back as %d, %v", seq, back.Seq, err)
		}
	}
}
