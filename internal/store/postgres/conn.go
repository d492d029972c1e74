package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// conn is one connection inside a transaction. One goroutine uses it at a time. Writes whose
// outcome the caller does not need are queued until the next query, and sent in one round trip with
// it.
//
// If steady is set, conn checks the context before each statement and not during it: a context that
// ends during a statement makes pgx close the connection, and with it the writes of other callers.
// The server's statement_timeout limits the duration of a statement.
type conn struct {
	raw       *pgx.Conn
	pending   []statement
	steady    bool
	queued    int  // number of statements queued so far
	analyzeAt int  // value of queued at which to update statistics; 0 for never
	wrote     bool // a statement that may change rows was sent or queued
}

type statement struct {
	sql  string
	args []any
}

// enqueueBeforeLock queues a statement that runs before the writer lock is taken. Such a statement
// must not lock anything: the lock's current holder might need the locked rows or tables.
func (c *conn) enqueueBeforeLock(sql string) { c.pending = append(c.pending, statement{sql: sql}) }

// enqueue queues a statement. If it fails, the next query returns the error.
func (c *conn) enqueue(sql string, args ...any) {
	c.pending = append(c.pending, statement{sql, bindArgs(args)})
	c.wrote = c.wrote || mayChange(sql)
	if c.queued++; c.queued == c.analyzeAt {
		c.pending = append(c.pending, statement{sql: analyzeSQL})
		c.analyzeAt *= 4
	}
	if len(c.pending) >= maxPending {
		// The transaction keeps the error, and the next query returns it.
		_ = c.flush(context.Background())
	}
}

// enqueueInstead replaces a queued statement that has the text other and the same first two
// arguments, which identify the row that both write. If there is none, it calls enqueue.
func (c *conn) enqueueInstead(other, sql string, args ...any) {
	for i, s := range slices.Backward(c.pending) {
		if s.sql == other && slices.Equal(s.args[:2], args[:2]) {
			c.pending[i] = statement{sql, bindArgs(args)}
			return
		}
	}
	c.enqueue(sql, args...)
}

// mayChange reports whether a statement may change rows: it is neither a query nor transaction
// control.
func mayChange(sql string) bool {
	verb, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	switch verb {
	case "SELECT", "BEGIN", "SET", "SAVEPOINT", "RELEASE", "ROLLBACK", "COMMIT":
		return false
	}
	return true
}

// analyzeSQL updates the table statistics. Without them the server considers any index as good as
// another, and autovacuum comes too late for a first import.
const analyzeSQL = "ANALYZE cards, aliases, versions, refs, links, layers, events, docs, commits"

// firstAnalyze is the number of statements on an empty store after which statistics are first
// updated. A store with at least fewCards cards has statistics already.
const (
	firstAnalyze = 400
	fewCards     = 5000
)

// maxPending limits the queued statements; more of them do not make a round trip cheaper per
// statement.
const maxPending = 200

// bindArgs converts arguments to pgx's form. PostgreSQL's texts cannot hold invalid UTF-8 or NUL,
// so both are replaced; since no stored text contains either, a query with them finds nothing.
func bindArgs(args []any) []any {
	for i, a := range args {
		switch v := a.(type) {
		case uint64:
			args[i] = int64(v)
		case string:
			args[i] = storableText(v)
		case []string:
			for j := range v {
				v[j] = storableText(v[j])
			}
		}
	}
	return args
}

