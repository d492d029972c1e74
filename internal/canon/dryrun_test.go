package canon_test

import (
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// The ChangeSet of a dry run is committed exactly as it was planned, or not at all.
func TestCollectedDryRunIsCommittedExactly(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	write := func(text string) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			c, ok, err := p.Has("Quay")
			if err != nil {
				return err
			}
			if !ok {
				_, err = p.Create(canon.NewCard{Name: "Quay", Content: text})
				return err
			}
			_, err = p.Update(c, canon.Edit{Content: &text})
			return err
		}
	}
	if _, err := s.canon.Update(t.Context(), gm.grant, write("one")); err != nil {
		t.Fatal(err)
	}
	runs, err := s.canon.DryRuns(gm.grant, func(g access.Grant) error {
		_, err := s.canon.Update(t.Context(), g, write("two"))
		return err
	})
	if err != nil || len(runs) != 1 || !runs[0].Receipt.DryRun {
		t.Fatalf("collected %+v, %v", runs, err)
	}
	set := runs[0].Set
	if b, ok := set.Body(set.Changes[0].Card.Content); !ok || string(b) != "two" {
		t.Errorf("the collected content is %q", b)
	}
	if _, err := s.canon.Commit(t.Context(), gm.grant, set); err != nil {
		t.Fatal(err)
	}
	if _, err := s.canon.Commit(t.Context(), gm.grant, set); !canon.Moved(err) {
		t.Errorf("the same again, on a card that has moved: %v", err)
	}
}

// DryRuns returns the dry runs of its own grant alone, in order, with the error that ended them.
func TestDryRunsCollectsItsOwnGrant(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	create := func(g access.Grant, name string) error {
		_, err := s.canon.Update(t.Context(), g, func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: name})
			return err
		})
		return err
	}
	var kept access.Grant
	runs, err := s.canon.DryRuns(gm.grant, func(g access.Grant) error {
		kept = g
		inner, err := s.canon.DryRuns(gm.grant, func(g access.Grant) error { return create(g, "Inner") })
		if len(inner) != 1 || inner[0].Set.Changes[0].Card.Part != "Inner" {
			t.Errorf("the inner call collected %+v", inner)
		}
		return errors.Join(err, create(g, "One"), create(g.Part("1", [32]byte{}), "Two"),
			create(gm.grant.DryRun(), "Beside"), create(g, "a/b"))
	})
	if err == nil || len(runs) != 2 || runs[0].Set.Changes[0].Card.Part != "One" ||
		runs[1].Set.Changes[0].Card.Part != "Two" {
		t.Errorf("collected %+v, %v", runs, err)
	}
	if err := create(kept, "Late"); err != nil {
		t.Errorf("a dry run after the call has returned: %v", err)
	}
	if _, err := s.canon.Update(t.Context(), gm.grant, func(p *canon.Plan) error {
		_, ok, err := p.Has("One")
		if ok {
			t.Error("a dry run was committed")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
