package canon_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/memory"
)

var errTorn = errors.New("torn")

// torn is a store that takes a few commits more, and then none.
type torn struct {
	canon.Store
	left int
}

func (s *torn) Write(ctx context.Context, f func(canon.Tx) error) error {
	return s.Store.Write(ctx, func(tx canon.Tx) error { return f(&tornTx{tx, s}) })
}

type tornTx struct {
	canon.Tx
	s *torn
}

func (t *tornTx) Append(ctx context.Context, c canon.StoredCommit) error {
	if t.s.left--; t.s.left < 0 {
		return errTorn
	}
	return t.Tx.Append(ctx, c)
}

// A fork takes many commits and is there after the last: one that fails between two leaves
// no world, and its name free.
func TestAForkIsWholeOrNot(t *testing.T) {
	store := &torn{Store: memory.New(), left: 1000}
	s := newSceneOn(t, store)
	s.as("gm").must(func(p *canon.Plan) error {
		for i := range 1100 {
			if _, err := p.Create(canon.NewCard{Name: fmt.Sprint("Stone ", i), Content: "grey"}); err != nil {
				return err
			}
		}
		return nil
	})
	operator := s.as("operator").grant
	fork := func(commits int) (canon.World, error) {
		store.left = commits
		return s.canon.Fork(t.Context(), operator, s.world, canon.NewWorld{Slug: "play"})
	}
	for commits := range 4 {
		if _, err := fork(commits); !errors.Is(err, errTorn) {
			t.Fatalf("after %d commits: %v", commits, err)
		}
		if _, ok, err := s.canon.WorldBySlug(t.Context(), "play"); ok || err != nil {
			t.Errorf("torn after %d commits there is a world: %t, %v", commits, ok, err)
		}
	}
	w, err := fork(4)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fork(4); !errors.Is(err, fault.Conflict) {
		t.Errorf("a second fork of the name: %v", err)
	}
	s.world = w.ID
	s.as("gm").wantContent("Stone 1099", "grey")
	s.wantRebuilt()
}
