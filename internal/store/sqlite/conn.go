package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	driverlib "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"loregate/internal/store/sqlstore"
)

var _ sqlstore.Conn = (*conn)(nil)

// maxStatements bounds a connection's cache of prepared statements. Filters and partitions produce
// a few hundred different statements.
const maxStatements = 400

// conn is one connection with its prepared statements. One goroutine uses it at a time. It calls
// the driver directly: for point reads, database/sql costs as much again as SQLite itself.
//
// If steady is set, conn checks the context before each statement and not during it: the driver's
// watching of the context costs a goroutine per statement, more than the short statements of a
// write.
type conn struct {
	raw    driver.Conn
	stmts  map[string]*prepared
	steady bool
	unread bool // the read transaction begins with the first statement, which has not run yet
	worlds worldCache
	// confined is damage of the table of commits that was found when the connection was opened.
	confined string
}

type prepared struct {
	stmt interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}
	rows rows
	busy bool
}

func newConn(raw driver.Conn) *conn {
	return &conn{raw: raw, stmts: make(map[string]*prepared)}
}

func (c *conn) close() error {
	for _, p := range c.stmts {
		_ = p.stmt.Close()
	}
	c.stmts = nil
	return c.raw.Close()
}

// prepareStatement returns the cached statement of a text, or a new one if the cached one is in
// use.
func (c *conn) prepareStatement(ctx context.Context, sql string) (p *prepared, cached bool, err error) {
	p, known := c.stmts[sql]
	if known && !p.busy {
		return p, true, nil
	}
	s, err := c.raw.(driver.ConnPrepareContext).PrepareContext(ctx, sql)
	if err != nil {
		return nil, false, fmt.Errorf("prepare %.200q: %w", sql, err)
	}
	var ok bool
	p = &prepared{}
	if p.stmt, ok = s.(interface {
		driver.Stmt
		driver.StmtExecContext
		driver.StmtQueryContext
	}); !ok {
		return nil, false, errors.New("the SQLite driver's statements take no context")
	}
	if known {
		return p, false, nil
	}
	if len(c.stmts) >= maxStatements {
		c.dropStatements()
	}
	c.stmts[sql] = p
	return p, true, nil
}

// dropStatements closes every prepared statement that is not running. It does not track use:
// preparing a statement again costs only some 50 µs.
func (c *conn) dropStatements() {
	for sql, p := range c.stmts {
		if !p.busy {
			_ = p.stmt.Close()
			delete(c.stmts, sql)
		}
	}
}

// bindArgs converts arguments to the driver's form. Arguments are int, int64, uint64, string,
// []byte, bool or nil.
func bindArgs(args []any) []driver.NamedValue {
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case int:
			a = int64(v)
		case uint64:
			a = int64(v)
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return named
}

// statementContext begins the read transaction if it has not begun, and returns the context to run
// a statement with.
func (c *conn) statementContext(ctx context.Context) (context.Context, error) {
	if c.unread {
		c.unread = false
		if _, err := c.Exec(context.Background(), "BEGIN"); err != nil {
			return nil, err
		}
	}
	if !c.steady {
		return ctx, nil
	}
	return context.Background(), ctx.Err()
}

// Exec runs a statement and returns how many rows it changed.
func (c *conn) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	res, err := c.run(ctx, sql, args)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Put is Exec: a statement costs no round trip.
func (c *conn) Put(ctx context.Context, sql string, args ...any) error {
	_, err := c.Exec(ctx, sql, args...)
	return err
}

// insert runs an INSERT and returns the number of the new row; 0 if no row was inserted.
func (c *conn) insert(ctx context.Context, sql string, args ...any) (int64, error) {
	res, err := c.run(ctx, sql, args)
	if err != nil {
		return 0, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return 0, err
	}
	return res.LastInsertId()
}

func (c *conn) run(ctx context.Context, sql string, args []any) (driver.Result, error) {
	ctx, err := c.statementContext(ctx)
	if err != nil {
		return nil, err
	}
	p, cached, err := c.prepareStatement(ctx, sql)
	if err != nil {
		return nil, err
	}
	if !cached {
		defer p.stmt.Close()
	}
	p.busy = true
	defer func() { p.busy = false }()
	return p.stmt.ExecContext(ctx, bindArgs(args))
}

// rows is the result of a query; a statement has one at a time. The values of a row are copies that
// the caller may keep.
type rows struct {
	raw    driver.Rows // nil after Close
	values []driver.Value
	of     *prepared
	cached bool // the statement is kept for the next use
	err    error
}

// Query runs a query.
func (c *conn) Query(ctx context.Context, sql string, args ...any) sqlstore.Rows {
	ctx, err := c.statementContext(ctx)
	if err != nil {
		return &rows{err: err}
	}
	p, cached, err := c.prepareStatement(ctx, sql)
	if err != nil {
		return &rows{err: err}
	}
	raw, err := p.stmt.QueryContext(ctx, bindArgs(args))
	if err != nil {
		if !cached {
			_ = p.stmt.Close()
		}
		return &rows{err: err}
	}
	p.busy = true
	if p.rows.values == nil {
		p.rows.values = make([]driver.Value, len(raw.Columns()))
	}
	p.rows.raw, p.rows.of, p.rows.cached, p.rows.err = raw, p, cached, nil
	return &p.rows
}

// Next reads the next row.
func (r *rows) Next() bool {
	if r.raw == nil || r.err != nil {
		return false
	}
	err := r.raw.Next(r.values)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return err == nil
}

// Close ends the query.
func (r *rows) Close() error {
	if r.raw == nil {
		return r.err
	}
	err := r.raw.Close()
	r.raw, r.of.busy = nil, false
	if !r.cached {
		_ = r.of.stmt.Close()
	}
	if r.err == nil {
		r.err = err
	}
	return r.err
}

func (r *rows) Int(i int) int64 {
	n, _ := r.values[i].(int64)
	return n
}

func (r *rows) Text(i int) string {
	s, _ := r.values[i].(string)
	return s
}

func (r *rows) Bytes(i int) []byte { return r.Raw(i) }

// valueAt returns a value of any type of a row that was read by a conn.
func valueAt(r sqlstore.Row, i int) driver.Value { return r.(*rows).values[i] }

func (r *rows) Raw(i int) []byte {
	b, _ := r.values[i].([]byte)
	return b
}

// isBusy reports whether err is a lock held by another connection.
func isBusy(err error) bool {
	var e *driverlib.Error
	return errors.As(err, &e) && (e.Code()&0xff == lib.SQLITE_BUSY || e.Code()&0xff == lib.SQLITE_LOCKED)
}

// isTaken reports whether err is a violation of a unique index.
func isTaken(err error) bool {
	var e *driverlib.Error
	return errors.As(err, &e) && e.Code() == lib.SQLITE_CONSTRAINT_UNIQUE
}
