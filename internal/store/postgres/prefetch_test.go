package postgres

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/sqlstore"
	"loregate/internal/store/storetest"
)

func openNew(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{URL: pgtest.Empty(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var (
	home = storetest.World(1)
	all  = canon.Visibility{World: home.ID, View: access.View{Level: access.LevelAll}}
)

// TestPrefetchedDataMatchesDatabase creates, moves, trashes and restores cards in one transaction,
// prefetches some of them at times, and after each step compares all cards with those of a reader
// without prefetched data.
func TestPrefetchedDataMatchesDatabase(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	names := []string{"Town", "Town+Hall", "Town+Hall+Cellar", "Town+Gate", "Tower", "Town Hall", "Town-Gate"}
	labels := []access.Label{access.NewLabel(access.LevelUser), access.NewLabel(access.LevelGM),
		access.NewLabel(access.LevelGM, "ann")}
	rnd := rand.New(rand.NewPCG(1, 2))
	needs := func() (n canon.Needs) {
		n.World = home.ID
		for i := range 9 {
			if rnd.IntN(2) == 0 {
				n.Cards = append(n.Cards, storetest.CardID(i+1))
			}
		}
		for _, name := range names {
			if rnd.IntN(2) == 0 {
				n.Keys = append(n.Keys, markup.KeyOf(name))
			}
		}
		return n
	}
	compare := func(t *testing.T, tx *tx) {
		t.Helper()
		plain := newReader(s, tx.c, &s.caches)
		sqlstore.NewTx(&plain.Reader)
		for i := range 9 {
			id := storetest.CardID(i + 1)
			got, _, err := canon.First(tx.FindCards(ctx, all, canon.CardQuery{ID: id}))
			want, _, err2 := canon.First(plain.FindCards(ctx, all, canon.CardQuery{ID: id}))
			if !reflect.DeepEqual(got, want) || errors.Join(err, err2) != nil {
				t.Fatalf("card %d: foreseen %+v, there %+v, %v", i+1, got, want, errors.Join(err, err2))
			}
			if c, ok, err := tx.VersionByRev(ctx, home.ID, id, want.Rev); err == nil {
				if v, found, _ := plain.VersionByRev(ctx, home.ID, id, want.Rev); found != ok || !reflect.DeepEqual(c, v) {
					t.Fatalf("version of %d: foreseen %+v, there %+v", i+1, c, v)
				}
			}
		}
		for _, name := range names {
			f, p := canon.Filter{Below: markup.KeyOf(name)}, canon.Page{Limit: 3, Offset: rnd.IntN(2)}
			got, n, err := tx.Cards(ctx, all, f, p)
			want, m, err2 := plain.Cards(ctx, all, f, p)
			if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) || n != m || errors.Join(err, err2) != nil {
				t.Fatalf("below %s: foreseen %d %+v, there %d %+v, %v", name, n.Count, got, m.Count, want, errors.Join(err, err2))
			}
		}
	}
	step := func(tx *tx, i int) error {
		c := storetest.Card(rnd.IntN(9)+1, names[rnd.IntN(len(names))], labels[rnd.IntN(len(labels))])
		c.Rev, c.UpdatedAt = uint32(i+1), storetest.Time(i).Add(1500*time.Microsecond)
		if rnd.IntN(4) == 0 {
			c.TrashedAt, c.TrashRoot = storetest.Time(i), c.ID
		}
		if rnd.IntN(3) == 0 {
			c.Codename = fmt.Sprintf("code-%d", rnd.IntN(3))
		}
		if err := tx.PutCard(ctx, c); errors.Is(err, canon.ErrTaken) {
			return nil
		} else if err != nil {
			return err
		}
		return errors.Join(tx.PutVersion(ctx, storetest.Version(c)),
			tx.PutRefs(ctx, home.ID, c.ID, []canon.Ref{{From: c.ID, Kind: canon.RefLink, Target: "town", Name: "Town"}}))
	}
	for round := range 12 {
		err := s.write(ctx, func(tx *tx) error {
			if err := tx.PutWorld(ctx, home); err != nil {
				return err
			}
			if round%4 == 3 {
				if err := tx.Clear(ctx, home.ID); err != nil {
					return err
				}
			}
			for i := range 25 {
				if i == 0 || rnd.IntN(5) == 0 {
					if err := tx.Prefetch(ctx, needs()); err != nil {
						return err
					}
				}
				if err := step(tx, 100*round+i); err != nil {
					return err
				}
				compare(t, tx)
			}
			return nil
		})
		if err != nil {
			t.Fatal(round, err)
		}
	}
}

// TestPrefetchLimitAndReturningCard prefetches a name with more cards below it than are read ahead,
// and restores a card whose name another card has taken.
func TestPrefetchLimitAndReturningCard(t *testing.T) {
	s, ctx, open := openNew(t), t.Context(), access.NewLabel(access.LevelUser)
	err := s.write(ctx, func(tx *tx) error {
		errs := []error{tx.PutWorld(ctx, home)}
		for i := range maxBelow + 20 {
			errs = append(errs, tx.PutCard(ctx, storetest.Card(i+1, fmt.Sprintf("Crowd+%d", i), open)))
		}
		errs = append(errs, tx.Prefetch(ctx, canon.Needs{World: home.ID, Keys: []markup.Key{"crowd"}}))
		_, n, err := tx.Cards(ctx, all, canon.Filter{Below: "crowd"}, canon.Page{Limit: 1000})
		if n.Count != maxBelow+20 {
			t.Errorf("%d cards in a crowd", n.Count)
		}
		gone := storetest.Card(1, "Crowd+0", open)
		gone.TrashedAt, gone.TrashRoot = storetest.Time(1), gone.ID
		errs = append(errs, err, tx.PutCard(ctx, gone), tx.PutCard(ctx, storetest.Card(500, "Crowd+0", open)))
		if err := tx.PutCard(ctx, storetest.Card(1, "Crowd+0", open)); !errors.Is(err, canon.ErrTaken) {
			t.Errorf("back to a name that is taken: %v", err)
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPrefetchedCommitNeedsNoQueries writes a card as a commit does, on a connection on which every
// query after the prefetch fails.
func TestPrefetchedCommitNeedsNoQueries(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	if err := s.Write(ctx, func(tx canon.Tx) error { return tx.PutWorld(ctx, home) }); err != nil {
		t.Fatal(err)
	}
	c, stream := storetest.Card(1, "Town+Hall", access.NewLabel(access.LevelUser)), canon.WorldStream(home.ID)
	err := s.write(ctx, func(tx *tx) error {
		commit := storetest.Commit(stream, canon.Head{})
		if err := tx.Append(ctx, commit); err != nil { // the first commit of a stream queries its number
			return err
		}
		tx.ForgetStreams()
		if err := tx.Prefetch(ctx, canon.Needs{World: home.ID, Stream: stream, Account: "ann", Key: "k",
			Cards: []canon.CardID{c.ID}, Keys: []markup.Key{c.Key}}); err != nil {
			return err
		}
		there := tx.c
		tx.c = &conn{steady: true} // has no connection: a query panics
		tx.Conn = tx.c
		errs := []error{commitOf(t, tx, c, stream)}
		there.pending = append(there.pending, tx.c.pending...)
		tx.c, tx.Conn = there, there
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Read(ctx, func(r canon.Reader) error {
		if _, found, err := canon.First(r.FindCards(ctx, all, canon.CardQuery{ID: c.ID})); !found || err != nil {
			t.Error(found, err)
		}
		_, found, err := r.Repeat(ctx, "ann", "k")
		if !found {
			t.Error("the key is not kept")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// commitOf makes the calls that canon makes to commit a new card.
func commitOf(t *testing.T, tx *tx, c canon.Card, stream canon.StreamID) error {
	ctx := t.Context()
	_, used, err := tx.Repeat(ctx, "ann", "k")
	head, err2 := tx.Head(ctx, stream)
	_, there, err3 := canon.First(tx.FindCards(ctx, all, canon.CardQuery{ID: c.ID}))
	w, _, err4 := canon.First(tx.Worlds(ctx, canon.WorldQuery{ID: home.ID}))
	if used || there || w.Slug != home.Slug || head.Seq != 1 {
		t.Errorf("used %v, there %v, world %q, head %d", used, there, w.Slug, head.Seq)
	}
	body := []byte("A hall.")
	c.Content = storetest.HashOf(string(body))
	errs := []error{err, err2, err3, err4, tx.PutBody(ctx, home.ID, c.Content, body), tx.PutCard(ctx, c),
		tx.PutVersion(ctx, storetest.Version(c)),
		tx.PutRefs(ctx, home.ID, c.ID, nil), tx.Index(ctx, c, &canon.SearchDoc{Name: c.Name, Text: string(body)})}
	below, _, err := tx.Cards(ctx, all, canon.Filter{Below: c.Key}, canon.Page{Limit: 1000})
	if len(below) != 0 {
		t.Errorf("%d cards below", len(below))
	}
	return errors.Join(append(errs, err, tx.Append(ctx, storetest.Commit(stream, head)),
		tx.PutRepeat(ctx, canon.Repeat{Account: "ann", Key: "k", Stream: stream, Seq: head.Seq + 1,
			Expires: storetest.Time(1)}))...)
}

// TestPrefixUsesBoundedIndexRange reads the server's plans: cards below a name must be found by an
// index range with both ends.
func TestPrefixUsesBoundedIndexRange(t *testing.T) {
	s := openNew(t)
	err := s.write(t.Context(), func(tx *tx) error { // enough rows for one index to be better than another
		_, err := tx.c.Exec(t.Context(), `INSERT INTO cards (w, id, parent, part, codename, type, type_key, size, length, own, name, key, fold, level, label,
				rev, c1, c2, c3, created, created_by, updated, updated_by, seq, trashed, trash_root, sort)
			SELECT 1, gen_random_uuid(), '00000000-0000-0000-0000-000000000000', 'part', '', 'RichText', 'rich_text', 0, 0, '', 'town+' || n, 'town+' || n, 'town+' || n, 1, 0,
				1, 1, 1, 1, n, 'ann', n, 'ann', n, 0, '00000000-0000-0000-0000-000000000000', 0 FROM generate_series(1, 3000) n`)
		if err == nil {
			_, err = tx.c.Exec(t.Context(), "ANALYZE cards")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sc := sqlstore.Scope{Dialect: dialect, Args: sqlstore.Args{int64(1)}, Top: access.LevelGM}
	where := sc.FilterCards(canon.Filter{Prefix: "town"}) // matches many cards, of which one page is read
	wantBoundedRange(t, s, "SELECT c.rid FROM cards c WHERE c.w = $1 AND c.level = 1 AND c.trashed = 0"+where+
		" ORDER BY c.key, c.id LIMIT 10", sc.Args...)
	wantBoundedRange(t, s, selectBelow, int64(1), []string{"town+hall"}, int64(maxBelow))
}

func wantBoundedRange(t *testing.T, s *Store, query string, args ...any) {
	t.Helper()
	var plan []string
	err := s.read(t.Context(), func(c *conn) error {
		return sqlstore.Each(t.Context(), c, func(r sqlstore.Row) error { plan = append(plan, r.Text(0)); return nil }, "EXPLAIN "+query,
			args...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range plan {
		if strings.Contains(line, "Index Cond:") && strings.Contains(line, "key >= ") && strings.Contains(line, "key < ") {
			return
		}
	}
	t.Errorf("no index is walked between two ends:\n%s", strings.Join(plan, "\n"))
}
