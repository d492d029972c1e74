package event_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

func TestPlaceChangeIsRecordedAndHandledOnce(t *testing.T) {
	var got []string
	s, d := worldtest.NewDispatcher(t, event.Handler{Name: "note", Types: []event.Type{world.LocationChanged},
		Handle: func(_ context.Context, _ access.Grant, e canon.StoredEvent) error {
			got = append(got, string(e.Payload))
			return nil
		}})
	text := "<p>Edited in the wiki.</p>"
	s.Edit("Quay", canon.Edit{Content: &text})
	s.Place("New place", "<p>Made, not changed.</p>", `{}`)
	s.Round(d)
	s.Round(d)
	s.Round(d)
	if len(got) != 1 || !strings.Contains(got[0], s.IDOf("Quay").String()) {
		t.Fatalf("handled %v", got)
	}
	s.As("user").Call("get-recent-events", `{"scope":"location","scopeId":"loc-quay"}`).Is("items.#", 1,
		"items.0.eventType", "World.Location.Changed", "items.0.status", "processed", "items.0.actorKind", "system")
	s.Edit("Cellar", canon.Edit{Content: &text})
	s.Round(d)
	s.As("user").Call("get-recent-events", `{"scope":"location","scopeId":"loc-cellar"}`).Is("items.#", 0)
	s.As("gm").Call("get-recent-events", `{"scope":"location","scopeId":"loc-cellar"}`).Is("items.#", 1)
	if len(got) != 2 {
		t.Errorf("handled %v", got)
	}
}

// TestEventsBeforeFirstRoundAreDelivered checks that a handler gets the events since the start of
// its process, not only those since its first round.
func TestEventsBeforeFirstRoundAreDelivered(t *testing.T) {
	store := sqlitetest.Open(t)
	s := worldtest.Empty(t, store)
	s.Build()
	var got []string
	text := "<p>Long ago.</p>"
	s.Edit("Chapel", canon.Edit{Content: &text})
	s.Now = s.Now.Add(time.Second)
	d := s.Dispatcher(store, event.Handler{Name: "note", Types: []event.Type{world.LocationChanged, world.PlayerMove},
		Handle: func(_ context.Context, _ access.Grant, e canon.StoredEvent) error {
			got = append(got, e.Type)
			return nil
		}})
	s.Edit("Quay", canon.Edit{Content: &text})
	s.Joins("Mira").Does("n")
	s.Round(d)
	s.Round(d)
	if strings.Join(got, " ") != "Player.Move World.Location.Changed" {
		t.Errorf("handled %v", got)
	}
}

func TestFailingHandlerIsRetriedThenDeadLettered(t *testing.T) {
	tries := 0
	broken := true
	s, d := worldtest.NewDispatcher(t, event.Handler{Name: "flaky", Types: []event.Type{world.PlayerMove},
		Handle: func(_ context.Context, _ access.Grant, e canon.StoredEvent) error {
			if tries++; tries == 3 {
				panic("a surprise")
			}
			if broken {
				return fmt.Errorf("no luck with %s", e.ID)
			}
			return nil
		}})
	status := func(want string) {
		t.Helper()
		s.As("user").Call("get-recent-events", `{"scope":"location","scopeId":"loc-square"}`).Is("items.0.status", want)
	}
	p := s.Joins("Mira")
	p.Does("n")
	status("pending")
	for i, wait := range []time.Duration{1, 2, 4, 8} {
		next := s.Round(d)
		if tries != i+1 || !next.Equal(s.Now.Add(wait*time.Second)) {
			t.Fatalf("try %d of %d: next in %s, want %d s", tries, i+1, next.Sub(s.Now), wait)
		}
		status("failed")
		s.Now = next.Add(-time.Millisecond)
		s.Round(d)
		if tries != i+1 {
			t.Fatal("tried before it was due")
		}
		s.Now = next
	}
	s.Round(d)
	status("dead_lettered")
	dead, err := d.DeadLetters(t.Context(), s.ID)
	if err != nil || len(dead) != 1 || dead[0].Attempts != 5 || len([]rune(dead[0].Event)) != 5 ||
		strings.Contains(dead[0].Problem, "0000-") || !strings.HasPrefix(dead[0].Problem, "no luck with …") {
		t.Fatalf("%+v, %v", dead, err)
	}
	s.Now = s.Now.Add(time.Hour)
	s.Round(d)
	if tries != 5 {
		t.Errorf("a dead letter was tried: %d", tries)
	}
	broken = false
	if n, err := d.Replay(t.Context(), s.ID, "ffff"); n != 0 || err != nil {
		t.Errorf("another's id: %d, %v", n, err)
	}
	if n, err := d.Replay(t.Context(), s.ID, dead[0].Event); n != 1 || err != nil {
		t.Errorf("replayed %d, %v", n, err)
	}
	s.Round(d)
	status("processed")
}