func storableText(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// statementContext returns the context to run a statement with.
func (c *conn) statementContext(ctx context.Context) (context.Context, error) {
	if !c.steady {
		return ctx, nil
	}
	return context.Background(), ctx.Err()
}

// flush sends the queued statements.
func (c *conn) flush(ctx context.Context) error {
	if len(c.pending) == 0 {
		return nil
	}
	last := c.pending[len(c.pending)-1]
	c.pending = c.pending[:len(c.pending)-1]
	_, err := c.exec(ctx, last.sql, last.args...)
	return err
}

// sendBatch sends the queued statements and list after them. f reads the results of list.
func (c *conn) sendBatch(ctx context.Context, list []statement, f func(pgx.BatchResults) error) (err error) {
	var batch pgx.Batch
	for _, s := range c.pending {
		batch.Queue(s.sql, s.args...)
	}
	waiting := len(c.pending)
	c.pending = c.pending[:0]
	for _, s := range list {
		batch.Queue(s.sql, s.args...)
	}
	results := c.raw.SendBatch(ctx, &batch)
	defer func() {
		if cerr := results.Close(); err == nil {
			err = cerr
		}
	}()
	for range waiting {
		if _, err := results.Exec(); err != nil {
			return err
		}
	}
	return f(results)
}

// batchQuery is a query that is sent in one round trip with others.
type batchQuery struct {
	sql  string
	args []any
	f    func(row) error // called with each row; must not use the connection
}

// queryBatch runs several queries in one round trip.
func (c *conn) queryBatch(ctx context.Context, list []batchQuery) (err error) {
	if len(list) == 0 {
		return nil
	}
	if ctx, err = c.statementContext(ctx); err != nil {
		return err
	}
	statements := make([]statement, len(list))
	for i, q := range list {
		statements[i] = statement{q.sql, bindArgs(q.args)}
	}
	return c.sendBatch(ctx, statements, func(r pgx.BatchResults) error {
		for _, q := range list {
			if err := readNext(r, q.f); err != nil {
				return err
			}
		}
		return nil
	})
}

// readNext calls f with the rows of the next result.
func readNext(r pgx.BatchResults, f func(row) error) error {
	rows, err := r.Query()
	if err != nil {
		return err
	}
	return eachRow(rows, f)
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	tag, err := c.run(ctx, sql, args)
	return tag.RowsAffected(), err
}

func (c *conn) run(ctx context.Context, sql string, args []any) (tag pgconn.CommandTag, err error) {
	if ctx, err = c.statementContext(ctx); err != nil {
		return tag, err
	}
	args = bindArgs(args)
	c.wrote = c.wrote || mayChange(sql)
	if len(c.pending) == 0 {
		return c.raw.Exec(ctx, sql, args...)
	}
	err = c.sendBatch(ctx, []statement{{sql, args}},
		func(r pgx.BatchResults) (err error) { tag, err = r.Exec(); return err })
	return tag, err
}

// row is one row of a result in PostgreSQL's binary form. It is valid only inside the callback that
// receives it. Its columns are smallint to bigint, boolean, real and double precision, text, bytea
// and uuid.
type row [][]byte

func (r row) intAt(i int) int64 {
	switch b := r[i]; len(b) {
	case 1:
		return int64(b[0])
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r row) boolAt(i int) bool { return r.intAt(i) != 0 }

func (r row) textAt(i int) string { return string(r[i]) }

// bytesAt returns a copy; nil for NULL.
func (r row) bytesAt(i int) []byte {
	if r[i] == nil {
		return nil
	}
	return append([]byte{}, r[i]...)
}

// errStop ends a query early without failing it.
var errStop = errors.New("stop")

// query runs a statement and calls f with each row. f must not use the connection; it may return
// errStop to end the query.
func (c *conn) query(ctx context.Context, f func(row) error, sql string, args ...any) (err error) {
	if ctx, err = c.statementContext(ctx); err != nil {
		return err
	}
	args = bindArgs(args)
	c.wrote = c.wrote || mayChange(sql)
	if len(c.pending) == 0 {
		rows, err := c.raw.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		return eachRow(rows, f)
	}
	return c.sendBatch(ctx, []statement{{sql, args}}, func(r pgx.BatchResults) error { return readNext(r, f) })
}

func eachRow(rows pgx.Rows, f func(row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := f(row(rows.RawValues())); err == errStop {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// queryOne runs a query of at most one row and reports whether it returned a row.
func (c *conn) queryOne(ctx context.Context, f func(row) error, sql string, args ...any) (found bool, err error) {
	err = c.query(ctx, func(r row) error {
		found = true
		return f(r)
	}, sql, args...)
	return found, err
}

// queryInt runs a query for one integer; 0 if it returns no row.
func (c *conn) queryInt(ctx context.Context, sql string, args ...any) (n int64, err error) {
	_, err = c.queryOne(ctx, func(r row) error { n = r.intAt(0); return nil }, sql, args...)
	return n, err
}

// isClosed reports whether an error comes from a closed or lost connection.
func isClosed(err error) bool {
	var op net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, &op) ||
		strings.Contains(err.Error(), "conn closed")
}
