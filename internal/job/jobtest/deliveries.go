// Package jobtest has the suite that every store of package job must pass.
package jobtest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/job"
)

var (
	world = access.WorldID{1}
	other = access.WorldID{2}
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func eventID(n byte) uuid.UUID { return uuid.UUID{15: n} }

func newDelivery(n byte) job.Delivery {
	return job.Delivery{World: world, Event: eventID(n), Handler: "a", Due: start, Created: start, Changed: start}
}

// TestDeliveries checks a store against the contract of job.Deliveries.
func TestDeliveries(t *testing.T, open func(*testing.T) job.Deliveries) {
	t.Run("the cursor moves once", func(t *testing.T) { cursorMoves(t, open(t)) })
	t.Run("claims are lent, and fenced", func(t *testing.T) { testClaims(t, open(t)) })
	t.Run("each goes to one of many", func(t *testing.T) { testRace(t, open(t)) })
	t.Run("worlds take turns", func(t *testing.T) { deliveriesTakeTurns(t, open(t)) })
	t.Run("dead letters are listed and revived", func(t *testing.T) { deadLetters(t, open(t)) })
}

type suite struct {
	testing.TB
	job.Deliveries
}

func (s suite) enqueueAll(from, to uint64, list ...job.Delivery) {
	s.Helper()
	if ok, err := s.Enqueue(s.Context(), world, "a", from, to, list); err != nil || !ok {
		s.Fatalf("enqueue %d to %d: %v, %v", from, to, ok, err)
	}
}

func (s suite) claimDue(now time.Time, n int, handlers ...string) []job.Delivery {
	s.Helper()
	if len(handlers) == 0 {
		handlers = []string{"a"}
	}
	list, err := s.Claim(s.Context(), handlers, access.WorldID{}, now, now.Add(time.Minute), n)
	if err != nil {
		s.Fatal(err)
	}
	return list
}

func (s suite) settleAs(d job.Delivery, state job.DeliveryState, due time.Time) bool {
	s.Helper()
	d.State, d.Due, d.Changed, d.Problem = state, due, start.Add(time.Hour), "why"
	ok, err := s.Settle(s.Context(), d)
	if err != nil {
		s.Fatal(err)
	}
	return ok
}

func cursorMoves(t *testing.T, d job.Deliveries) {
	s := suite{t, d}
	s.enqueueAll(0, 5, newDelivery(1), newDelivery(2))
	if ok, err := d.Enqueue(t.Context(), world, "a", 0, 7, []job.Delivery{newDelivery(3)}); err != nil || ok {
		t.Errorf("the cursor moved from where it was not: %v, %v", ok, err)
	}
	s.enqueueAll(5, 8, newDelivery(2), newDelivery(4))
	for w, want := range map[access.WorldID]uint64{world: 8, other: 0} {
		if at, err := d.Cursor(t.Context(), w, "a"); err != nil || at != want {
			t.Errorf("cursor %d, %v; want %d", at, err, want)
		}
	}
	if list := s.claimDue(start, 10); len(list) != 3 {
		t.Errorf("claimed %+v; want 1, 2 and 4 once each", list)
	}
	if list := s.claimDue(start, 10, "b"); len(list) != 0 {
		t.Errorf("another handler got %+v", list)
	}
	of, err := d.Of(t.Context(), world, []uuid.UUID{eventID(4), eventID(9), eventID(1)})
	if err != nil || len(of) != 2 || of[0].Event != eventID(4) || of[1].Event != eventID(1) {
		t.Errorf("of three events: %+v, %v", of, err)
	}
}

func testClaims(t *testing.T, d job.Deliveries) {
	s := suite{t, d}
	late := newDelivery(2)
	late.Due = start.Add(time.Second)
	s.enqueueAll(0, 1, newDelivery(1), late)
	if at, ok, err := d.NextDue(t.Context(), []string{"a", "b"}); err != nil || !ok || !at.Equal(start) {
		t.Errorf("next due at %v, %v, %v", at, ok, err)
	}
	s.wantPending(2)
	first := s.claimDue(start, 10)
	if len(first) != 1 || first[0].Event != eventID(1) || first[0].Fence != 1 {
		t.Fatalf("claimed %+v", first)
	}
	if again := s.claimDue(start.Add(59*time.Second), 10); len(again) != 1 || again[0].Event != eventID(2) {
		t.Errorf("a lent one was claimed: %+v", again)
	}
	second := s.claimDue(start.Add(time.Minute), 1)
	if len(second) != 1 || second[0].Event != eventID(1) || second[0].Fence != 2 {
		t.Fatalf("after the lease: %+v", second)
	}
	if s.settleAs(first[0], job.DeliveryProcessed, start) {
		t.Error("who lost the lease settled")
	}
	if !s.settleAs(second[0], job.DeliveryFailed, start.Add(2*time.Minute)) {
		t.Error("who has the lease could not settle")
	}
	third := s.claimDue(start.Add(2*time.Minute), 10)
	if len(third) != 2 || third[1].State != job.DeliveryFailed || third[1].Problem != "why" ||
		!s.settleAs(third[1], job.DeliveryProcessed, start) {
		t.Errorf("a failed one, after one whose lease ended: %+v", third)
	}
	s.wantPending(1)
	if list := s.claimDue(start.Add(time.Hour), 10); len(list) != 1 || list[0].Event != eventID(2) {
		t.Errorf("a processed one was claimed: %+v", list)
	}
}

func (s suite) wantPending(want int) {
	s.Helper()
	if n, err := s.Pending(s.Context()); err != nil || n != want {
		s.Errorf("%d pending, %v; want %d", n, err, want)
	}
}

func testRace(t *testing.T, d job.Deliveries) {
	s := suite{t, d}
	var list []job.Delivery
	for i := range 60 {
		list = append(list, newDelivery(byte(i)))
	}
	s.enqueueAll(0, 60, list...)
	var got atomic.Int64
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for {
				mine, err := d.Claim(t.Context(), []string{"a"}, access.WorldID{}, start, start.Add(time.Hour), 7)
				if err != nil || len(mine) == 0 {
					return
				}
				got.Add(int64(len(mine)))
			}
		})
	}
	all.Wait()
	if got.Load() != 60 {
		t.Errorf("60 deliveries were claimed %d times", got.Load())
	}
}

