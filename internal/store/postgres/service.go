package postgres

import (
	"context"
	"strings"

	"loregate/internal/store/service"
)

// serviceDatabase is the service.Database of a store.
type serviceDatabase struct{ s *Store }

func (b serviceDatabase) Snapshot(ctx context.Context, f func(service.Conn) error) error {
	return b.s.read(ctx, func(c *conn) error { return f(serviceConn{c}) })
}

func (b serviceDatabase) Change(ctx context.Context, f func(service.Conn) error) error {
	return b.s.write(ctx, func(t *tx) error { return f(serviceConn{t.c}) })
}

// serviceConn is the service.Conn of a connection, for SQL that both databases understand.
type serviceConn struct{ c *conn }

func (p serviceConn) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	return p.c.exec(ctx, convertMarks(sql), args...)
}

func (p serviceConn) Query(ctx context.Context, f func(service.Row) error, sql string, args ...any) error {
	return p.c.query(ctx, func(r row) error { return f(serviceRow(r)) }, convertMarks(sql), args...)
}

// convertMarks replaces ?1 by $1 and so on. The statements of package service have no other
// question marks.
func convertMarks(sql string) string { return strings.ReplaceAll(sql, "?", "$") }

type serviceRow row

func (r serviceRow) Int(i int) int64    { return row(r).intAt(i) }
func (r serviceRow) Text(i int) string  { return row(r).textAt(i) }
func (r serviceRow) Bytes(i int) []byte { return row(r).bytesAt(i) }
