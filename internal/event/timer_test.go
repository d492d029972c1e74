package event_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world/worldtest"
)

// TestOneProcessRunsADueSpan runs a timer in three processes on one store. Each span is handled by one of them; that of a
// process that was killed in the middle of it is handled by another after the lease.
func TestOneProcessRunsADueSpan(t *testing.T) {
	store := sqlitetest.Open(t)
	s := worldtest.Empty(t, store)
	s.Build()
	handled := map[uuid.UUID]int{}
	var killed, dead chan struct{} // closed when the next handler hangs, and when its process is gone
	timer := event.Handler{Name: "hourly", Every: time.Hour,
		Handle: func(_ context.Context, _ access.Grant, e canon.StoredEvent) error {
			if hang := killed; hang != nil {
				killed = nil
				close(hang)
				<-dead
				return nil
			}
			handled[e.ID]++
			return nil
		}}
	var processes []*event.Dispatcher
	for range 3 {
		processes = append(processes, s.Dispatcher(store, timer))
	}
	for span := range 4 {
		for n := range processes {
			s.Round(processes[(n+span)%3])
		}
		if len(handled) != span {
			t.Fatalf("%d spans were handled; want %d", len(handled), span)
		}
		s.Now = s.Now.Add(time.Hour)
	}
	hanging := make(chan struct{})
	killed, dead = hanging, make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		_, err := processes[0].Round(t.Context())
		ended <- err
	}()
	<-hanging
	next := s.Round(processes[1])
	if len(handled) != 3 || next.After(s.Now.Add(time.Hour)) {
		t.Errorf("%d spans were handled while one is leased, next %s", len(handled), next)
	}
	s.Now = s.Now.Add(2 * time.Minute)
	s.Round(processes[2])
	s.Round(processes[1])
	close(dead)
	if err := <-ended; err != nil || len(handled) != 4 {
		t.Errorf("%d spans were handled after the lease; want 4: %v", len(handled), err)
	}
	for id, n := range handled {
		if n != 1 {
			t.Errorf("%s was handled %d times", id, n)
		}
	}
}

func TestHandlersHaveTypesOrASpan(t *testing.T) {
	s := worldtest.Empty(t, sqlitetest.Open(t))
	d := s.Dispatcher(sqlitetest.Open(t))
	handle := func(context.Context, access.Grant, canon.StoredEvent) error { return nil }
	if d.Handle(event.Handler{Name: "neither", Handle: handle}) == nil ||
		d.Handle(event.Handler{Name: "both", Types: []event.Type{"Player.Move"}, Every: time.Hour, Handle: handle}) == nil {
		t.Error("a handler with neither or both is registered")
	}
}
