package canon_test

import (
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// TestABasisReadsTheWorldOfItsMoment commits while a moment is looked at.
func TestABasisReadsTheWorldOfItsMoment(t *testing.T) {
	s := newScene(t)
	gm := s.as("gm")
	gm.create("Town", "Old.")
	content := func(basis *canon.Basis) (text string) {
		t.Helper()
		if err := s.canon.Look(basis.Rest(t.Context()), gm.grant, func(l *canon.Look) error {
			c, err := l.Find(t.Context(), "Town")
			if err == nil {
				text, err = l.Content(t.Context(), c)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return text
	}
	var basis *canon.Basis
	if err := s.canon.Moment(t.Context(), s.world, func(m canon.Moment) {
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
		if err := s.canon.Look(basis.Rest(t.Context()), gm.grant, func(*canon.Look) error {
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
	if err := s.canon.Moment(t.Context(), s.world, func(m canon.Moment) {
		if m.Stands(basis, access.LevelGM) {
			t.Error("what was read before the commit stands")
		}
	}); err != nil {
		t.Fatal(err)
	}
}
