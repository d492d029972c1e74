package app

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/wait"
)

const (
	// checkAfter is how long a server has served before it checks its store: those who come
	// back after a restart go first.
	checkAfter = 5 * time.Second
	// checkShare is the part of a processor that the check takes: one in so many.
	checkShare = 4
	// restEvery is how long the check works before it rests.
	restEvery = 20 * time.Millisecond
)

// States of the check, as /readyz shows them.
const (
	storeUnchecked = "not checked yet"
	storeChecking  = "being checked"
	storeSound     = "sound"
	storeDamaged   = "damaged"
)

// checked is how far the check of the store is.
type checked struct{ state atomic.Value }

func (c *checked) set(state string) { c.state.Store(state) }

func (c *checked) String() string {
	if s, ok := c.state.Load().(string); ok {
		return s
	}
	return storeUnchecked
}

// watchStore checks the store once, in the background, until stop is called.
func (a *App) watchStore(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if wait.For(ctx, checkAfter); ctx.Err() == nil {
			a.CheckStore(ctx)
		}
	}()
	return func() { cancel(); <-done }
}

// CheckStore reads the store whole, its chains and its access records, with a part of a
// processor, and says in the log how it is. Where something is found broken the store takes
// no writes any more.
func (a *App) CheckStore(ctx context.Context) {
	a.checked.set(storeChecking)
	started := time.Now()
	p := &pace{ctx: ctx, since: started}
	found, err := a.examine(ctx, p)
	switch {
	case found != "":
		a.checked.set(storeDamaged)
		a.store.MarkDamaged(found)
		a.logger.Error("the store is damaged; nothing is written to it from now on", "found", found, "do", repairAdvice(a.Config))
	case err != nil:
		a.checked.set(storeUnchecked)
		if ctx.Err() == nil {
			a.logger.Warn("the store could not be checked; run loregate doctor", "error", err)
		}
	default:
		a.checked.set(storeSound)
		a.logger.Info("the store was checked and is sound", "took", time.Since(started).Round(time.Millisecond))
	}
}

// examine gives the first fault of the store; "" for none.
func (a *App) examine(ctx context.Context, p *pace) (found string, err error) {
	faults, err := a.store.Check(ctx, func(time.Duration) { p.rest() })
	if len(faults) > 0 {
		return faults[0], nil
	}
	if err != nil {
		return "", err
	}
	_, err = canon.VerifyStreams(ctx, pacedStore{a.store, p})
	if err == nil {
		_, err = access.VerifySegments(ctx, pacedSegments{a.store, p})
	}
	if isBroken(err) {
		return err.Error(), nil
	}
	return "", err
}

// pace keeps background work to a part of a processor.
type pace struct {
	ctx   context.Context // of the one check it lives for
	since time.Time       // when it rested last
}

// rest sleeps for as long as the work since the last time makes up for.
func (p *pace) rest() {
	worked := time.Since(p.since)
	if worked < restEvery {
		return
	}
	wait.For(p.ctx, (checkShare-1)*worked)
	p.since = time.Now()
}

type pacedStore struct {
	canon.Store
	p *pace
}

func (s pacedStore) Read(ctx context.Context, f func(canon.Reader) error) error {
	return s.Store.Read(ctx, func(r canon.Reader) error { return f(pacedReader{r, s.p}) })
}

type pacedReader struct {
	canon.Reader
	p *pace
}

func (r pacedReader) Commits(ctx context.Context, s canon.StreamID, from canon.Seq) iter.Seq2[canon.StoredCommit, error] {
	return paced(r.p, r.Reader.Commits(ctx, s, from))
}

type pacedSegments struct {
	access.SegmentStore
	p *pace
}

func (s pacedSegments) Segments(ctx context.Context, process string, from uint64) iter.Seq2[access.Segment, error] {
	return paced(s.p, s.SegmentStore.Segments(ctx, process, from))
}

// paced rests between the values of a sequence.
func paced[T any](p *pace, all iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range all {
			if err == nil && p.ctx.Err() != nil {
				err = fmt.Errorf("the check was ended: %w", p.ctx.Err())
			}
			if !yield(v, err) || err != nil {
				return
			}
			p.rest()
		}
	}
}
