package wait_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/wait"
)

// TestWaitEnds lets each of the three reasons end a wait first.
func TestWaitEnds(t *testing.T) {
	woken := make(chan struct{})
	close(woken)
	for _, c := range []struct {
		name  string
		wait  func(ctx context.Context) bool
		cut   time.Duration // time at which the context ends; 0: never
		takes time.Duration
		goes  bool
	}{
		{"the time", func(ctx context.Context) bool { return wait.For(ctx, time.Minute) }, 0, time.Minute, true},
		{"no time at all", func(ctx context.Context) bool { return wait.For(ctx, -time.Minute) }, 0, 0, true},
		{"the context", func(ctx context.Context) bool { return wait.For(ctx, time.Minute) }, time.Second,
			time.Second, false},
		{"something before", func(ctx context.Context) bool { return wait.Or(ctx, time.Minute, woken) }, 0, 0, true},
		{"the time before something",
			func(ctx context.Context) bool { return wait.Or(ctx, time.Second, make(chan struct{})) }, 0, time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cut > 0 {
				time.AfterFunc(c.cut, cancel)
			}
			began := time.Now()
			if goes, took := c.wait(ctx), time.Since(began); goes != c.goes || took != c.takes {
				t.Errorf("%s: goes on %t after %s, want %t after %s", c.name, goes, took, c.goes, c.takes)
			}
		})
	}
}

// TestBreakerOpens checks that only three failures in a row open a Breaker, and for its rest.
func TestBreakerOpens(t *testing.T) {
	var b wait.Breaker
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, failed := range []bool{true, true, false, true, true} {
		if b.Note(now, failed, time.Minute); b.Left(now) > 0 {
			t.Fatalf("open after result %d", i)
		}
	}
	b.Note(now, true, time.Minute)
	if left := b.Left(now); left != time.Minute {
		t.Errorf("open for %s", left)
	}
	now = now.Add(time.Minute)
	if b.Note(now, true, time.Minute); b.Left(now) > 0 {
		t.Error("one failure opens it again")
	}
}
