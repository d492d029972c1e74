package canon_test

import (
	"fmt"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// TestChangesSinceShowsVisibleChanges keeps two cards that a user has read, changes the world, and
// checks the reported changes.
func TestChangesSinceShowsVisibleChanges(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *scene)
		want   string
	}{
		{"nothing", func(*scene) {}, "[] []"},
		{"an edit", func(s *scene) { s.as("gm").edit("Moor", "wet") }, "[Moor] []"},
		{"two edits of one", func(s *scene) { s.as("gm").edit("Moor", "wet"); s.as("gm").edit("Moor", "dry") }, "[Moor] []"},
		{"a hidden edit", func(s *scene) { s.as("gm").edit("Cell", "shut") }, "[] []"},
		{"a new card", func(s *scene) { s.as("gm").create("Fen", "") }, "[Fen] []"},
		{"a new card, then an edit of it", func(s *scene) { s.as("gm").create("Fen", ""); s.as("gm").edit("Fen", "low") },
			"[Fen] []"},
		{"a hidden new card", func(s *scene) { s.as("gm").createAt(access.LevelGM, "Pit", "") }, "[] []"},
		{"a parent for an orphan", func(s *scene) { s.as("gm").create("LOST", "") }, "[LOST] [] wide"},
		{"a label", func(s *scene) { s.as("gm").label("Moor", access.LevelGM) }, "[] [Moor] wide"},
		{"a hidden card is shown", func(s *scene) { s.as("gm").label("Cell", access.LevelUser) }, "[Cell] [] wide"},
		{"trash", func(s *scene) {
			if err := s.as("gm").on("Moor", func(p *canon.Plan, c canon.Card) error { return p.Trash(c) }); err != nil {
				s.t.Fatal(err)
			}
		}, "[] [Moor] wide"},
		{"settings", func(s *scene) {
			s.as("admin").must(func(p *canon.Plan) error { return p.Configure("T", canon.Settings{}) })
		}, "[] [] wide"},
		{"an erased body", func(s *scene) {
			if err := s.as("operator").on("Moor", func(p *canon.Plan, c canon.Card) error {
				list, _, err := p.Versions(t.Context(), c.ID, canon.Page{Limit: 1})
				if err != nil {
					return err
				}
				return p.Purge(c, list[0])
			}); err != nil {
				s.t.Fatal(err)
			}
		}, "lost"},
		{"more commits than are followed", func(s *scene) {
			for i := range 257 {
				s.as("gm").edit("Moor", fmt.Sprint(i))
			}
		}, "lost"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene(t)
			gm, user := s.as("gm"), s.as("user")
			gm.create("Moor", "peat")
			gm.createAt(access.LevelGM, "Cell", "dark")
			gm.must(func(p *canon.Plan) error {
				_, err := p.Create(canon.NewCard{Name: "Lost+Mill", Orphan: true})
				return err
			})
			known, at := map[canon.CardID]string{}, canon.Seq(0)
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(user.read(func(snap *canon.Snapshot) error {
				cards, _, err := snap.Cards(t.Context(), canon.Filter{}, canon.Page{Limit: 10})
				for _, c := range cards {
					known[c.ID] = c.Name
				}
				at = snap.Now()
				return err
			}))
			test.change(s)
			must(user.read(func(snap *canon.Snapshot) error {
				d, ok, err := snap.ChangesSince(t.Context(), at, func(id canon.CardID) bool { return known[id] != "" })
				got := "lost"
				if ok {
					names, gone := []string{}, []string{}
					for _, c := range d.Cards {
						names = append(names, c.Name)
					}
					for _, id := range d.Gone {
						gone = append(gone, known[id])
					}
					got = fmt.Sprint(names, gone)
				}
				if d.Wide {
					got += " wide"
				}
				if got != test.want {
					t.Errorf("the drift is %s, want %s", got, test.want)
				}
				if _, ok, _ := snap.ChangesSince(t.Context(), snap.Now()+1, nil); ok {
					t.Error("what comes later than the snapshot was followed")
				}
				return err
			}))
		})
	}
}

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
