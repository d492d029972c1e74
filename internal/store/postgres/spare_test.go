package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"loregate/internal/canon"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/storetest"
)

// TestReadEndsPreviousSnapshot writes between reads that share a connection.
func TestReadEndsPreviousSnapshot(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	shared := 0
	for n := canon.Seq(1); shared < 5; n++ {
		if err := s.Write(ctx, func(tx canon.Tx) error {
			head, err := tx.Head(ctx, "count")
			if err != nil {
				return err
			}
			return tx.Append(ctx, storetest.Commit("count", head))
		}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := s.read(ctx, func(c *conn) error {
				if c.pending[0].sql == "COMMIT" {
					shared++
				}
				head, err := newReader(s, c, &s.caches).Head(ctx, "count")
				if head.Seq != n {
					t.Fatalf("a read after %d commits finds %d", n, head.Seq)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestIdleSnapshotsAreEnded(t *testing.T) {
	s, ctx := openNew(t), t.Context()
	if _, err := s.Stats(ctx); err != nil {
		t.Fatal(err)
	}
	for open := 1; open > 0; { // repeats until the test times out
		if err := s.pool.QueryRow(ctx,
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'").Scan(&open); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLastConnectionGoesBackToPool has reads use all connections, for which others may be waiting.
func TestLastConnectionGoesBackToPool(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: pgtest.Empty(t), Conns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	l := spares{pool: s.pool, most: 1, timer: time.NewTimer(time.Hour)} // the timer does nothing
	var lent []*pgxpool.Conn
	for range 4 {
		p, err := l.takeConn(t.Context())
		if err == nil {
			_, err = p.Exec(t.Context(), beginRead)
		}
		if err != nil {
			t.Fatal(err)
		}
		lent = append(lent, p)
	}
	l.putConn(lent[0])
	p, err := s.pool.Acquire(t.Context()) // waits for ever if no connection was returned
	if err != nil {
		t.Fatal(err)
	}
	p.Release()
	for _, p := range lent[1:] {
		l.putConn(p)
	}
	l.close()
}
