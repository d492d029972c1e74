package postgres

import (
	"context"

	"loregate/internal/store/sqlstore"
)

// serviceDatabase is the sqlstore.Database of a store.
type serviceDatabase struct{ s *Store }

func (b serviceDatabase) Snapshot(ctx context.Context, f func(sqlstore.Conn) error) error {
	return b.s.read(ctx, func(c *conn) error { return f(c) })
}

func (b serviceDatabase) Change(ctx context.Context, f func(sqlstore.Conn) error) error {
	return b.s.write(ctx, func(t *tx) error { return f(t.c) })
}
