package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/access"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/storetest"
	"loregate/internal/wait"
)

var (
	everyone = canon.Visibility{World: storetest.World(1).ID, View: access.View{Level: access.LevelUser}}
	keepers  = canon.Visibility{World: storetest.World(1).ID, View: access.View{Level: access.LevelGM}}
)

// writeTexts writes cards with bodies; body returns the level and text of each.
func writeTexts(t *testing.T, s *postgres.Store, from, n int, body func(i int) (access.Level, string)) {
	t.Helper()
	err := s.Write(t.Context(), func(tx canon.Tx) error {
		errs := []error{tx.PutWorld(t.Context(), storetest.World(1))}
		for i := from; i < from+n; i++ {
			level, text := body(i)
			c := storetest.Card(i, fmt.Sprintf("Card %d", i), access.NewLabel(level))
			errs = append(errs, tx.PutCard(t.Context(), c), tx.Index(t.Context(), c, &canon.SearchDoc{Name: c.Name, Text: text}))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantFound(t *testing.T, s *postgres.Store, see canon.Visibility, q string, want int) {
	t.Helper()
	for _, again := range []string{"", " again"} {
		err := s.Read(t.Context(), func(r canon.Reader) error {
			res, err := r.Search(t.Context(), see, canon.SearchQuery{Q: q, InContent: true, Mode: canon.MatchSubstring},
				canon.Page{Limit: 10})
			if err == nil && (res.Total.Count != want || res.Total.AtLeast || len(res.Hits) != min(want, 10)) {
				t.Errorf("%q%s: %d hits of %+v, want %d", q, again, len(res.Hits), res.Total, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSubstringSearchIsExact searches for parts that occur in one word, in some words, and in more
// words than are checked one by one; words of other levels must not matter.
func TestSubstringSearchIsExact(t *testing.T) {
	here, there, _ := openTwo(t)
	letters := func(i int) string {
		return string([]byte{byte('a' + i/26/26%26), byte('a' + i/26%26), byte('a' + i%26)})
	}
	writeTexts(t, here, 1, 600, func(i int) (access.Level, string) {
		level := access.LevelUser
		if i%2 == 0 {
			level = access.LevelGM
		}
		return level, "zz" + letters(i) + "qux" // a different word for each card
	})
	for _, s := range []*postgres.Store{here, there} {
		wantFound(t, s, everyone, "qux", 300) // more words than are checked one by one
		wantFound(t, s, keepers, "qux", 600)
		wantFound(t, s, everyone, "aabqux", 1)
		wantFound(t, s, everyone, "aacqux", 0)
		wantFound(t, s, keepers, "aacqux", 1)
		wantFound(t, s, everyone, "xqux", 23)
		wantFound(t, s, everyone, "wqux", 0)
		wantFound(t, s, everyone, "nowhere", 0)
	}
	writeTexts(t, here, 601, 1, func(int) (access.Level, string) { return access.LevelUser, "a nowhereland" })
	wantFound(t, there, everyone, "qux", 300)   // the new card does not match
	wantFound(t, there, everyone, "nowhere", 1) // a word that the other process has not seen
	writeTexts(t, there, 601, 1, func(int) (access.Level, string) { return access.LevelUser, "gone" })
	wantFound(t, here, everyone, "nowhere", 0)
}

// awaitListeners waits until the given number of stores listen for other processes.
func awaitListeners(t *testing.T, raw *pgx.Conn, stores int) {
	t.Helper()
	for {
		var n int
		err := raw.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle' AND query = 'SELECT n FROM writer'`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		if n >= stores {
			return
		}
		wait.For(t.Context(), 10*time.Millisecond)
	}
}

func TestUnchangingWriteWakesNobody(t *testing.T) {
	address := pgtest.Database(t, prepare)
	there := openAt(t, address)
	// otherwise polling would find its own write
	here, err := postgres.Open(t.Context(), postgres.Config{URL: address, Poll: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = here.Close() })
	raw, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close(context.Background()) })
	awaitListeners(t, raw, 2)
	if err := appendNext(t.Context(), here); err != nil {
		t.Fatal(err)
	}
	counted := func() (n int64) {
		if err := raw.QueryRow(t.Context(), "SELECT n FROM writer").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := counted()
	// Starting to listen wakes the waiters too, a few times at most.
	apptest.Eventually(t, "a look leaves its own process asleep", patience, func() bool {
		changed := here.Changed()
		err = here.Write(t.Context(), func(tx canon.Tx) error {
			_, err := tx.Head(t.Context(), "count")
			return err
		})
		if err != nil || counted() != before {
			t.Fatalf("a look is counted as a write: %d, %d, %v", before, counted(), err)
		}
		select {
		case <-changed:
			return false
		default:
			return true
		}
	})
	if err := appendNext(context.WithoutCancel(t.Context()), there); err != nil || counted() != before+1 {
		t.Errorf("a write is not counted: %d, %d, %v", before, counted(), err)
	}
}
