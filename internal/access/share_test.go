package access_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/access"
)

// board is an access.Shared in memory.
type board struct {
	mu    sync.Mutex
	down  bool                    // guarded by mu
	spent map[string]access.Spent // guarded by mu
}

func (b *board) Spend(_ context.Context, list []access.Spending) (out []access.Spent, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return nil, errors.New("nobody is there")
	}
	for _, one := range list {
		key := one.Account + " " + string(one.Class)
		s := b.spent[key]
		s.Account, s.Class = one.Account, one.Class
		s.Minute = min(max(s.Minute, one.Minute.From)+one.Minute.Took, one.Minute.Most)
		s.Second = min(max(s.Second, one.Second.From)+one.Second.Took, one.Second.Most)
		b.spent[key] = s
		out = append(out, s)
	}
	return out, nil
}

func (b *board) Forget(context.Context, time.Time) error { return nil }

func (b *board) set(down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = down
}

// processes returns several Limits that share their spending.
func processes(t *testing.T, n int, b *board) []*access.Limits {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	list := make([]*access.Limits, n)
	for i := range list {
		list[i] = access.NewLimits(access.LimitConfig{}, nil)
		all.Go(func() { list[i].Share(ctx, b, slog.New(slog.DiscardHandler)) })
	}
	synctest.Wait()
	t.Cleanup(func() { cancel(); all.Wait() })
	return list
}

// A caller who alternates between processes and never pauses gets the rate of one process per
// minute, and once at most the allowance of each process.
func TestLimitsHoldOverProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 3
		list := processes(t, n, &board{spent: map[string]access.Spent{}})
		minute := func() (got int) {
			for range 1200 { // steps of 50 ms
				time.Sleep(50 * time.Millisecond)
				for _, l := range list {
					n, _ := takeAll(l, "k", "", access.ClassWrite, 100)
					got += n
				}
			}
			return got
		}
		first := minute()
		if first > n*20+20 {
			t.Errorf("%d writes in the first minute, want at most %d", first, n*20+20)
		}
		minute()
		for range 3 {
			if got := minute(); got > 20+n {
				t.Errorf("%d writes in a later minute, want 20", got)
			}
		}
	})
}

func TestSpendingIsSharedBetweenProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{spent: map[string]access.Spent{}}
		list := processes(t, 2, b)
		takeAll(list[0], "k", "", access.ClassWrite, 15)
		time.Sleep(access.Exchange + time.Millisecond)
		if _, ok := list[1].Take("k", "", access.ClassWrite); !ok {
			t.Fatal("the first is refused")
		}
		time.Sleep(access.Exchange + time.Millisecond)
		if n, _ := takeAll(list[1], "k", "", access.ClassWrite, 100); n != 4 {
			t.Errorf("after 16 of 20 elsewhere and here %d more", n)
		}
		if n, _ := takeAll(list[1], "other", "", access.ClassWrite, 100); n != 20 {
			t.Errorf("another account gets %d", n)
		}
	})
}

// Spending that could not be exchanged is exchanged later; the limits continue to apply meanwhile.
func TestLimitsContinueAloneAndShareLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{spent: map[string]access.Spent{}}
		list := processes(t, 2, b)
		b.set(true)
		if n, _ := takeAll(list[0], "k", "", access.ClassWrite, 100); n != 20 {
			t.Errorf("alone %d", n)
		}
		time.Sleep(access.Exchange + time.Millisecond)
		b.set(false)
		time.Sleep(access.Exchange)
		list[1].Take("k", "", access.ClassWrite)
		time.Sleep(access.Exchange + time.Millisecond)
		if n, _ := takeAll(list[1], "k", "", access.ClassWrite, 100); n != 0 {
			t.Errorf("after 20 elsewhere %d more", n)
		}
	})
}
