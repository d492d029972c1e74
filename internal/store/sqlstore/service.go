package sqlstore

import (
	"context"
	"time"
)

// Database is the store that contains the tables. Both functions must be set.
type Database struct {
	// Snapshot runs f on one state of the tables.
	Snapshot func(ctx context.Context, f func(Conn) error) error
	// Change runs f with no other writer running and returns when its effects are durable. If f
	// fails, nothing is changed.
	Change func(ctx context.Context, f func(Conn) error) error
}

// Service reads and writes the tables of one store.
type Service struct{ db Database }

// NewService returns the Service of the tables in db.
func NewService(db Database) *Service { return &Service{db} }

// Secret returns the random bytes with a name that all processes on the store share. If there are
// none yet, it stores and returns fresh.
func (s *Service) Secret(ctx context.Context, name string, fresh []byte) (kept []byte, err error) {
	err = s.db.Change(ctx, func(c Conn) error {
		if _, err := c.Exec(ctx, "INSERT INTO secrets (name, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING", name,
			fresh); err != nil {
			return err
		}
		return Each(ctx, c, func(r Row) error { kept = r.Bytes(0); return nil },
			"SELECT bytes FROM secrets WHERE name = $1", name)
	})
	return kept, err
}

// findOne reads the first row of a query, if there is one.
func findOne[T any](ctx context.Context, db Database,
	read func(Row) (T, error), sql string, args ...any) (one T, found bool, err error) {
	err = db.Snapshot(ctx, func(c Conn) error {
		found, err = One(ctx, c, func(r Row) (err error) {
			one, err = read(r)
			return err
		}, sql, args...)
		return err
	})
	return one, found, err
}

func toNanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func timeFromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
