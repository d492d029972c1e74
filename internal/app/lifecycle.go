package app

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"loregate/internal/fault"
	"loregate/internal/wait"
)

// Drain is how the server stops when it is told to.
//
// It says first that it is not ready, and takes calls on for Notice, so that a balancer
// sends it nothing more. Then it ends streams, whose clients come back to another process,
// takes no more connections, and gives the calls under way Calls to end.
type Drain struct {
	Notice time.Duration `yaml:"notice" default:"0s" doc:"How long a server that is stopping still takes calls, with /readyz saying no: longer than a balancer takes to see it. Behind one: 5s."`
	Calls  time.Duration `yaml:"calls" default:"10s" doc:"How long the calls under way then may take to end; what is left is cut off."`
}

// check reports settings that cannot be.
func (d Drain) check() error {
	if d.Notice < 0 || d.Calls < 0 || d.Notice > 10*time.Minute || d.Calls > 10*time.Minute {
		return errors.New("drain: notice and calls are 0s to 10m")
	}
	return nil
}

// errStopping is what readiness answers while the server drains.
var errStopping = fault.New(fault.Unavailable, "the server is stopping; another takes its calls")

// leaving knows whether the server is on its way out.
type leaving struct{ begun atomic.Bool }

// ready is a readiness that ends when leaving begins.
func (l *leaving) ready(parts func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if l.begun.Load() {
			return errStopping
		}
		return parts(ctx)
	}
}

// handler has each answer given while leaving end its connection: a client that knows of
// the end sends its next call on another one, and no call is on its way when connections
// are cut.
func (l *leaving) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.begun.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// notice makes the server not ready, and waits until that will have been seen or the
// server has failed by itself.
func (l *leaving) notice(for_ time.Duration, failed <-chan struct{}) {
	l.begun.Store(true)
	wait.Or(context.Background(), for_, failed)
}
