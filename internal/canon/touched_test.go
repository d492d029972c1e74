package canon_test

import (
	"fmt"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

func TestTouched(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *scene)
		want   bool
	}{
		{"nothing", func(*scene) {}, false},
		{"another type", func(s *scene) { s.as("gm").create("Hall", "cold") }, false},
		{"an edit", func(s *scene) { s.as("gm").edit("Moor", "wet") }, true},
		{"an edit before another type",
			func(s *scene) { s.as("gm").edit("Moor", "wet"); s.as("gm").create("Hall", "cold") }, true},
		{"an edit out of sight", func(s *scene) { s.as("gm").edit("Cell", "wet") }, true},
		{"a label", func(s *scene) { s.as("gm").label("Moor", access.LevelGM) }, true},
		{"more commits than are followed", func(s *scene) {
			s.as("gm").create("Hall", "")
			for i := range 2048 {
				s.as("gm").edit("Hall", fmt.Sprint(i))
			}
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene(t)
			s.as("gm").must(func(p *canon.Plan) error {
				hidden := access.NewLabel(access.LevelGM)
				_, err := p.Create(canon.NewCard{Name: "Moor", Type: "Phrase"})
				if err == nil {
					_, err = p.Create(canon.NewCard{Name: "Cell", Type: "Phrase", Label: &hidden})
				}
				return err
			})
			var since canon.Seq
			look := func(f func(snap *canon.Snapshot) error) {
				if err := s.canon.Read(t.Context(), s.as("user").grant, f); err != nil {
					t.Fatal(err)
				}
			}
			look(func(snap *canon.Snapshot) error { since = snap.Now(); return nil })
			test.change(s)
			look(func(snap *canon.Snapshot) error {
				if got, err := snap.Touched(t.Context(), since, "phrase"); err != nil || got != test.want {
					t.Errorf("touched: %t, %v, want %t", got, err, test.want)
				}
				return nil
			})
		})
	}
}
