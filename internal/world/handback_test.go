package world

import (
	"context"
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Deliveries claimed by a process that is stopped are handled by another at once, not only after
// their lease has ended.
func TestStoppedProcessReleasesDeliveries(t *testing.T) {
	begun, handled := make(chan struct{}, 1), 0
	var stuck bool
	s, d := newDispatcherScene(t, Handler{Name: "note", Types: []EventType{LocationChanged},
		Handle: func(ctx context.Context, _ access.Grant, _ canon.StoredEvent) error {
			if stuck {
				begun <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}
			handled++
			return nil
		}})
	for _, place := range []string{"Quay", "Cellar"} {
		text := "<p>Edited " + place + "</p>"
		s.edit(place, canon.Edit{Content: &text})
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
	other := s.dispatcher(d.cfg.Deliveries, d.cfg.Handlers...)
	s.round(other) // no lease ends, since the clock stands still
	if handled != 2 {
		t.Errorf("%d of 2 handled at once", handled)
	}
}
