package canon_test

import (
	"context"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/memory"
)

// TestBasisReadsTheSnapshotOfItsMoment commits while a Moment is in use.
func TestBasisReadsTheSnapshotOfItsMoment(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	gm.create("Town", "Old.")
	content := func(basis *canon.ReadSet) (text string) {
		t.Helper()
		if err := s.canon.Read(basis.Record(t.Context()), gm.grant, func(snap *canon.Snapshot) error {
			c, err := snap.Find(t.Context(), "Town")
			if err == nil {
				text, err = snap.Content(t.Context(), c)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return text
	}
	var basis *canon.ReadSet
	if err := s.canon.WorldState(t.Context(), s.world, func(m canon.WorldState) {
		basis = m.Begin()
		gm.must(func(p *canon.Plan) error {
			c, err := p.Card("Town")
			if err != nil {
				return err
			}
			text := "New."
			_, err = p.Update(c, canon.Edit{Content: &text})
			return err
		})
		for range 2 {
			if text := content(basis); text != "Old." {
				t.Errorf("in the moment: %q", text)
			}
		}
		if err := s.canon.Read(basis.Record(t.Context()), gm.grant, func(*canon.Snapshot) error {
			if text := content(basis); text != "New." { // in a snapshot of its own
				t.Errorf("beside a look: %q", text)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if text := content(basis); text != "New." {
		t.Errorf("after the moment: %q", text)
	}
	if err := s.canon.WorldState(t.Context(), s.world, func(m canon.WorldState) {
		if m.IsCurrent(basis, access.LevelGM) {
			t.Error("what was read before the commit stands")
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// lateStore runs a hook once, after it opened a snapshot and before it passes the snapshot on.
type lateStore struct {
	canon.Store
	hook func()
}

func (s *lateStore) Read(ctx context.Context, f func(canon.Reader) error) error {
	return s.Store.Read(ctx, func(r canon.Reader) error {
		if hook := s.hook; hook != nil {
			s.hook = nil
			hook()
		}
		return f(r)
	})
}

// TestStaleSnapshotIsNotReused lets another call follow a commit after a Moment's snapshot was
// opened.
func TestStaleSnapshotIsNotReused(t *testing.T) {
	late := &lateStore{Store: memory.New()}
	s := newSceneOn(t, late)
	gm := s.as("gm")
	moment := func(f func(canon.WorldState)) {
		t.Helper()
		if err := s.canon.WorldState(t.Context(), s.world, f); err != nil {
			t.Fatal(err)
		}
	}
	moment(func(canon.WorldState) {})
	late.hook = func() {
		gm.create("Town", "New.")
		moment(func(canon.WorldState) {})
	}
	moment(func(m canon.WorldState) {
		if err := s.canon.Read(m.Begin().Record(t.Context()), gm.grant, func(snap *canon.Snapshot) error {
			_, err := snap.Find(t.Context(), "Town")
			return err
		}); err != nil {
			t.Error(err)
		}
	})
}
