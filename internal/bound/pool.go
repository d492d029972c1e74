package bound

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"loregate/internal/fault"
)

// Pool holds the memory that work within budgets shares.
type Pool struct {
	size  int64
	room  *semaphore.Weighted
	watch watch

	mu     sync.Mutex
	before int64 // bytes of the heap before the first of the running budgets. Guarded by mu
	given  int64 // memory of the running budgets. Guarded by mu
}

// watch reads the use of memory. Tests replace it.
type watch struct {
	heap     func() int64  // bytes of the heap's objects
	collect  func()        // frees the memory that is not used any more
	interval time.Duration // between two looks
}

// lookEvery is the time between two looks at what work uses. collectEvery is the number of looks from one forced
// collection of garbage to the next.
const (
	lookEvery    = 100 * time.Millisecond
	collectEvery = 10
)

// NewPool returns a pool of the given number of bytes. A budget that is larger waits until it has all of the pool.
func NewPool(size int64) *Pool {
	return &Pool{size: size, room: semaphore.NewWeighted(size),
		watch: watch{heap: heapObjects, collect: runtime.GC, interval: lookEvery}}
}

// heapObjects returns the bytes of the heap's objects, those that are not collected yet included.
func heapObjects() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// Run waits until the pool has room for a budget and calls work. When the budget is spent, it cancels the context of
// work and returns a fault of kind TooLarge that names the input. It returns when work does.
func (p *Pool) Run(ctx context.Context, b Budget, input string, work func(context.Context) error) error {
	need := min(b.Memory, p.size)
	if err := p.room.Acquire(ctx, need); err != nil {
		return err
	}
	defer p.room.Release(need)
	p.start(b)
	defer p.end(b)
	// The processor time is that of one thread, so that other work of the process does not count.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := threadTime()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if b.Time > 0 {
		defer time.AfterFunc(b.Time, func() {
			cancel(fault.New(fault.TooLarge, "%s takes longer than the %d s that its size allows; divide it into smaller "+
				"files, or try again when the server has less to do", input, int(b.Time.Seconds())))
		}).Stop()
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { p.look(b, input, used, cancel, done) })
	err := work(ctx)
	close(done)
	watching.Wait()
	return Cause(ctx, err)
}

func (p *Pool) start(b Budget) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.given == 0 {
		p.before = p.watch.heap()
	}
	p.given += b.Memory
}

func (p *Pool) end(b Budget) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given -= b.Memory
}

// limit returns the bytes that the heap may have while the running budgets last.
func (p *Pool) limit() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.before + p.given
}

// look cancels work once it has used more than its budget, until done is closed.
func (p *Pool) look(b Budget, input string, used func() time.Duration, cancel context.CancelCauseFunc,
	done <-chan struct{}) {
	tick := time.NewTicker(p.watch.interval)
	defer tick.Stop()
	for looks := collectEvery; ; looks++ {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if used() > b.CPU {
			cancel(fault.New(fault.TooLarge, "%s takes more than the %d s of processor time that its size allows; "+
				"divide it into smaller files", input, int(b.CPU.Seconds())))
			return
		}
		if p.watch.heap() <= p.limit() || looks < collectEvery {
			continue
		}
		looks = 0
		if p.watch.collect(); p.watch.heap() > p.limit() {
			cancel(fault.New(fault.TooLarge, "%s takes more than the %d MiB of memory that its size allows; divide it "+
				"into smaller files", input, b.Memory>>20))
			return
		}
	}
}

// Cause returns the reason for which a context was cancelled if err came after it, and err otherwise.
func Cause(ctx context.Context, err error) error {
	var spent *fault.Error
	if err != nil && errors.As(context.Cause(ctx), &spent) {
		return spent
	}
	return err
}
