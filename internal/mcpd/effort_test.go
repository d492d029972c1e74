package mcpd

import (
	"testing"
	"time"
)

// TestPauseFollowsCostOfChecks shows that waiting on a busy machine does not count as cost, while
// more checks do, and so does an increase in the time of all of them.
func TestPauseFollowsCostOfChecks(t *testing.T) {
	const check = time.Millisecond
	var e effort
	if got := e.pauseAfter(0, 0); got != pace {
		t.Errorf("after no look %v, want %v", got, pace)
	}
	if got := e.pauseAfter(4, check); got != pace {
		t.Errorf("after 4 looks %v, want %v", got, pace)
	}
	if got := e.pauseAfter(4, 50*check); got != pace {
		t.Errorf("after 4 looks that waited %v, want %v", got, pace)
	}
	if got, want := e.pauseAfter(1000, check), pauseFactor*1000*check; got != want {
		t.Errorf("after 1,000 looks %v, want %v", got, want)
	}
	for range 100 {
		e.pauseAfter(4, 100*check)
	}
	if got := e.pauseAfter(100, 100*check); got < 100*100*check {
		t.Errorf("when looks have become dear %v", got)
	}
}
