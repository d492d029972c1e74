package access

import (
	"slices"
	"testing"
)

func TestOldestStreamIsClosed(t *testing.T) {
	var s Streams
	var ended []int
	var closed []func()
	for i := range MostStreams + 2 {
		closed = append(closed, s.Open("ann", func() { ended = append(ended, i) }))
	}
	s.Open("ben", func() { t.Error("one account's streams end another's") })
	if !slices.Equal(ended, []int{0, 1}) {
		t.Errorf("ended %v, want the two oldest", ended)
	}
	for _, c := range closed {
		c()
		c() // the stream that was ended is also closed
	}
	if _, left := s.open["ann"]; left {
		t.Error("closed streams are remembered")
	}
	s.Open("ann", func() {})
	if len(ended) != 2 {
		t.Error("closed streams are counted")
	}
}
