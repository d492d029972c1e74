package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"loregate/internal/canon"
	"loregate/internal/store/postgres/pgtest"
)

// TestUnsentStatementsSurviveNextFailure fails a write right after one whose last statements are
// still queued for the commit.
func TestUnsentStatementsSurviveNextFailure(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: pgtest.Empty(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	ctx := t.Context()
	w := &writer{s: s}
	defer w.Close()
	one := func(f func(*tx) error, first bool) error {
		given := w.StartWrite()
		return w.EndWrite(given, f(given), first, true)
	}
	if err := w.Begin(); err != nil {
		t.Fatal(err)
	}
	repeat := canon.Repeat{Account: "ann", Key: "k", Stream: "s", Seq: 1, Expires: time.Now()}
	if err := one(func(t *tx) error { return t.PutRepeat(ctx, repeat) }, true); err != nil {
		t.Errorf("the first: %v", err)
	}
	if err := w.Save(); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	if err := one(func(*tx) error { return no }, false); !errors.Is(err, no) {
		t.Errorf("the second: %v", err)
	}
	if err := errors.Join(w.UndoWrite(), w.Commit()); err != nil {
		t.Fatal(err)
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