func TestSeveralProcessesHandleEachEventOnce(t *testing.T) {
	store := sqlitetest.Open(t)
	s := worldtest.Empty(t, store)
	var mu sync.Mutex
	times := map[string]int{}
	count := event.Handler{Name: "count", Types: []event.Type{world.PlayerMove},
		Handle: func(ctx context.Context, g access.Grant, e canon.StoredEvent) error {
			mu.Lock()
			defer mu.Unlock()
			times[e.ID.String()]++
			return nil
		}}
	all := []*event.Dispatcher{s.Dispatcher(store, count), s.Dispatcher(store, count), s.Dispatcher(store, count)}
	s.Build()
	s.Round(all[0])
	p := s.Joins("Mira")
	for range 10 {
		p.Does("n. s")
		s.Now = s.Now.Add(5 * time.Second)
	}
	var wait sync.WaitGroup
	for _, d := range all {
		wait.Go(func() {
			if _, err := d.Round(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(times) != 20 {
		t.Errorf("%d events were handled, want 20", len(times))
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("%s was handled %d times", id, n)
		}
	}
}

func TestNewHandlerGetsNoOldEvents(t *testing.T) {
	store := sqlitetest.Open(t)
	s := worldtest.Empty(t, store)
	s.Build()
	p := s.Joins("Mira")
	p.Does("n")
	n := 0
	d := s.Dispatcher(store, event.Handler{Name: "new", Types: []event.Type{world.PlayerMove},
		Handle: func(context.Context, access.Grant, canon.StoredEvent) error { n++; return nil }})
	s.Round(d)
	p.Does("s")
	s.Round(d)
	if n != 1 {
		t.Errorf("handled %d", n)
	}
}

func TestInvalidHandlersAreRefused(t *testing.T) {
	store := sqlitetest.Open(t)
	d := worldtest.Empty(t, store).Dispatcher(store)
	do := func(context.Context, access.Grant, canon.StoredEvent) error { return errors.New("x") }
	for _, h := range []event.Handler{{}, {Name: "a", Handle: do}, {Name: "a", Types: []event.Type{"No.Such"}, Handle: do},
		{Name: "a", Types: []event.Type{world.NPCTick}}} {
		if d.Handle(h) == nil {
			t.Errorf("%+v was taken", h)
		}
	}
	if err := d.Handle(event.Handler{Name: "a", Types: []event.Type{world.NPCTick}, Handle: do}); err != nil {
		t.Error(err)
	}
	if d.Handle(event.Handler{Name: "a", Types: []event.Type{world.NPCTick}, Handle: do}) == nil {
		t.Error("two handlers of one name")
	}
	if err := d.Handle(event.Handler{Name: "b", Types: []event.Type{world.PlayerMove}, Aside: true, Handle: do}); err != nil {
		t.Error(err)
	}
	if !d.Handles(world.NPCTick) || d.Handles(world.PlayerMove) {
		t.Error("what is handled is not told")
	}
}
