package canon_test

import (
	"context"
	"reflect"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/memory"
)

// countingStore counts the queries of its readers.
type countingStore struct {
	canon.Store
	n int
}

func (a *countingStore) Read(ctx context.Context, f func(canon.Reader) error) error {
	return a.Store.Read(ctx, func(r canon.Reader) error { return f(countingReader{r, a}) })
}

type countingReader struct {
	canon.Reader
	by *countingStore
}

func (r countingReader) Worlds(ctx context.Context, q canon.WorldQuery) ([]canon.World, error) {
	r.by.n++
	return r.Reader.Worlds(ctx, q)
}

func (r countingReader) FindCards(ctx context.Context, s canon.Visibility, q canon.CardQuery) ([]canon.Card, error) {
	r.by.n++
	return r.Reader.FindCards(ctx, s, q)
}

// TestReadAfterMatchesAFreshRead creates cards whose homonyms have higher and lower labels, and
// compares ReadAfter with a fresh Read.
func TestReadAfterMatchesAFreshRead(t *testing.T) {
	levels := []access.Level{access.LevelUser, access.LevelGM, access.LevelAdmin}
	for _, who := range []string{"gm", "admin"} {
		for _, level := range levels[:2] {
			for _, other := range append(levels, access.LevelNone) {
				store := &countingStore{Store: memory.New()}
				s := newSceneOn(t, store)
				if other == level {
					continue
				}
				if other != access.LevelNone {
					s.as("admin").createAt(other, "Mill", "Other.")
				}
				s.as("admin").must(func(p *canon.Plan) error {
					_, err := p.Create(canon.NewCard{Name: "Mill+Wheel", Content: "The new Mill may take it in.", Orphan: true})
					return err
				})
				a := s.as(who)
				label := access.NewLabel(level)
				make := func(p *canon.Plan) error {
					_, err := p.Create(canon.NewCard{Name: "Mill", Content: "Made.", Label: &label})
					return err
				}
				rehearsed, err := s.canon.Update(t.Context(), a.grant.DryRun(), make)
				if err != nil {
					t.Fatal(err)
				}
				if same, _ := homonymsOf(t, s, a, rehearsed, store, true); len(same) != 0 && same[0].Label.Level == level {
					t.Errorf("%s: a rehearsed card at %s is there", who, level)
				}
				r := a.must(make)
				after, reads := homonymsOf(t, s, a, r, store, true)
				anew, _ := homonymsOf(t, s, a, r, store, false)
				if !reflect.DeepEqual(after, anew) || len(anew) == 0 {
					t.Errorf("%s made one at %s beside one at %s: %+v, read anew %+v", who, level, other, after, anew)
				}
				if reads != 0 {
					t.Errorf("%s made one at %s beside one at %s: %d look-ups after it", who, level, other, reads)
				}
			}
		}
	}
}

// homonymsOf returns the cards called Mill that an actor sees after a change, and the number of
// look-ups that it took.
func homonymsOf(t *testing.T, s *scene, a actor, r canon.Receipt, store *countingStore,
	after bool) (cards []canon.Card, reads int) {
	t.Helper()
	before := store.n
	find := func(snap *canon.Snapshot) error {
		same, err := snap.Homonyms(t.Context(), "mill")
		for _, c := range same {
			byID, ok, ierr := snap.ByID(t.Context(), c.ID)
			if ierr != nil || !ok || byID.ID != c.ID {
				t.Errorf("by id: %v, %v", ok, ierr)
			}
		}
		cards = same
		return err
	}
	look := s.canon.Read
	if after {
		look = func(ctx context.Context, g access.Grant, f func(*canon.Snapshot) error) error {
			return s.canon.ReadAfter(ctx, g, r, f)
		}
	}
	if err := look(t.Context(), a.grant, find); err != nil {
		t.Fatal(err)
	}
	return cards, store.n - before
}

// TestDryRunTextDoesNotRevealHiddenText dry-runs a card with a text that the world does not have,
// then one with the text of a hidden card. Both must read alike.
func TestDryRunTextDoesNotRevealHiddenText(t *testing.T) {
	s := newScene(t)
	read := func() (text string) {
		t.Helper()
		g := s.as("gm").grant.DryRun()
		r, err := s.canon.Update(t.Context(), g, func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: "Mill", Content: "The miller drowned."})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.canon.ReadAfter(t.Context(), g, r, func(snap *canon.Snapshot) (err error) {
			text, err = snap.Content(t.Context(), r.Cards[0])
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := read()
	s.as("admin").createAt(access.LevelAdmin, "Truth", "The miller drowned.")
	if after := read(); before != "The miller drowned." || after != before {
		t.Errorf("%q, and %q where a hidden card has it", before, after)
	}
}
