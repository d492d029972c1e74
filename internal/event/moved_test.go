package event_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/job"
	"loregate/internal/store/sqlite"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/waittest"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// cursorCounter is a store of deliveries that counts the reads of cursors by world, and can run a
// function before a cursor is moved.
type cursorCounter struct {
	job.Deliveries
	cursors map[access.WorldID]int
	before  func(ctx context.Context, w access.WorldID, handler string, from uint64)
}

func (c *cursorCounter) Cursor(ctx context.Context, w access.WorldID, handler string) (uint64, error) {
	c.cursors[w]++
	return c.Deliveries.Cursor(ctx, w, handler)
}

func (c *cursorCounter) Enqueue(ctx context.Context, w access.WorldID, handler string, from, to uint64,
	list []job.Delivery) (bool, error) {
	if before := c.before; before != nil && handler == "note" {
		c.before = nil
		before(ctx, w, handler, from)
	}
	return c.Deliveries.Enqueue(ctx, w, handler, from, to, list)
}

// countMoves returns a handler that counts the moves it is given.
func countMoves(n *int) event.Handler {
	return event.Handler{Name: "note", Types: []event.Type{world.PlayerMove},
		Handle: func(context.Context, access.Grant, canon.StoredEvent) error { *n++; return nil }}
}

// A round scans exactly the worlds whose stream has moved.
func TestRoundScansOnlyMovedWorlds(t *testing.T) {
	store := sqlitetest.Open(t)
	s := worldtest.Empty(t, store)
	s.Build()
	for i := range 3 {
		if _, err := s.Canon.CreateWorld(t.Context(), s.Operator(),
			canon.NewWorld{Slug: fmt.Sprint("quiet-", i)}); err != nil {
			t.Fatal(err)
		}
	}
	handled, looks := 0, map[access.WorldID]int{}
	deliveries := &cursorCounter{Deliveries: store, cursors: map[access.WorldID]int{}}
	d, err := event.New(event.Config{Canon: s.Canon, Deliveries: deliveries,
		Handlers: []event.Handler{countMoves(&handled)}, Change: world.PlaceChange(),
		Now: func() time.Time { return s.Now },
		Act: func(ctx context.Context, w access.WorldID, operation, key string, f func(access.Grant) error) error {
			looks[w]++
			return s.Act(ctx, w, operation, key, f)
		}})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Joins("Mira")
	s.Round(d)
	if len(looks) != 4 || len(deliveries.cursors) != 4 {
		t.Fatalf("the first round looked at %d worlds and asked for the cursors of %d, want 4", len(looks),
			len(deliveries.cursors))
	}
	s.Round(d)
	clear(looks)
	clear(deliveries.cursors)
	s.Round(d)
	if len(looks)+len(deliveries.cursors) != 0 {
		t.Errorf("a round in which nothing had moved looked at %v, and asked for the cursors of %v", looks,
			deliveries.cursors)
	}
	p.Does("n")
	s.Round(d)
	if handled != 1 || len(looks) != 1 || looks[s.ID] == 0 {
		t.Errorf("handled %d, looked at %v", handled, looks)
	}
	created, err := s.Canon.CreateWorld(t.Context(), s.Operator(), canon.NewWorld{Slug: "new"})
	if err != nil {
		t.Fatal(err)
	}
	clear(looks)
	s.Round(d)
	if len(looks) != 1 || looks[created.ID] == 0 {
		t.Errorf("with a new world the round looked at %v", looks)
	}
}

// Another process may move a cursor less far than this one would, and then stop. The events that it
// did not see are still delivered.
func TestEventsMissedByOtherProcessAreDelivered(t *testing.T) {
	store := sqlitetest.Open(t)
	s := worldtest.Empty(t, store)
	s.Build()
	handled := 0
	deliveries := &cursorCounter{Deliveries: store, cursors: map[access.WorldID]int{}}
	d := s.Dispatcher(deliveries, countMoves(&handled))
	p := s.Joins("Mira")
	s.Round(d)
	deliveries.before = func(ctx context.Context, w access.WorldID, handler string, from uint64) {
		if moved, err := store.Enqueue(ctx, w, handler, from, from+1, nil); !moved || err != nil {
			t.Errorf("the other process moved the cursor: %t, %v", moved, err)
		}
	}
	p.Does("look") // the only event that the other process has seen
	p.Does("n")
	s.Round(d)
	s.Round(d)
	if handled != 1 {
		t.Errorf("handled %d, want 1", handled)
	}
}

// A world whose scan failed is scanned again, even if its stream has not moved.
func TestFailedWorldIsScannedAgain(t *testing.T) {
	store := sqlitetest.Open(t)
	s := worldtest.Empty(t, store)
	s.Build()
	handled, fails := 0, false
	outage := errors.New("outage")
	d, err := event.New(event.Config{Canon: s.Canon, Deliveries: store, Handlers: []event.Handler{countMoves(&handled)},
		Change: world.PlaceChange(),
		Now:    func() time.Time { return s.Now },
		Act: func(ctx context.Context, w access.WorldID, operation, key string, f func(access.Grant) error) error {
			if fails {
				return outage
			}
			return s.Act(ctx, w, operation, key, f)
		}})
	if err != nil {
		t.Fatal(err)
	}
	p := s.Joins("Mira")
	s.Round(d)
	p.Does("n")
	fails = true
	if _, err := d.Round(t.Context()); !errors.Is(err, outage) {
		t.Errorf("the round of the outage: %v", err)
	}
	fails = false
	s.Round(d)
	if handled != 1 {
		t.Errorf("handled %d, want 1", handled)
	}
}

// Events written by another process are handled within about a second. So are retries that become
// due in a world that does not change.
func TestRunHandlesEventsOfOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	store := sqlitetest.OpenAt(t, path)
	other, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s := worldtest.Empty(t, other)
	s.Build()
	tries := make(chan time.Time, 16)
	first := true
	d, err := event.New(event.Config{Canon: canon.New(canon.Config{Store: store}), Deliveries: store, Act: s.Act,
		Handlers: []event.Handler{{Name: "note", Types: []event.Type{world.PlayerMove},
			Handle: func(context.Context, access.Grant, canon.StoredEvent) error {
				tries <- time.Now()
				if first {
					first = false
					return errors.New("not yet")
				}
				return nil
			}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Now = time.Now()
	p := s.Joins("Mira")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); d.Run(ctx) }()
	defer func() { stop(); <-done }()
	for round := range 3 {
		s.Now = time.Now()
		p.Does([]string{"n", "s"}[round%2])
		want := 1
		if round == 0 {
			want = 2 // the first try fails, and the event is tried again after a second
		}
		for range want {
			waittest.Receive(t, tries, fmt.Sprintf("round %d: an event is handled", round))
		}
	}
}