// A world with many deliveries does not keep those of another world waiting.
func deliveriesTakeTurns(t *testing.T, d job.Deliveries) {
	s := suite{t, d}
	var many []job.Delivery
	for i := range 20 {
		many = append(many, newDelivery(byte(i)))
	}
	s.enqueueAll(0, 20, many...)
	late := newDelivery(100)
	late.World, late.Due = other, start.Add(time.Second)
	if ok, err := d.Enqueue(t.Context(), other, "a", 0, 1, []job.Delivery{late}); err != nil || !ok {
		t.Fatal(ok, err)
	}
	now, after := start.Add(time.Minute), access.WorldID{}
	for i, want := range []uuid.UUID{eventID(0), eventID(100), eventID(1), eventID(2)} {
		list, err := d.Claim(t.Context(), []string{"a"}, after, now, now.Add(time.Minute), 1)
		if err != nil || len(list) != 1 || list[0].Event != want {
			t.Fatalf("turn %d: %+v, %v, want %s", i, list, err, want)
		}
		after = list[0].World
	}
}

func deadLetters(t *testing.T, d job.Deliveries) {
	s := suite{t, d}
	s.enqueueAll(0, 1, newDelivery(1))
	s.settleAs(s.claimDue(start, 1)[0], job.DeliveryDead, start)
	if _, ok, err := d.NextDue(t.Context(), []string{"a"}); ok || err != nil {
		t.Errorf("a dead letter is due: %v", err)
	}
	for w, want := range map[access.WorldID]int{world: 1, other: 0} {
		if dead, err := d.Dead(t.Context(), w, 10); err != nil || len(dead) != want {
			t.Errorf("dead letters: %+v, %v; want %d", dead, err, want)
		}
	}
	for i, want := range []bool{true, false} {
		if ok, err := d.Revive(t.Context(), world, eventID(1), "a", start.Add(time.Hour)); err != nil || ok != want {
			t.Errorf("revival %d: %v, %v", i, ok, err)
		}
	}
	if again := s.claimDue(start.Add(time.Hour), 1); len(again) != 1 || again[0].Attempts != 0 ||
		again[0].State != job.DeliveryPending || again[0].Problem != "" {
		t.Errorf("revived: %+v", again)
	}
}
