package world

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
	"loregate/internal/job"
	"loregate/internal/store/sqlite/sqlitetest"
)

// act calls f with a grant of the system.
func (s *scene) act(ctx context.Context, w access.WorldID, operation, key string, f func(access.Grant) error) error {
	a, err := access.NewGuard(access.Config{}).Admit(ctx, access.Caller{Subject: "system", EveryRole: access.RoleAdmin},
		access.Request{Operation: operation, Effect: access.Write, World: w, IdempotencyKey: key})
	if err != nil {
		return err
	}
	return f(a.Grant)
}

// newDispatcherScene returns a scene with a dispatcher.
func newDispatcherScene(t testing.TB, handlers ...Handler) (*scene, *Dispatcher) {
	store := sqlitetest.Open(t)
	var d *Dispatcher
	lazy := &lateHandled{}
	s := emptyScene(t, store, func(c *Config) { c.Handled = lazy })
	d = s.dispatcher(store, handlers...)
	lazy.Dispatcher = d
	s.build()
	s.round(d)
	return s, d
}

type lateHandled struct{ *Dispatcher }

func (s *scene) dispatcher(store job.Deliveries, handlers ...Handler) *Dispatcher {
	s.t.Helper()
	d, err := NewDispatcher(DispatchConfig{Canon: s.canon, Deliveries: store, Act: s.act, Handlers: handlers,
		Now: func() time.Time { return s.now }})
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *scene) round(d *Dispatcher) time.Time {
	s.t.Helper()
	next, err := d.Round(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return next
}

func TestPlaceChangeIsRecordedAndHandledOnce(t *testing.T) {
	var got []string
	s, d := newDispatcherScene(t, Handler{Name: "note", Types: []EventType{LocationChanged},
		Handle: func(_ context.Context, _ access.Grant, e canon.StoredEvent) error {
			got = append(got, string(e.Payload))
			return nil
		}})
	text := "<p>Edited in the wiki.</p>"
	s.edit("Quay", canon.Edit{Content: &text})
	s.place("New place", "<p>Made, not changed.</p>", `{}`)
	s.round(d)
	s.round(d)
	s.round(d)
	if len(got) != 1 || !strings.Contains(got[0], s.idOf("Quay").String()) {
		t.Fatalf("handled %v", got)
	}
	s.as("user").call("get-recent-events", `{"scope":"location","scopeId":"loc-quay"}`).is("items.#", 1,
		"items.0.eventType", "World.Location.Changed", "items.0.status", "processed", "items.0.actorKind", "system")
	s.edit("Cellar", canon.Edit{Content: &text})
	s.round(d)
	s.as("user").call("get-recent-events", `{"scope":"location","scopeId":"loc-cellar"}`).is("items.#", 0)
	s.as("gm").call("get-recent-events", `{"scope":"location","scopeId":"loc-cellar"}`).is("items.#", 1)
	if len(got) != 2 {
		t.Errorf("handled %v", got)
	}
}

// TestEventsBeforeFirstRoundAreDelivered checks that a handler gets the events since the start of
// its process, not only those since its first round.
func TestEventsBeforeFirstRoundAreDelivered(t *testing.T) {
	store := sqlitetest.Open(t)
	s := emptyScene(t, store)
	s.build()
	var got []string
	text := "<p>Long ago.</p>"
	s.edit("Chapel", canon.Edit{Content: &text})
	s.now = s.now.Add(time.Second)
	d := s.dispatcher(store, Handler{Name: "note", Types: []EventType{LocationChanged, PlayerMove},
		Handle: func(_ context.Context, _ access.Grant, e canon.StoredEvent) error {
			got = append(got, e.Type)
			return nil
		}})
	s.edit("Quay", canon.Edit{Content: &text})
	s.joins("Mira").does("n")
	s.round(d)
	s.round(d)
	if strings.Join(got, " ") != "Player.Move World.Location.Changed" {
		t.Errorf("handled %v", got)
	}
}

func TestFailingHandlerIsRetriedThenDeadLettered(t *testing.T) {
	tries := 0
	broken := true
	s, d := newDispatcherScene(t, Handler{Name: "flaky", Types: []EventType{PlayerMove},
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
		s.as("user").call("get-recent-events", `{"scope":"location","scopeId":"loc-square"}`).is("items.0.status", want)
	}
	p := s.joins("Mira")
	p.does("n")
	status("pending")
	for i, wait := range []time.Duration{1, 2, 4, 8} {
		next := s.round(d)
		if tries != i+1 || !next.Equal(s.now.Add(wait*time.Second)) {
			t.Fatalf("try %d of %d: next in %s, want %d s", tries, i+1, next.Sub(s.now), wait)
		}
		status("failed")
		s.now = next.Add(-time.Millisecond)
		s.round(d)
		if tries != i+1 {
			t.Fatal("tried before it was due")
		}
		s.now = next
	}
	s.round(d)
	status("dead_lettered")
	dead, err := d.DeadLetters(t.Context(), s.id)
	if err != nil || len(dead) != 1 || dead[0].Attempts != 5 || len([]rune(dead[0].Event)) != 5 ||
		strings.Contains(dead[0].Problem, "0000-") || !strings.HasPrefix(dead[0].Problem, "no luck with …") {
		t.Fatalf("%+v, %v", dead, err)
	}
	s.now = s.now.Add(time.Hour)
	s.round(d)
	if tries != 5 {
		t.Errorf("a dead letter was tried: %d", tries)
	}
	broken = false
	if n, err := d.Replay(t.Context(), s.id, "ffff"); n != 0 || err != nil {
		t.Errorf("another's id: %d, %v", n, err)
	}
	if n, err := d.Replay(t.Context(), s.id, dead[0].Event); n != 1 || err != nil {
		t.Errorf("replayed %d, %v", n, err)
	}
	s.round(d)
	status("processed")
}

func TestSeveralProcessesHandleEachEventOnce(t *testing.T) {
	store := sqlitetest.Open(t)
	s := emptyScene(t, store)
	var mu sync.Mutex
	times := map[string]int{}
	count := Handler{Name: "count", Types: []EventType{PlayerMove},
		Handle: func(ctx context.Context, g access.Grant, e canon.StoredEvent) error {
			mu.Lock()
			defer mu.Unlock()
			times[e.ID.String()]++
			return nil
		}}
	all := []*Dispatcher{s.dispatcher(store, count), s.dispatcher(store, count), s.dispatcher(store, count)}
	s.build()
	s.round(all[0])
	p := s.joins("Mira")
	for range 10 {
		p.does("n. s")
		s.now = s.now.Add(5 * time.Second)
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
	s := emptyScene(t, store)
	s.build()
	p := s.joins("Mira")
	p.does("n")
	n := 0
	d := s.dispatcher(store, Handler{Name: "new", Types: []EventType{PlayerMove},
		Handle: func(context.Context, access.Grant, canon.StoredEvent) error { n++; return nil }})
	s.round(d)
	p.does("s")
	s.round(d)
	if n != 1 {
		t.Errorf("handled %d", n)
	}
}

func TestInvalidHandlersAreRefused(t *testing.T) {
	d := &Dispatcher{}
	do := func(context.Context, access.Grant, canon.StoredEvent) error { return errors.New("x") }
	for _, h := range []Handler{{}, {Name: "a", Handle: do}, {Name: "a", Types: []EventType{"No.Such"}, Handle: do},
		{Name: "a", Types: []EventType{NPCTick}}} {
		if d.Handle(h) == nil {
			t.Errorf("%+v was taken", h)
		}
	}
	if err := d.Handle(Handler{Name: "a", Types: []EventType{NPCTick}, Handle: do}); err != nil {
		t.Error(err)
	}
	if d.Handle(Handler{Name: "a", Types: []EventType{NPCTick}, Handle: do}) == nil {
		t.Error("two handlers of one name")
	}
	if !d.Handles(NPCTick) || d.Handles(PlayerMove) {
		t.Error("what is handled is not told")
	}
}

func TestAcceptedExitIsCreatedOnce(t *testing.T) {
	store := sqlitetest.Open(t)
	s := emptyScene(t, store)
	d := s.dispatcher(store, ExitHandler(s.canon))
	s.build()
	s.round(d)
	tell := func(payload string) {
		s.change(func(p *canon.Plan) error {
			return p.Event(canon.Event{Type: string(ExitCreated), Scope: string(GlobalScope), Payload: []byte(payload),
				Version: 1})
		})
		s.round(d)
	}
	quay, tower, cellar := s.idOf("Quay").String(), s.idOf("Tower").String(), s.idOf("Cellar").String()
	tell(`{"fromId":"` + tower + `","toId":"` + quay + `","direction":"out","description":"A rope."}`)
	s.as("user").call("list-exits", `{"locationId":"loc-tower"}`).is("exits.#", 2, "exits.1.direction", "out",
		"exits.1.toLocationId", quay, "exits.1.description", "A rope.")
	tell(`{"fromId":"` + tower + `","toId":"` + cellar + `","direction":"out"}`)
	tell(`{"fromId":"` + tower + `","direction":"in"}`)
	s.as("gm").call("list-exits", `{"locationId":"loc-tower"}`).is("exits.#", 2, "exits.1.toLocationId", quay)
	tell(`{"fromId":"` + tower + `","toId":"` + s.idOf("Oda Tarn").String() + `","direction":"in"}`)
	if list, err := d.cfg.Deliveries.Claim(t.Context(), []string{"exits"}, s.now.Add(time.Second), s.now, 9); err != nil ||
		len(list) != 1 || list[0].State != job.DeliveryFailed {
		t.Errorf("an exit to a person: %+v, %v", list, err)
	}
}
