package proposal

import (
	"testing"

	"loregate/internal/canon"
)

// TestTheHashOfAnApprovalIsKeyed: it covers versions that count what is hidden, which
// nobody may find by trying one after the other.
func TestTheHashOfAnApprovalIsKeyed(t *testing.T) {
	seen := shown{items: []PreviewItem{{Act: "update", What: "The Well"}}, set: canon.ChangeSet{Reads: []canon.ReadMark{{Rev: 7}}}}
	moved := seen
	moved.set.Reads = []canon.ReadMark{{Rev: 8}}
	ours, theirs := &Service{cfg: Config{Secret: []byte("ours")}}, &Service{cfg: Config{Secret: []byte("theirs")}}
	one, other := &judged{}, &judged{ID: [16]byte{1}}
	h := ours.expected(one, seen)
	switch h {
	case ours.expected(one, moved):
		t.Error("it does not cover the versions that the change rests on")
	case theirs.expected(one, seen):
		t.Error("it can be made without the secret")
	case ours.expected(other, seen):
		t.Error("two proposals of one change have one hash")
	}
	if ours.expected(one, seen) != h {
		t.Error("it is another each time")
	}
}
