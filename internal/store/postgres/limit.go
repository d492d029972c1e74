package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/access"
)

var _ access.Shared = (*Store)(nil)

// spendLock is the advisory lock that Spend takes. Each call updates many rows, and concurrent
// calls could deadlock.
const spendLock = 0x6c696d6974

// spendSQL adds to the stored amounts. Its arguments are columns: accounts, classes, and for each
// of the two buckets the time from which it counts, the amount taken, and the latest time at which
// it may be full.
const spendSQL = `WITH t AS (SELECT * FROM unnest($1::text[], $2::text[],
			$3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
		AS t (account, class, m_from, m_took, m_most, s_from, s_took, s_most)),
	was AS (SELECT t.*, coalesce(s.minute, 0) AS minute, coalesce(s.second, 0) AS second
		FROM t LEFT JOIN spent s USING (account, class))
	INSERT INTO spent (account, class, minute, second)
	SELECT account, class, least(greatest(minute, m_from) + m_took, m_most),
		least(greatest(second, s_from) + s_took, s_most) FROM was
	ON CONFLICT (account, class) DO UPDATE SET minute = excluded.minute, second = excluded.second
	RETURNING account, class, minute, second`

// Spend adds the calls that this process let through to those of all processes. It waits for no
// writer and for no disk.
func (s *Store) Spend(ctx context.Context, list []access.Spending) ([]access.Spent, error) {
	if err := s.beginCall(ctx); err != nil {
		return nil, err
	}
	defer s.calls.End()
	var out []access.Spent
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit = off"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(spendLock)); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, spendSQL, columnsOf(list)...)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (one access.Spent, err error) {
			err = r.Scan(&one.Account, &one.Class, &one.Minute, &one.Second)
			return one, err
		})
		return err
	})
	return out, toFault(err)
}

func columnsOf(list []access.Spending) []any {
	accounts, classes := make([]string, len(list)), make([]string, len(list))
	var numbers [6][]int64
	for i, one := range list {
		accounts[i], classes[i] = storableText(one.Account), string(one.Class)
		for n, v := range []int64{one.Minute.From, one.Minute.Took, one.Minute.Most, one.Second.From, one.Second.Took,
			one.Second.Most} {
			numbers[n] = append(numbers[n], v)
		}
	}
	return []any{accounts, classes, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]}
}

// Forget deletes buckets that have been full again since before now.
func (s *Store) Forget(ctx context.Context, now time.Time) error {
	if err := s.beginCall(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	_, err := s.pool.Exec(ctx, "DELETE FROM spent WHERE minute < $1 AND second < $1", now.UnixNano())
	return toFault(err)
}
