package proposal

import (
	"testing"

	"loregate/internal/canon"
)

// The hash of an approval must be keyed. It covers versions that also count hidden changes, and
// nobody may find those by trying one after the other.
func TestApprovalHashIsKeyed(t *testing.T) {
	seen := changePreview{items: []PreviewItem{{Act: "update", What: "The Well"}},
		set: canon.ChangeSet{Reads: []canon.ReadMark{{Rev: 7}}}}
	moved := seen
	moved.set.Reads = []canon.ReadMark{{Rev: 8}}
	ours, theirs := &Service{cfg: Config{Secret: []byte("ours")}}, &Service{cfg: Config{Secret: []byte("theirs")}}
	one, other := &judgedEvent{}, &judgedEvent{ID: [16]byte{1}}
	h := ours.expectedHash(one, seen)
	switch h {
	case ours.expectedHash(one, moved):
		t.Error("it does not cover the versions that the change rests on")
	case theirs.expectedHash(one, seen):
		t.Error("it can be made without the secret")
	case ours.expectedHash(other, seen):
		t.Error("two proposals of one change have one hash")
	}
	if ours.expectedHash(one, seen) != h {
		t.Error("it is another each time")
	}
}
