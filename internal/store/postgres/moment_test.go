package postgres

import (
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/storetest"
)

// TestAMomentIsReadInOneRound asks, on a connection that leads nowhere, for what was
// foreseen of a world.
func TestAMomentIsReadInOneRound(t *testing.T) {
	s, ctx := opened(t), t.Context()
	stream := canon.WorldStream(home.ID)
	town, hall := storetest.Card(1, "Town", access.NewLabel(access.LevelUser)), storetest.Card(2, "Town+Hall", access.NewLabel(access.LevelUser))
	hall.Parent = town.ID
	gone := storetest.Card(3, "Town+Hall+Gone", access.NewLabel(access.LevelUser))
	gone.Parent, gone.TrashedAt = hall.ID, time.Unix(1, 0)
	err := s.Write(ctx, func(tx canon.Tx) error {
		if err := tx.PutWorld(ctx, home); err != nil {
			return err
		}
		for _, c := range []canon.Card{town, hall, gone} {
			if err := tx.PutCard(ctx, c); err != nil {
				return err
			}
		}
		return tx.Append(ctx, storetest.Commit(stream, canon.Head{}))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.read(ctx, func(c *conn) error {
		r := newReader(s, c)
		below := []canon.CardID{town.ID, hall.ID}
		if err := canon.Foresee(ctx, r, canon.Needs{World: home.ID, Stream: stream, Cards: below, Below: below}); err != nil {
			return err
		}
		if _, n, err := r.Descendants(ctx, all, town.ID, 1, canon.Page{}); n.Count != 1 || err != nil {
			t.Errorf("below the town: %v, %v", n, err)
		}
		r.c = &conn{steady: true}
		if h, err := r.Head(ctx, stream); h.Seq != 1 || err != nil {
			t.Error(h, err)
		}
		if w, _, err := canon.First(r.Worlds(ctx, canon.WorldQuery{ID: home.ID})); w.Slug != home.Slug || err != nil {
			t.Error(w, err)
		}
		if c, _, err := canon.First(r.FindCards(ctx, all, canon.CardQuery{ID: hall.ID})); c.Name != hall.Name || err != nil {
			t.Error(c, err)
		}
		if _, n, err := r.Descendants(ctx, all, hall.ID, 1, canon.Page{}); n.Count != 0 || err != nil {
			t.Errorf("below the hall: %v, %v", n, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
