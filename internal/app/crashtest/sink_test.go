package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/access/accesstest"
	"loregate/internal/app/apptest"
	"loregate/internal/archive"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/store/memory"
)

// faultySink is a store of access records that can be made to fail or hang.
type faultySink struct {
	access.SegmentStore
	kept accesstest.Segments
	hang chan struct{} // non-nil: writes hang until it is closed
}

func (s *faultySink) AppendSegment(ctx context.Context, one access.Segment) error {
	if s.hang != nil {
		select {
		case <-s.hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.kept.AppendSegment(ctx, one)
}

// countRecorded counts the durable records by correlation.
func (s *faultySink) countRecorded(t *testing.T) map[string]int {
	t.Helper()
	found := map[string]int{}
	for one, err := range s.Segments(t.Context(), "p", 0) {
		if err != nil {
			t.Fatal(err)
		}
		list, err := one.Records()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			found[r.Correlation]++
		}
	}
	return found
}

// TestCrashNothingIsDoneUnrecorded makes the store of access records fail or hang. Calls are
// admitted while there is room for their records, and are then refused without effect. Once the
// store works again, every admitted call is recorded once.
func TestCrashNothingIsDoneUnrecorded(t *testing.T) {
	const room = 6
	for name, ill := range map[string]func(*faultySink) (mend func()){
		"fails": func(s *faultySink) func() { s.kept.Fail(errors.New("disk full")); return func() { s.kept.Fail(nil) } },
		"hangs": func(s *faultySink) func() { s.hang = make(chan struct{}); return func() { close(s.hang) } },
	} {
		t.Run(name, func(t *testing.T) {
			s := &faultySink{}
			s.SegmentStore = &s.kept
			mend := ill(s)
			log, err := access.NewLog(access.LogConfig{Store: s, Process: "p", Capacity: room, Every: 2 * time.Millisecond,
				Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			ops, commits := newWiki(t, log)
			done := 0
			for n := range 3 * room {
				if err := createCard(t, ops, n); err == nil {
					done++
				} else if fault.KindOf(err) != fault.Unavailable {
					t.Errorf("call %d is refused with %v, want unavailable", n, err)
				}
			}
			if done != room || commits() != room {
				t.Errorf("%d calls were let in, and %d cards made, with room for %d records", done, commits(), room)
			}
			mend()
			apptest.Eventually(t, "the log has room again", maxWait, func() bool { return log.Depth() == 0 })
			if err := createCard(t, ops, 3*room); err != nil {
				t.Errorf("after the store is well: %v", err)
			}
			if err := log.Close(t.Context()); err != nil {
				t.Error(err)
			}
			got := s.countRecorded(t)
			for _, n := range []int{0, 1, 2, 3, 4, 5, 3 * room} {
				if got[fmt.Sprint("call-", n)] != 1 {
					t.Errorf("call %d is recorded %d times", n, got[fmt.Sprint("call-", n)])
				}
			}
			if _, err := access.VerifySegments(t.Context(), s, nil); err != nil || len(got) != room+1 {
				t.Errorf("%d calls are recorded, want %d; %v", len(got), room+1, err)
			}
		})
	}
}

// newWiki returns the card wiki on a store in memory, and a function that counts its cards.
func newWiki(t *testing.T, log *access.Log) (*op.Local, func() int) {
	t.Helper()
	k := newKeeper(t, memory.New())
	surface, err := archive.New(archive.Config{Canon: k.canon})
	if err != nil {
		t.Fatal(err)
	}
	guard := access.NewGuard(access.Config{Recorder: log})
	ops, err := op.NewLocal(op.Config{Guard: guard, Surfaces: []op.Surface{surface}, Worlds: only(k.world)})
	if err != nil {
		t.Fatal(err)
	}
	return ops, func() (n int) {
		err := k.canon.Read(t.Context(), k.grant("", ""), func(l *canon.Snapshot) error {
			_, total, err := l.Cards(t.Context(), canon.Filter{}, canon.Page{Limit: 1})
			n = total.Count
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
}

// only resolves every world to the one world of the test.
type only access.WorldID

func (w only) Resolve(context.Context, access.Caller, string) (access.WorldID, error) {
	return access.WorldID(w), nil
}

func (w only) Names(context.Context, access.Caller) ([]string, error) { return []string{"main"}, nil }

func createCard(t *testing.T, ops *op.Local, n int) error {
	t.Helper()
	in, err := json.Marshal(map[string]string{"name": fmt.Sprint("Card ", n)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ops.Invoke(t.Context(), access.Caller{Subject: "clerk", EveryRole: access.RoleUser, Unlimited: true},
		op.Request{Operation: "create_card", Input: in, World: "main", Correlation: fmt.Sprint("call-", n)})
	return err
}
