package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/sqlstore"
	"loregate/internal/store/storetest"
	"loregate/internal/wait"
	"loregate/internal/waittest"
)

// standbyScene is a primary with a standby, and a store that makes long reads at the standby.
type standbyScene struct {
	t                testing.TB
	primary, standby *pgtest.Server
	s                *Store
	written          int64
}

func newStandbyScene(t testing.TB) *standbyScene {
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
	err := n.s.readLong(n.t.Context(), func(c *conn, _ *sqlstore.Caches) error {
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

// inspectReads returns what an operator is told of reads at the standby.
func (n *standbyScene) inspectReads() Finding {
	n.t.Helper()
	all, _, err := n.s.Inspect(n.t.Context(), time.Now)
	if err != nil {
		n.t.Fatal(err)
	}
	for _, f := range all {
		if strings.HasPrefix(f.What, "reads at ") {
			return f
		}
	}
	n.t.Fatal("nothing is reported")
	return Finding{}
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
	programtest.Long(t)
	n := newStandbyScene(t)
	n.write()
	n.awaitStandby()
	for range 50 {
		n.write()
		n.readLong()
	}
	n.awaitStandby()
	if f := n.inspectReads(); f.Problem != "" || f.Detail == "" {
		t.Errorf("doctor says of a standby that replays: %+v", f)
	}

	n.standby.Exec("SELECT pg_wal_replay_pause()")
	n.write()
	if f := n.inspectReads(); !strings.Contains(f.Problem, "pg_wal_replay_pause") {
		t.Errorf("doctor says of a standby that has stopped to replay: %+v", f)
	}
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
	programtest.Long(t)
	n := newStandbyScene(t)
	n.write()
	n.awaitStandby()
	ctx := waittest.Context(t)
	err := n.s.readLong(ctx, func(c *conn, _ *sqlstore.Caches) error {
		n.standby.Pause()
		_, err := sqlstore.QueryInt(ctx, c, "SELECT count(*) FROM worlds")
		return err
	})
	if err == nil || ctx.Err() != nil {
		t.Errorf("a read at a stopped standby ends with %v", err)
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
		return n.s.LongReads().AtStandby > 0
	})
}

// BenchmarkReadOwnWrite reads each write right after it was acknowledged, at the primary and at the standby
// in turn, and reports the medians of the reads.
func BenchmarkReadOwnWrite(b *testing.B) {
	n := newStandbyScene(b)
	n.write()
	n.awaitStandby()
	took := map[string][]time.Duration{}
	read := func(at string, ctx context.Context) {
		n.write()
		began := time.Now()
		err := n.s.Read(ctx, func(r canon.Reader) error {
			list, err := r.Worlds(ctx, canon.WorldQuery{ID: storetest.World(int(n.written)).ID})
			if err == nil && len(list) != 1 {
				b.Error("a read does not find the last write")
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		took[at] = append(took[at], time.Since(began))
	}
	for b.Loop() {
		read("primary", b.Context())
		read("standby", canon.LongRead(b.Context()))
	}
	if reads := n.s.LongReads(); reads.AtStandby < int64(b.N) {
		b.Errorf("%d of %d reads were made at the standby", reads.AtStandby, b.N)
	}
	for at, list := range took {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, "p50-ms-"+at)
		b.ReportMetric(float64(list[len(list)*99/100].Microseconds())/1000, "p99-ms-"+at)
	}
}
