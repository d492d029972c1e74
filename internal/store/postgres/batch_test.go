package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"loregate/internal/canon"
	"loregate/internal/store/postgres/pgtest"
)

// TestWhatALoneWriteHasNotSentOutlivesTheNext has a write fail right behind one whose last
// statements wait for the commit.
func TestWhatALoneWriteHasNotSentOutlivesTheNext(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: pgtest.Empty(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b := batch{s: s}
	defer b.drop()
	step := func(f func(*tx) error) *waiter {
		j := &waiter{turn: make(chan *tx, 1), ran: make(chan error, 1), done: make(chan error, 1)}
		go func() { j.ran <- f(<-j.turn) }()
		b.step(j)
		return j
	}
	ctx := t.Context()
	repeat := canon.Repeat{Account: "ann", Key: "k", Stream: "s", Seq: 1, Expires: time.Now()}
	kept := step(func(t *tx) error { return t.PutRepeat(ctx, repeat) })
	no := errors.New("no")
	refused := step(func(*tx) error { return no })
	b.finish()
	if err := <-kept.done; err != nil {
		t.Errorf("the first: %v", err)
	}
	if err := <-refused.done; !errors.Is(err, no) {
		t.Errorf("the second: %v", err)
	}
	err = s.Read(context.Background(), func(r canon.Reader) error {
		if _, found, err := r.Repeat(ctx, "ann", "k"); err != nil || !found {
			t.Errorf("what was acknowledged is there: %v, %v", found, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
