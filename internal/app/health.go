package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"loregate/internal/access"
	"loregate/internal/archive"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/wait"
)

const (
	// checkAfter is the time that a server serves before it checks its store, so that clients who
	// reconnect after a restart come first.
	checkAfter = 5 * time.Second
	// recheckAfter is the time between looks for damage that a call has met.
	recheckAfter = time.Minute
	// checkShare limits the check to one part in checkShare of a processor's time.
	checkShare = 4
	// restEvery is the time that the check works before it rests.
	restEvery = 20 * time.Millisecond
)

// States of the check, as /readyz shows them.
const (
	storeUnchecked = "not checked yet"
	storeChecking  = "being checked"
	storeSound     = "sound"
	storePartly    = "damaged in part" // some worlds are not served
	storeDamaged   = "damaged"
)

// storeCheckState is the state of the background check of the store.
type storeCheckState struct {
	state atomic.Value
	runs  sync.Mutex // held by the check that runs
}

func (c *storeCheckState) set(state string) { c.state.Store(state) }

func (c *storeCheckState) String() string {
	if s, ok := c.state.Load().(string); ok {
		return s
	}
	return storeUnchecked
}

// watchStore checks the store once, in the background, and again if a call has met damage since. stop cancels the
// check and waits for it.
func (a *App) watchStore(ctx context.Context) (stop func()) {
	return runBehind(context.WithoutCancel(ctx), func(ctx context.Context) {
		for after := checkAfter; wait.For(ctx, after); after = recheckAfter {
			found := a.store.Writable(ctx)
			if after == checkAfter || isDamage(found) && a.checkState.String() != storeDamaged {
				_, _ = a.CheckStore(ctx) // it logs the result
			}
		}
	})
}

// CheckStore reads the whole store, its chains and its access records, using only a part of a
// processor, and logs the result. If it finds a fault, the store accepts no more writes. If only commits of
// some streams are lost, it makes the Canon refuse these, and the others go on.
func (a *App) CheckStore(ctx context.Context) (found string, err error) {
	if !a.checkState.runs.TryLock() {
		return "", fault.New(fault.Conflict, "the store is being checked; wait for the result")
	}
	defer a.checkState.runs.Unlock()
	a.checkState.set(storeChecking)
	started := time.Now()
	p := &pace{ctx: ctx, since: started}
	found, err = a.findStoreFault(ctx, p)
	switch {
	case found != "":
		a.checkState.set(storeDamaged)
		a.store.MarkDamaged(found)
		a.logger.Error("the store is damaged; all writes are refused from now on", "found", found, "do",
			repairAdvice(a.Config))
	case err != nil:
		a.checkState.set(storeUnchecked)
		if ctx.Err() == nil {
			a.logger.Warn("the store could not be checked; run loregate doctor", "error", err)
		}
	case a.lostStreams.Load() > 0 || a.store.Confined() != "":
		a.checkState.set(storePartly)
	default:
		a.checkState.set(storeSound)
		a.logger.Info("the store was checked and has no fault", "took", time.Since(started).Round(time.Millisecond))
	}
	return found, err
}

// Health returns the doctor's findings that take no longer than a read, and the limits in force.
func (a *App) Health(ctx context.Context) (archive.Health, error) {
	d := &doctor{out: io.Discard}
	d.printCheck("version", nil, "%s", cmp.Or(a.Version, "development"))
	d.printCheck("store takes writes", a.Ready(ctx), "yes")
	if !a.still {
		d.checkDatabaseAndDisks(ctx, a)
		if size, err := a.store.Size(ctx); err == nil {
			d.printCheck("size", nil, "%s", size)
		}
	}
	worlds, err := a.Canon.Worlds(ctx)
	d.printCheck("worlds", err, "%d", len(worlds))
	h := archive.Health{Store: a.checkState.String(), Findings: d.found}
	c := a.Config
	err = eachSetting(&c, func(s setting) error {
		if strings.HasPrefix(s.path, "limits.") || strings.HasPrefix(s.path, "budgets.") || s.path == "memory" {
			h.Limits = append(h.Limits, archive.Limit{Name: s.path, Value: fmt.Sprint(s.value.Interface())})
		}
		return nil
	})
	return h, err
}

// findStoreFault returns the first fault of the store; "" for none.
func (a *App) findStoreFault(ctx context.Context, p *pace) (found string, err error) {
	faults, err := a.store.Check(ctx, func(time.Duration) { p.rest() })
	if len(faults) > 0 {
		return faults[0], nil
	}
	if err != nil {
		return "", err
	}
	err = a.refuseLostStreams(ctx, pacedStore{a.store, p})
	if err == nil {
		_, err = access.VerifySegments(ctx, pacedSegments{a.store, p}, nil)
	}
	if isBroken(err) {
		return err.Error(), nil
	}
	return "", err
}

// pace limits background work to a part of a processor's time.
type pace struct {
	ctx   context.Context // context of the one check
	since time.Time       // time of the last rest
}

// rest sleeps checkShare-1 times as long as the work since the last rest took.
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

func (r pacedReader) Commits(ctx context.Context, s canon.StreamID,
	from canon.Seq) iter.Seq2[canon.StoredCommit, error] {
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
				err = fmt.Errorf("the check was interrupted: %w", p.ctx.Err())
			}
			if !yield(v, err) || err != nil {
				return
			}
			p.rest()
		}
	}
}
