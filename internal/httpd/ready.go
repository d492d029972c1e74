package httpd

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"loregate/internal/fault"
)

// serveReady reports whether the store answers and takes writes.
func (s *server) serveReady(x *exchange, _ map[string]string) {
	if err := s.checkReady(x); err != nil {
		s.writeError(x, "", err)
		return
	}
	body := map[string]any{"status": "ready"}
	if s.StoreState != nil {
		body["store"] = s.StoreState()
	}
	s.writeJSON(x, http.StatusOK, body)
}

// checkReady checks that the store answers and takes writes. On failure, callers get the message
// with which a call would be refused; the log gets the details, once for each reason.
func (s *server) checkReady(x *exchange) error {
	if s.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), 2*time.Second)
	defer cancel()
	err := s.Ready(ctx)
	if err == nil {
		if since := s.readiness.setReason("", time.Now()); !since.IsZero() {
			s.Logger.InfoContext(ctx, "ready again", "after", time.Since(since).Round(time.Millisecond))
		}
		return nil
	}
	e := fault.New(fault.Unavailable, "a required part of the server does not respond; try again shortly")
	if said := (*fault.Error)(nil); errors.As(err, &said) && said.Kind == fault.Unavailable {
		e.Message = said.Message
	}
	if since := s.readiness.setReason(e.Message, time.Now()); !since.IsZero() {
		s.Logger.WarnContext(ctx, "not ready; logged once for each reason", "correlation_id", x.correlation, "error", err)
	}
	e.RetryAfter = time.Second
	return e
}

// readiness is the last answer of /readyz, which balancers ask every second: the log gets its changes.
type readiness struct {
	mu     sync.Mutex // guards the rest
	reason string     // "" if the server is ready
	since  time.Time  // when it was not ready for the first time
}

// setReason stores an answer. If it is another one than the last, it returns the time since which the
// server is, or was, not ready; otherwise the zero time.
func (r *readiness) setReason(reason string, now time.Time) (since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if reason == r.reason {
		return time.Time{}
	}
	if r.reason == "" {
		r.since = now
	}
	r.reason = reason
	return r.since
}
