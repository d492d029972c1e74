package model

import (
	"context"
	"errors"
	"sync"
	"time"

	"loregate/internal/fault"
)

// rest leaves an endpoint alone that has failed several calls in a row, so that nobody
// waits for what will not come.
type rest struct {
	mu     sync.Mutex
	failed int       // calls in a row. Guarded by mu
	until  time.Time // guarded by mu
}

const (
	restAfter = 3
	restFor   = 30 * time.Second
)

// left is how long the endpoint is left alone yet.
func (r *rest) left(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.until.Sub(now)
}

// note takes in how a call ended. One whose caller has gone says nothing of the endpoint.
func (r *rest) note(ctx context.Context, now time.Time, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if fault.KindOf(err) != fault.Unavailable || err == nil {
		r.failed = 0
		return
	}
	if r.failed++; r.failed >= restAfter {
		r.failed, r.until = 0, now.Add(restFor)
	}
}

func resting(left time.Duration) error {
	e := fault.New(fault.Unavailable, "the model has not answered several times in a row; it is asked again in %d s", fault.RetrySeconds(left))
	e.RetryAfter = left
	return e
}
