package wait

import (
	"sync"
	"time"
)

// Breaker is a circuit breaker: after three failures in a row it opens for a while, so that callers
// do not wait for a service that is down. It is safe for concurrent use.
type Breaker struct {
	mu     sync.Mutex
	failed int       // failures in a row; guarded by mu
	until  time.Time // guarded by mu
}

const maxFailures = 3

// Left returns the time until the Breaker closes. It is closed if the time is not positive.
func (b *Breaker) Left(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until.Sub(now)
}

// Note counts the result of a call. The third failure in a row opens the Breaker for rest.
func (b *Breaker) Note(now time.Time, failed bool, rest time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed {
		b.failed = 0
		return
	}
	if b.failed++; b.failed >= maxFailures {
		b.failed, b.until = 0, now.Add(rest)
	}
}
