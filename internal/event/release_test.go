package event_test

import (
	"context"
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// Deliveries claimed by a process that is stopped are handled by another at once, not only after
// their lease has ended.
func TestStoppedProcessReleasesDeliveries(t *testing.T) {
	begun, handled := make(chan struct{}, 1), 0
	var stuck bool
	note := event.Handler{Name: "note", Types: []event.Type{world.LocationChanged},
		Handle: func(ctx context.Context, _ access.Grant, _ canon.StoredEvent) error {
			if stuck {
				begun <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}
			handled++
			return nil
		}}
	store := sqlitetest.Open(t)
	s := worldtest.Empty(t, store)
	d := s.Dispatcher(store, note)
	s.Build()
	s.Round(d)
	for _, place := range []string{"Quay", "Cellar"} {
		text := "<p>Edited " + place + "</p>"
		s.Edit(place, canon.Edit{Content: &text})
	}
	stuck = true
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := d.Round(ctx)
		done <- err
	}()
	<-begun
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the round that was stopped: %v", err)
	}
	stuck = false
	other := s.Dispatcher(store, note)
	s.Round(other) // no lease ends, since the clock stands still
	if handled != 2 {
		t.Errorf("%d of 2 handled at once", handled)
	}
}
