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

// Drain configures the orderly stop of the server.
//
// The server first reports that it is not ready, and still accepts calls for Notice, so that a load
// balancer stops sending it calls. Then it ends streams, whose clients reconnect to another
// process, accepts no more connections, and gives the open calls the time Calls to end.
type Drain struct {
	Notice time.Duration `yaml:"notice" default:"0s" doc:"Time for which a stopping server still accepts calls while /readyz reports that it is not ready. Behind a load balancer set it longer than the balancer's check interval, such as 5s."`
	Calls  time.Duration `yaml:"calls" default:"10s" doc:"Time limit for the running calls after that. Calls that take longer are cancelled."`
}

// validate returns an error for settings with invalid values.
func (d Drain) validate() error {
	if d.Notice < 0 || d.Calls < 0 || d.Notice > 10*time.Minute || d.Calls > 10*time.Minute {
		return errors.New("drain: set notice and calls to 0s to 10m")
	}
	return nil
}

// errStopping is the readiness error while the server drains.
var errStopping = fault.New(fault.Unavailable,
	"the server is stopping; send the call again, and another server takes it")

// drainState records whether the server has begun to drain.
type drainState struct{ begun atomic.Bool }

// wrapReady returns a readiness check that fails once draining has begun, and otherwise calls
// parts.
func (l *drainState) wrapReady(parts func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if l.begun.Load() {
			return errStopping
		}
		return parts(ctx)
	}
}

// wrapHandler closes the connection after each answer given while draining. The client then sends
// its next call on another connection, and no call is in flight when connections are cut.
func (l *drainState) wrapHandler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.begun.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// runBehind runs work in the background until it ends. stop cancels its context and waits for it.
func runBehind(ctx context.Context, work func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); work(ctx) }()
	return func() { cancel(); <-done }
}

// announceStop makes the server not ready, and waits for the given time or until the server has
// failed by itself.
func (l *drainState) announceStop(for_ time.Duration, failed <-chan struct{}) {
	l.begun.Store(true)
	wait.Or(context.Background(), for_, failed)
}
