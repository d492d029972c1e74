// Package service keeps what a store holds beside the canon: keys and invitations, access
// records, jobs, deliveries of events, and secrets. SQLite and PostgreSQL keep them in
// tables of the same names and columns, and both understand the statements here; the
// canon's own, on which speed and visibility hang, each store writes for itself.
//
// Its invariant: what a method returns without an error is durable.
//
// Ids and hashes are given and read as their bytes. Keys, invitations and access records
// keep times as nanoseconds since 1970, jobs and deliveries as milliseconds; the zero time
// is 0 in both.
package service

import (
	"context"
	"time"
)

// Database is the store that the tables are in.
type Database interface {
	// Snapshot runs f on one state of the tables.
	Snapshot(ctx context.Context, f func(Conn) error) error
	// Change runs f alone among writers and returns when its effects are durable. Where f
	// fails nothing is changed.
	Change(ctx context.Context, f func(Conn) error) error
}

// Conn runs statements whose arguments are marked ?1, ?2 and so on. Arguments are int,
// int64, uint64, string and []byte.
type Conn interface {
	// Exec tells how many rows it changed.
	Exec(ctx context.Context, sql string, args ...any) (int64, error)
	// Query gives each row to f, which must not use the connection.
	Query(ctx context.Context, f func(Row) error, sql string, args ...any) error
}

// Row is one row of a result, valid inside the function that it is given to.
type Row interface {
	Int(column int) int64
	Text(column int) string
	// Bytes is a copy; empty for NULL.
	Bytes(column int) []byte
}

// Service is the tables of one store.
type Service struct{ db Database }

// New gives the tables in db.
func New(db Database) *Service { return &Service{db} }

// Secret gives random bytes that every process on the store shares, by name. Where there
// are none yet, fresh ones become them.
func (s *Service) Secret(ctx context.Context, name string, fresh []byte) (kept []byte, err error) {
	err = s.db.Change(ctx, func(c Conn) error {
		if _, err := c.Exec(ctx, "INSERT INTO secrets (name, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING", name, fresh); err != nil {
			return err
		}
		return c.Query(ctx, func(r Row) error { kept = r.Bytes(0); return nil }, "SELECT bytes FROM secrets WHERE name = ?1", name)
	})
	return kept, err
}

// queryInt is the one integer that a query gives, 0 where it gives no row.
func queryInt(ctx context.Context, c Conn, sql string, args ...any) (n int64, err error) {
	err = c.Query(ctx, func(r Row) error { n = r.Int(0); return nil }, sql, args...)
	return n, err
}

// queryAll reads all rows of a query.
func queryAll[T any](ctx context.Context, c Conn, read func(Row) (T, error), sql string, args ...any) (all []T, err error) {
	err = c.Query(ctx, func(r Row) error {
		one, err := read(r)
		all = append(all, one)
		return err
	}, sql, args...)
	return all, err
}

// queryOne reads the one row that a query gives, if it gives one.
func queryOne[T any](ctx context.Context, db Database, read func(Row) (T, error), sql string, args ...any) (one T, found bool, err error) {
	err = db.Snapshot(ctx, func(c Conn) error {
		all, err := queryAll(ctx, c, read, sql, args...)
		if found = len(all) > 0; found {
			one = all[0]
		}
		return err
	})
	return one, found, err
}

// Millis is a time as milliseconds since 1970.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Time is what Millis made a number of.
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
