package canon_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// TestTablesFollowFromTheStream makes random changes, some of which are refused. It checks that the
// tables equal their replay, that a narrower view never sees more, and that nobody is shown a name
// that a card had while it was hidden from them.
func TestTablesFollowFromTheStream(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newScene(t)
			r := rand.New(rand.NewPCG(seed, 1))
			seen := seenNames{}
			for range 120 {
				who := []string{"user", "gm", "admin", "alice"}[r.IntN(4)]
				s.as(who).do(func(p *canon.Plan) error { return randomStep(t, r, p) })
				seen.note(s)
			}
			s.wantRebuilt()
			wantNarrowing(t, s)
			seen.wantNoOtherNames(s)
		})
	}
}

func randomName(r *rand.Rand) string {
	parts := []string{"Ash", "Birch", "Cedar", "GM", "Dune", "tags"}
	name := parts[r.IntN(len(parts))]
	for range r.IntN(3) {
		name += "+" + parts[r.IntN(len(parts))]
	}
	return name
}

func randomStep(t *testing.T, r *rand.Rand, p *canon.Plan) error {
	if r.IntN(6) == 0 {
		return restoreSomething(t, p)
	}
	if r.IntN(3) == 0 {
		label := access.NewLabel(access.Level(1+r.IntN(3)), "alice")
		_, err := p.Create(canon.NewCard{Name: randomName(r), Label: &label, Orphan: r.IntN(4) == 0,
			Content: fmt.Sprintf("see [[%s]] and {{%s}}", randomName(r), randomName(r))})
		return err
	}
	c, err := p.Card(randomName(r))
	if err != nil {
		return err
	}
	switch r.IntN(5) {
	case 0:
		_, err = p.Rename(c, randomName(r))
	case 1:
		_, err = p.SetLabel(c, access.NewLabel(access.Level(1+r.IntN(3))))
	case 2:
		err = p.Trash(c)
	case 3:
		content := fmt.Sprint("edit ", r.IntN(100))
		_, err = p.Update(c, canon.Edit{Content: &content})
	case 4:
		other, found, errHas := p.Has(randomName(r))
		if err = errHas; err == nil && found {
			_, err = p.Link(canon.Link{Kind: "exit", From: c.ID, To: other.ID})
		}
	}
	return err
}

func restoreSomething(t *testing.T, p *canon.Plan) error {
	list, _, err := p.Snapshot.Trash(t.Context(), canon.Page{Limit: 5})
	if err != nil || len(list) == 0 {
		return err
	}
	_, err = p.Restore(list[len(list)-1])
	return err
}

func wantNarrowing(t *testing.T, s *scene) {
	t.Helper()
	seen := func(who string) map[canon.CardID]bool {
		ids := map[canon.CardID]bool{}
		err := s.as(who).read(func(snap *canon.Snapshot) error {
			cards, total, err := snap.Cards(t.Context(), canon.Filter{}, canon.Page{Limit: 1000})
			if total.Count != len(cards) {
				t.Errorf("%s: total %d of %d", who, total.Count, len(cards))
			}
			for _, c := range cards {
				ids[c.ID] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	user, gm, admin, alice := seen("user"), seen("gm"), seen("admin"), seen("alice")
	for id := range user {
		if !gm[id] || !alice[id] {
			t.Errorf("user sees %s, which gm or a named user does not", id)
		}
	}
	for id := range gm {
		if !admin[id] {
			t.Errorf("gm sees %s, which admin does not", id)
		}
	}
}

// seenNames are the names that cards had while an actor saw them.
type seenNames map[string]map[string]bool

var onlookers = []string{"user", "alice", "gm", "admin"}

// eachSeen calls f for every living card that an actor sees.
func eachSeen(s *scene, who string, f func(*canon.Snapshot, canon.Card) error) {
	s.t.Helper()
	err := s.as(who).read(func(snap *canon.Snapshot) error {
		cards, _, err := snap.Cards(s.t.Context(), canon.Filter{}, canon.Page{Limit: 1000})
		for _, c := range cards {
			if err := f(snap, c); err != nil {
				return err
			}
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (k seenNames) note(s *scene) {
	for _, who := range onlookers {
		if k[who] == nil {
			k[who] = map[string]bool{}
		}
		eachSeen(s, who, func(_ *canon.Snapshot, c canon.Card) error {
			k[who][c.ID.String()+" "+c.Name] = true
			return nil
		})
	}
}

// wantNoOtherNames checks that actors are shown versions only under names that they have seen.
func (k seenNames) wantNoOtherNames(s *scene) {
	s.t.Helper()
	for _, who := range onlookers {
		eachSeen(s, who, func(snap *canon.Snapshot, c canon.Card) error {
			list, _, err := snap.Versions(s.t.Context(), c.ID, canon.Page{Limit: 1000})
			for _, v := range list {
				if !k[who][c.ID.String()+" "+v.Name] {
					s.t.Errorf("%s is shown that %q was called %q", who, c.Name, v.Name)
				}
			}
			return err
		})
	}
}
