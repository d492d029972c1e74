package postgres

import (
	"errors"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/storetest"
)

// TestPrefetchedSnapshotNeedsNoQueries reads prefetched data of a world after replacing the
// connection by one on which every query fails.
func TestPrefetchedSnapshotNeedsNoQueries(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	stream := canon.WorldStream(home.ID)
	town, hall := storetest.Card(1, "Town", access.NewLabel(access.LevelUser)),
		storetest.Card(2, "Town+Hall", access.NewLabel(access.LevelUser))
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
		r := newReader(s, c, &s.caches)
		below := []canon.CardID{town.ID, hall.ID}
		if err := canon.Prefetch(ctx, r, canon.Needs{World: home.ID, Stream: stream, Cards: below,
			Below: below}); err != nil {
			return err
		}
		if _, n, err := r.Descendants(ctx, all, town.ID, 1, canon.Page{}); n.Count != 1 || err != nil {
			t.Errorf("below the town: %v, %v", n, err)
		}
		r.c = &conn{steady: true}
		r.Conn = r.c
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

// TestFindByKeyPrefetchesBodyAndChildren reads the bodies of cards found by key, and the children
// of cards without visible ones, after replacing the connection by one on which every query fails.
func TestFindByKeyPrefetchesBodyAndChildren(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	gm := access.NewLabel(access.LevelGM)
	town, secret := storetest.Card(2, "Town", access.NewLabel(access.LevelUser)), storetest.Card(1, "Town", gm)
	hall := storetest.Card(3, "Town+Hall", gm)
	hall.Parent = town.ID
	body, erased, large := []byte("A town."), []byte("Gone."), make([]byte, smallBody+1)
	town.Content, town.Size = storetest.HashOf(string(body)), len(body)
	secret.Content, secret.Size = storetest.HashOf(string(erased)), len(erased)
	hall.Content, hall.Size = storetest.HashOf(string(large)), len(large)
	err := s.Write(ctx, func(tx canon.Tx) error {
		errs := []error{tx.PutWorld(ctx, home), tx.PutBody(ctx, home.ID, town.Content, body),
			tx.PutBody(ctx, home.ID, hall.Content, large)}
		for _, c := range []canon.Card{town, secret, hall} {
			errs = append(errs, tx.PutCard(ctx, c))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatal(err)
	}
	below := func(r *reader, level access.Level, c canon.Card) int {
		t.Helper()
		_, n, err := r.Descendants(ctx, canon.Visibility{World: home.ID, View: access.View{Level: level}}, c.ID, 1,
			canon.Page{})
		if err != nil {
			t.Error(err)
		}
		return n.Count
	}
	err = s.read(ctx, func(c *conn) error {
		r := newReader(s, c, &s.caches)
		found, err := r.FindCards(ctx, all, canon.CardQuery{Key: town.Key, Prefetch: true})
		if err != nil || len(found) != 2 || found[0].ID != town.ID {
			t.Errorf("%v, %v; want the town of lower label first", found, err)
		}
		player := canon.Visibility{World: home.ID, View: access.View{Level: access.LevelUser}}
		if _, err := r.FindCards(ctx, player, canon.CardQuery{Key: town.Key, Prefetch: true}); err != nil {
			return err
		}
		if n := below(r, access.LevelAll, town); n != 1 {
			t.Errorf("%d cards below the town", n)
		}
		if b, found, err := r.Body(ctx, home.ID, secret.Content); found || err != nil {
			t.Errorf("what was erased: %q, %v", b, err)
		}
		if _, err := r.FindCards(ctx, all, canon.CardQuery{Key: hall.Key, Prefetch: true}); err != nil {
			return err
		}
		if b, _, err := r.Body(ctx, home.ID, hall.Content); len(b) != len(large) || err != nil {
			t.Errorf("the large content: %d bytes, %v", len(b), err)
		}
		r.c = &conn{steady: true}
		r.Conn = r.c
		if b, _, err := r.Body(ctx, home.ID, town.Content); string(b) != string(body) || err != nil {
			t.Errorf("%q, %v", b, err)
		}
		if below(r, access.LevelAll, secret) != 0 || below(r, access.LevelUser, town) != 0 {
			t.Error("something lies below")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
