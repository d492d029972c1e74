package worldtest

import (
	"context"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/event"
	"loregate/internal/job"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world"
)

// Act calls f with a grant of the system.
func (s *Scene) Act(ctx context.Context, w access.WorldID, operation, key string, f func(access.Grant) error) error {
	a, err := access.NewGuard(access.Config{}).Admit(ctx, access.Caller{Subject: "system", EveryRole: access.RoleAdmin},
		access.Request{Operation: operation, Effect: access.Write, World: w, IdempotencyKey: key})
	if err != nil {
		return err
	}
	return f(a.Grant)
}

// NewDispatcher returns a scene with a dispatcher.
func NewDispatcher(t testing.TB, handlers ...event.Handler) (*Scene, *event.Dispatcher) {
	store := sqlitetest.Open(t)
	var d *event.Dispatcher
	lazy := &lateHandled{}
	s := Empty(t, store, func(c *Setup) { c.Handled = lazy })
	d = s.Dispatcher(store, handlers...)
	lazy.Dispatcher = d
	s.Build()
	s.Round(d)
	return s, d
}

type lateHandled struct{ *event.Dispatcher }

// Dispatcher returns a dispatcher of the scene's events.
func (s *Scene) Dispatcher(store job.Deliveries, handlers ...event.Handler) *event.Dispatcher {
	s.T.Helper()
	d, err := event.New(event.Config{Canon: s.Canon, Deliveries: store, Act: s.Act, Handlers: handlers,
		Known: world.IsEventType, Change: world.PlaceChange(), Now: func() time.Time { return s.Now }})
	if err != nil {
		s.T.Fatal(err)
	}
	return d
}

// Round does a round of work of a dispatcher.
func (s *Scene) Round(d *event.Dispatcher) time.Time {
	s.T.Helper()
	next, err := d.Round(s.T.Context())
	if err != nil {
		s.T.Fatal(err)
	}
	return next
}
