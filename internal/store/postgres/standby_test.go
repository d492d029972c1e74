package postgres

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/sqlstore"
	"loregate/internal/store/storetest"
	"loregate/internal/wait"
)

// standbyScene is a primary with a standby, and a store that makes long reads at the standby.
type standbyScene struct {
	t                *testing.T
	primary, standby *pgtest.Server
	s                *Store
	written          int64
}

func newStandbyScene(t *testing.T) *standbyScene {
	t.Helper()
	n := &standbyScene{t: t, primary: pgtest.Start(t)}
	at := n.primary.Empty()
	n.standby = n.primary.Standby()
	var err error
	n.s, err = Open(t.Context(), Config{URL: pgtest.Join(t, at, n.standby.At(at)), Standbys: true, Search: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.s.Close() })
	return n
}

func (n *standbyScene) write() {
	n.t.Helper()
	n.written++
	err := n.s.Write(n.t.Context(), func(tx canon.Tx) error {
		return tx.PutWorld(n.t.Context(), storetest.World(int(n.written)))
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

// readLong makes a long read, which must find all that was written. It reports whether a standby
// answered.
func (n *standbyScene) readLong() (atStandby bool) {
	n.t.Helper()
	var found int64
	err := n.s.readLong(n.t.Context(), func(c *conn) error {
		_, err := sqlstore.One(n.t.Context(), c, func(r sqlstore.Row) error {
			found, atStandby = r.Int(0), r.Int(1) == 1
			return nil
		}, "SELECT count(*), pg_is_in_recovery()::int::bigint FROM worlds")
		return err
	})
	if err != nil || found != n.written {
		n.t.Errorf("a long read finds %d of %d worlds: %v", found, n.written, err)
	}
	return atStandby
}

func (n *standbyScene) awaitStandby() {
	n.t.Helper()
	n.eventually("the standby answers long reads", n.readLong)
}

func (n *standbyScene) eventually(what string, holds func() bool) {
	n.t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); wait.For(n.t.Context(), 20*time.Millisecond) {
		if time.Now().After(end) {
			n.t.Fatalf("after a minute it does not hold that %s", what)
		}
	}
}

// TestLongReadsAtTheStandbyFindAllWrites writes before each read. A standby that has stopped to
// replay, or has stopped altogether, answers none.
func TestLongReadsAtTheStandbyFindAllWrites(t *testing.T) {
	n := newStandbyScene(t)
	n.write()
	n.awaitStandby()
	for range 50 {
		n.write()
		n.readLong()
	}
	n.awaitStandby()

	n.standby.Exec("SELECT pg_wal_replay_pause()")
	n.write()
	if n.readLong() {
		t.Error("a standby answers that has not replayed the last write")
	}
	n.standby.Exec("SELECT pg_wal_replay_resume()")
	n.awaitStandby()

	n.standby.Pause()
	if n.readLong() { // nothing can be written without the standby
		t.Error("a standby answers while it is stopped")
	}
	n.standby.Resume()
	n.awaitStandby()
}

// TestALongReadIsNotHeldUpByAStandby stops the standby in the middle of a read, which fails; the next
// one is made at the primary.
func TestALongReadIsNotHeldUpByAStandby(t *testing.T) {
	n := newStandbyScene(t)
	n.write()
	n.awaitStandby()
	began := time.Now()
	err := n.s.readLong(t.Context(), func(c *conn) error {
		n.standby.Pause()
		_, err := sqlstore.QueryInt(t.Context(), c, "SELECT count(*) FROM worlds")
		return err
	})
	if err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("a read at a stopped standby ends with %v after %s", err, time.Since(began))
	}
	if n.readLong() {
		t.Error("a standby answers while it is stopped")
	}
	n.standby.Resume()
}

// TestAnIndexIsBuiltAtTheStandby searches after each write. The store connects to the standby for
// nothing but long reads.
func TestAnIndexIsBuiltAtTheStandby(t *testing.T) {
	n := newStandbyScene(t)
	n.write()
	world := storetest.World(1).ID
	see := canon.Visibility{World: world, View: access.View{Level: access.LevelGM}}
	for i := range 20 {
		err := n.s.Write(t.Context(), func(tx canon.Tx) error {
			c := storetest.Card(i+1, fmt.Sprint("Card ", i), access.NewLabel(access.LevelUser))
			doc := canon.SearchDoc{Name: c.Name, Text: "harbour"}
			return errors.Join(tx.PutCard(t.Context(), c), tx.Index(t.Context(), c, &doc))
		})
		if err != nil {
			t.Fatal(err)
		}
		err = n.s.Read(t.Context(), func(r canon.Reader) error {
			res, err := r.Search(t.Context(), see, canon.SearchQuery{Q: "harbour", InContent: true}, canon.Page{Limit: 50})
			if err == nil && len(res.Hits) != i+1 {
				t.Errorf("a search finds %d of %d cards", len(res.Hits), i+1)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	n.eventually("the index was built at the standby", func() bool {
		n.s.standby.mu.Lock()
		defer n.s.standby.mu.Unlock()
		return n.s.standby.conn != nil
	})
}
