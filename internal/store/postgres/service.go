package postgres

import (
	"context"
	"strings"

	"loregate/internal/store/service"
)

// backstage is the store for what service keeps in it.
type backstage struct{ s *Store }

func (b backstage) Snapshot(ctx context.Context, f func(service.Conn) error) error {
	return b.s.read(ctx, func(c *conn) error { return f(serviceConn{c}) })
}

func (b backstage) Change(ctx context.Context, f func(service.Conn) error) error {
	return b.s.write(ctx, func(t *tx) error { return f(serviceConn{t.c}) })
}

// serviceConn is a connection for statements that both databases understand.
type serviceConn struct{ c *conn }

func (p serviceConn) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	return p.c.exec(ctx, marked(sql), args...)
}

func (p serviceConn) Query(ctx context.Context, f func(service.Row) error, sql string, args ...any) error {
	return p.c.query(ctx, func(r row) error { return f(serviceRow(r)) }, marked(sql), args...)
}

// marked makes PostgreSQL's marks of service's. Its statements have no other ?.
func marked(sql string) string { return strings.ReplaceAll(sql, "?", "$") }

type serviceRow row

func (r serviceRow) Int(i int) int64    { return row(r).int(i) }
func (r serviceRow) Text(i int) string  { return row(r).text(i) }
func (r serviceRow) Bytes(i int) []byte { return row(r).bytes(i) }
