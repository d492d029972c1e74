package sqlstore

import (
	"context"
	"errors"
	"time"
)

// Conn is a store's connection inside a transaction. Arguments are int, int64, uint64, bool,
// string, []byte, nil, and the list of a Dialect.
type Conn interface {
	// Query runs a query. The caller closes the rows before it uses the connection again. If the
	// query fails, there are no rows and Close returns the error.
	Query(ctx context.Context, sql string, args ...any) Rows
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, sql string, args ...any) (int64, error)
	// Put runs a statement at once or together with the next query, which then returns its error.
	Put(ctx context.Context, sql string, args ...any) error
}

// Row is one row of a result.
type Row interface {
	Int(column int) int64 // a boolean is 0 or 1; 0 for NULL
	Text(column int) string
	Bytes(column int) []byte // the caller may keep them; nil for NULL
	Raw(column int) []byte   // the bytes of a column until the next row is read; nil for NULL
}

// Rows is the result of a query: Row is the row that Next has read.
type Rows interface {
	Row
	Next() bool
	// Close ends the query and returns its error. It may be called before the last row.
	Close() error
}

// ErrStop ends Each early without an error.
var ErrStop = errors.New("stop")

// Each runs a query and calls f with each row. f must not use the connection; it may return ErrStop
// to end the query.
func Each(ctx context.Context, c Conn, f func(Row) error, sql string, args ...any) (err error) {
	rows := c.Query(ctx, sql, args...)
	defer func() {
		if closed := rows.Close(); err == nil {
			err = closed
		}
	}()
	for rows.Next() {
		if err := f(rows); err == ErrStop {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// One runs a query of at most one row and reports whether it returned a row.
func One(ctx context.Context, c Conn, f func(Row) error, sql string, args ...any) (found bool, err error) {
	err = Each(ctx, c, func(r Row) error {
		found = true
		if err := f(r); err != nil {
			return err
		}
		return ErrStop
	}, sql, args...)
	return found, err
}

// QueryInt runs a query for one integer; 0 if it returns no row.
func QueryInt(ctx context.Context, c Conn, sql string, args ...any) (n int64, err error) {
	rows := c.Query(ctx, sql, args...)
	if rows.Next() {
		n = rows.Int(0)
	}
	return n, rows.Close()
}

// queryAll reads all rows of a query.
func queryAll[T any](ctx context.Context, c Conn,
	read func(Row) (T, error), sql string, args ...any) (all []T, err error) {
	err = Each(ctx, c, func(r Row) error {
		one, err := read(r)
		all = append(all, one)
		return err
	}, sql, args...)
	return all, err
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

// ceilMillis converts a time bound to stored precision: the first stored time not before it.
func ceilMillis(t time.Time) int64 { return Millis(t.Add(time.Millisecond - time.Nanosecond)) }
