package mcpd

import (
	"testing"
	"time"
)

// TestRestFollowsWhatLooksCost: the waiting of looks on a busy machine is no cost, their
// number is, and so is what all of them have come to take.
func TestRestFollowsWhatLooksCost(t *testing.T) {
	const look = time.Millisecond
	var e effort
	if got := e.rest(0, 0); got != pace {
		t.Errorf("after no look %v, want %v", got, pace)
	}
	if got := e.rest(4, look); got != pace {
		t.Errorf("after 4 looks %v, want %v", got, pace)
	}
	if got := e.rest(4, 50*look); got != pace {
		t.Errorf("after 4 looks that waited %v, want %v", got, pace)
	}
	if got, want := e.rest(1000, look), restShare*1000*look; got != want {
		t.Errorf("after 1,000 looks %v, want %v", got, want)
	}
	for range 100 {
		e.rest(4, 100*look)
	}
	if got := e.rest(100, 100*look); got < 100*100*look {
		t.Errorf("when looks have become dear %v", got)
	}
}
