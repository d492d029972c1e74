package body

import (
	"context"
	"slices"
	"sync"
	"time"

	"loregate/internal/fault"
)

// budget bounds an amount of bytes that requests hold at once: of one caller, of one world, and in all. It is safe for
// concurrent use.
//
// A request that needs more than a share alone gets it while no other request holds any of that share, so that the
// largest request is possible with every budget. Requests that wait for the whole are served in their order; a request
// that waits for its caller's share or its world's delays no other one.
type budget struct {
	place string // for errors: "memory"
	most  [shares]int64
	wait  time.Duration // for room

	mu      sync.Mutex
	all     int64                    // guarded by mu, as all below
	held    [shares]map[string]int64 // by caller and by world
	waiting []*waiter
}

// The shares of a budget.
const (
	ofCaller = iota
	ofWorld
	ofAll
	shares
)

// waiter is a request that waits for room.
type waiter struct {
	by    *owner
	own   int64 // bytes that the request has already
	bytes int64
	ready chan struct{} // closed with the room taken
}

// owner names the accounts of a request; "" is no account.
type owner [2]string

func newBudget(place string, most int64, wait time.Duration) *budget {
	return &budget{place: place, most: [shares]int64{most / callerShare, most / 4 * worldShare, most}, wait: wait,
		held: [shares]map[string]int64{{}, {}, nil}}
}

// Shares of one caller and of one world.
const (
	callerShare = 4 // a quarter
	worldShare  = 3 // three quarters
)

// takeRoom takes bytes for a request that has own bytes already. It waits a little for room. The error is
// fault.RateLimited if the caller's own requests leave no room, and fault.Unavailable if those of others leave none.
func (b *budget) takeRoom(ctx context.Context, by *owner, own, bytes int64) error {
	b.mu.Lock()
	if b.findFull(by, own, bytes) < 0 && !b.isAwaited() {
		b.add(by, bytes)
		b.mu.Unlock()
		return nil
	}
	w := &waiter{by: by, own: own, bytes: bytes, ready: make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	late := time.NewTimer(b.wait)
	defer late.Stop()
	select {
	case <-w.ready:
		return nil
	case <-late.C:
	case <-ctx.Done():
	}
	return b.giveUp(w)
}

// giveUp removes a waiter, and returns why it got no room.
func (b *budget) giveUp(w *waiter) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.Index(b.waiting, w)
	if at < 0 {
		return nil // it got room at the last moment
	}
	full := b.findFull(w.by, w.own, w.bytes)
	b.waiting = slices.Delete(b.waiting, at, at+1)
	b.serveWaiting()
	e := fault.New(fault.Unavailable,
		"the server has as many bytes of other requests in its %s as it takes; try again shortly", b.place)
	if full == ofCaller {
		e = fault.New(fault.RateLimited, "your other requests and answers that are under way take all of your share of the "+
			"server's %s; let them end, or send them one after another", b.place)
	}
	e.RetryAfter = retryAfter
	return e.With("limit", "bodies_"+b.place)
}

// retryAfter is a time in which a request that has stalled ends, or others are done.
const retryAfter = 2 * time.Second

// tryTake takes bytes if there is room now.
func (b *budget) tryTake(by *owner, own, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.findFull(by, own, bytes) >= 0 || b.isAwaited() {
		return false
	}
	b.add(by, bytes)
	return true
}

// giveBack returns bytes, and serves the requests that wait for them. held is 0 then.
func (b *budget) giveBack(by *owner, held *int64) {
	if *held == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(by, -*held)
	*held = 0
	b.serveWaiting()
}

// serveWaiting lets the waiters have the room that there is, in their order. The caller holds mu.
func (b *budget) serveWaiting() {
	whole := true // nobody before waits for the whole
	b.waiting = slices.DeleteFunc(b.waiting, func(w *waiter) bool {
		full := b.findFull(w.by, w.own, w.bytes)
		if full == ofAll {
			whole = false
		}
		if full >= 0 || !whole {
			return false
		}
		b.add(w.by, w.bytes)
		close(w.ready)
		return true
	})
}

// isAwaited reports whether a request waits for the whole, which goes before new ones. The caller holds mu.
func (b *budget) isAwaited() bool {
	return slices.ContainsFunc(b.waiting, func(w *waiter) bool { return b.findFull(w.by, w.own, w.bytes) == ofAll })
}

// findFull returns the first share that has no room, or -1. The caller holds mu.
func (b *budget) findFull(by *owner, own, bytes int64) int {
	for share := range shares {
		held := b.all
		if share != ofAll {
			if by[share] == "" {
				continue
			}
			held = b.held[share][by[share]]
		}
		if held+bytes > b.most[share] && held > own {
			return share
		}
	}
	return -1
}

// add counts bytes. The caller holds mu.
func (b *budget) add(by *owner, bytes int64) {
	b.all += bytes
	for share, account := range by {
		if account == "" {
			continue
		}
		if b.held[share][account] += bytes; b.held[share][account] == 0 {
			delete(b.held[share], account)
		}
	}
}

// inUse returns the bytes that requests hold.
func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all
}
