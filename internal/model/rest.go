package model

import (
	"context"
	"errors"
	"sync"
	"time"

	"loregate/internal/fault"
)

// breaker is a circuit breaker: after several failed calls in a row it refuses calls for a while,
// so that callers do not wait for an endpoint that is down.
type breaker struct {
	mu     sync.Mutex
	failed int       // failed calls in a row; guarded by mu
	until  time.Time // guarded by mu
}

const (
	openAfter = 3
	openFor   = 30 * time.Second
)

// timeLeft returns the time until calls are allowed again.
func (r *breaker) timeLeft(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.until.Sub(now)
}

// noteResult counts the result of a call. A call that its caller canceled does not count.
func (r *breaker) noteResult(ctx context.Context, now time.Time, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if fault.KindOf(err) != fault.Unavailable || err == nil {
		r.failed = 0
		return
	}
	if r.failed++; r.failed >= openAfter {
		r.failed, r.until = 0, now.Add(openFor)
	}
}

func breakerOpenError(left time.Duration) error {
	e := fault.New(fault.Unavailable, "the model failed to answer several times in a row; it is called again in %d s",
		fault.RetrySeconds(left))
	e.RetryAfter = left
	return e
}
