package service

import (
	"context"
	"time"
)

// Database is the store that contains the tables.
type Database interface {
	// Snapshot runs f on one state of the tables.
	Snapshot(ctx context.Context, f func(Conn) error) error
	// Change runs f with no other writer running and returns when its effects are durable. If f
	// fails, nothing is changed.
	Change(ctx context.Context, f func(Conn) error) error
}

// Conn runs statements whose arguments are marked ?1, ?2 and so on. Arguments are int, int64,
// uint64, string and []byte.
type Conn interface {
	// Exec returns how many rows the statement changed.
	Exec(ctx context.Context, sql string, args ...any) (int64, error)
	// Query calls f with each row. f must not use the connection.
	Query(ctx context.Context, f func(Row) error, sql string, args ...any) error
}

// Row is one row of a result. It is valid only inside the callback that receives it.
type Row interface {
	Int(column int) int64
	Text(column int) string
	// Bytes returns a copy; empty for NULL.
	Bytes(column int) []byte
}

// Service reads and writes the tables of one store.
type Service struct{ db Database }

// New returns the Service of the tables in db.
func New(db Database) *Service { return &Service{db} }

// Secret returns the random bytes with a name that all processes on the store share. If there are
// none yet, it stores and returns fresh.
func (s *Service) Secret(ctx context.Context, name string, fresh []byte) (kept []byte, err error) {
	err = s.db.Change(ctx, func(c Conn) error {
		if _, err := c.Exec(ctx, "INSERT INTO secrets (name, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING", name,
			fresh); err != nil {
			return err
		}
		return c.Query(ctx, func(r Row) error { kept = r.Bytes(0); return nil },
			"SELECT bytes FROM secrets WHERE name = ?1", name)
	})
	return kept, err
}

// queryInt runs a query for one integer; 0 if it returns no row.
func queryInt(ctx context.Context, c Conn, sql string, args ...any) (n int64, err error) {
	err = c.Query(ctx, func(r Row) error { n = r.Int(0); return nil }, sql, args...)
	return n, err
}

// queryAll reads all rows of a query.
func queryAll[T any](ctx context.Context, c Conn,
	read func(Row) (T, error), sql string, args ...any) (all []T, err error) {
	err = c.Query(ctx, func(r Row) error {
		one, err := read(r)
		all = append(all, one)
		return err
	}, sql, args...)
	return all, err
}

// queryOne reads the first row of a query, if there is one.
func queryOne[T any](ctx context.Context, db Database,
	read func(Row) (T, error), sql string, args ...any) (one T, found bool, err error) {
	err = db.Snapshot(ctx, func(c Conn) error {
		all, err := queryAll(ctx, c, read, sql, args...)
		if found = len(all) > 0; found {
			one = all[0]
		}
		return err
	})
	return one, found, err
}

// Millis converts a time to milliseconds since 1970; 0 for the zero time.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Time is the inverse of Millis.
func Time(millis int64) time.Time {
	if millis == 0 {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
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
