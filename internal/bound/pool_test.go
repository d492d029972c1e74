package bound

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/fault"
)

func TestTheLaw(t *testing.T) {
	for _, tc := range []struct {
		size   Size
		memory int64
		cpu    time.Duration
	}{{Size{}, 64 << 20, 30 * time.Second}, {Size{0, 1 << 20, 2 << 20}, 72 << 20, 36 * time.Second},
		{Size{1 << 10, 1 << 20, 2 << 20}, 76 << 20, 36*time.Second + 3072*time.Millisecond},
		{Size{1, 120 << 20, 120 << 20}, 1 << 30, 390*time.Second + 3*time.Millisecond},
		{Size{0, 1 << 62, 1 << 30}, 1 << 30, 3102 * time.Second}} {
		if b := BudgetOf(tc.size); b.Memory != tc.memory || b.CPU != tc.cpu || b.Time != 10*tc.cpu {
			t.Errorf("%+v: %s", tc.size, b)
		}
	}
	if b := BudgetOf(Size{Largest: MaxWhole}); b.Memory != maxMemory {
		t.Errorf("the largest whole input has %s", b)
	}
}

// A loop that looks at its context ends when its budget is spent, and the error names the input.
func TestSpentBudgetsEndTheirWork(t *testing.T) {
	for _, tc := range []struct {
		name string
		b    Budget
		heap int64
		says string
	}{
		{"processor time", Budget{Memory: 1 << 40, CPU: time.Millisecond}, 0, "notes.zip takes more than the 0 s"},
		{"memory", Budget{Memory: 8 << 20, CPU: time.Hour}, 9 << 20, "notes.zip takes more than the 8 MiB"},
		{"time", Budget{Memory: 1 << 40, CPU: time.Hour, Time: time.Millisecond}, 0, "notes.zip takes longer than the 0 s"},
	} {
		p := NewPool(1 << 40)
		var heap atomic.Int64
		p.watch = watch{heap: heap.Load, collect: func() {}, interval: time.Millisecond}
		err := p.Run(t.Context(), tc.b, "notes.zip", func(ctx context.Context) error {
			heap.Store(tc.heap)
			for ctx.Err() == nil { // the loop uses processor time
			}
			return ctx.Err()
		})
		if fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// Garbage does not count against a budget: it is collected first.
func TestGarbageIsCollectedBeforeWorkEnds(t *testing.T) {
	p := NewPool(1 << 40)
	var heap atomic.Int64
	collected := make(chan struct{})
	p.watch = watch{heap: heap.Load, interval: time.Millisecond, collect: func() {
		heap.Store(0)
		close(collected)
	}}
	err := p.Run(t.Context(), Budget{Memory: 1 << 20, CPU: time.Hour}, "notes.zip", func(ctx context.Context) error {
		heap.Store(2 << 20)
		<-collected
		return ctx.Err()
	})
	if err != nil {
		t.Error(err)
	}
}

// Work waits until those before it have given their memory back, and a larger budget than the pool gets all of it.
func TestBudgetsShareThePool(t *testing.T) {
	p := NewPool(100)
	var running, most atomic.Int64
	first, release := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 2)
	work := func(context.Context) error {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		first <- struct{}{}
		<-release
		return nil
	}
	for range 2 {
		go func() { ended <- p.Run(t.Context(), Budget{Memory: 1 << 50, CPU: time.Hour}, "x", work) }()
	}
	<-first
	release <- struct{}{}
	<-first
	release <- struct{}{}
	if err := <-ended; err != nil || most.Load() != 1 {
		t.Errorf("%d ran at once, %v", most.Load(), err)
	}
	<-ended
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Run(ctx, Budget{}, "x", func(ctx context.Context) error { return ctx.Err() }); err == nil {
		t.Error("a cancelled call ran to its end")
	}
}
