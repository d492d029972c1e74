package postgres

import (
	"cmp"
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

	"loregate/internal/slicesx"
	"loregate/internal/store/sqlstore"
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
	rows      rows // the result of the query that is running
}

var _ sqlstore.Conn = (*conn)(nil)

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
	_, err := c.Exec(ctx, last.sql, last.args...)
	return err
}

// startBatch sends the queued statements and list after them. The caller reads the results of list
// and closes them.
func (c *conn) startBatch(ctx context.Context, list []statement) (pgx.BatchResults, error) {
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
	for range waiting {
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // returns the same error
			return nil, err
		}
	}
	return results, nil
}

// batchQuery is a query that is sent in one round trip with others.
type batchQuery struct {
	sql  string
	args []any
	f    func(sqlstore.Row) error // called with each row; must not use the connection
}

// queryBatch runs several queries in one round trip.
func (c *conn) queryBatch(ctx context.Context, list []batchQuery) (err error) {
	if len(list) == 0 {
		return nil
	}
	if ctx, err = c.statementContext(ctx); err != nil {
		return err
	}
	statements := slicesx.Map(list, func(q batchQuery) statement { return statement{q.sql, bindArgs(q.args)} })
	results, err := c.startBatch(ctx, statements)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, results.Close()) }()
	for _, q := range list {
		r := rows{}
		r.raw, r.err = results.Query()
		for err == nil && r.Next() {
			err = q.f(&r)
		}
		if err = cmp.Or(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Exec runs a statement and returns how many rows it changed.
func (c *conn) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
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
	results, err := c.startBatch(ctx, []statement{{sql, args}})
	if err != nil {
		return tag, err
	}
	tag, err = results.Exec()
	return tag, cmp.Or(err, results.Close())
}

// Put queues a statement. If it fails, the next query returns the error.
func (c *conn) Put(_ context.Context, sql string, args ...any) error {
	c.enqueue(sql, args...)
	return nil
}

// rows is the result of a query in PostgreSQL's binary form. Its columns are smallint to bigint,
// boolean, real and double precision, text, bytea and uuid.
type rows struct {
	raw   pgx.Rows
	batch pgx.BatchResults // that the result is a part of; nil if the query was sent alone
	row   [][]byte
	err   error
}

// Query runs a query, after the queued statements and in one round trip with them.
func (c *conn) Query(ctx context.Context, sql string, args ...any) sqlstore.Rows {
	ctx, err := c.statementContext(ctx)
	if err != nil {
		return &rows{err: err}
	}
	args = bindArgs(args)
	c.wrote = c.wrote || mayChange(sql)
	r := &c.rows
	*r = rows{}
	if len(c.pending) == 0 {
		r.raw, r.err = c.raw.Query(ctx, sql, args...)
		return r
	}
	if r.batch, r.err = c.startBatch(ctx, []statement{{sql, args}}); r.err == nil {
		r.raw, r.err = r.batch.Query()
	}
	return r
}

// Next reads the next row.
func (r *rows) Next() bool {
	if r.raw == nil || r.err != nil || !r.raw.Next() {
		return false
	}
	r.row = r.raw.RawValues()
	return true
}

// Close ends the query.
func (r *rows) Close() error {
	if r.raw != nil {
		r.raw.Close()
		r.err = cmp.Or(r.err, r.raw.Err())
	}
	if r.batch != nil {
		r.err = cmp.Or(r.err, r.batch.Close())
	}
	r.raw, r.batch = nil, nil
	return r.err
}

func (r *rows) Int(i int) int64 {
	switch b := r.row[i]; len(b) {
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

func (r *rows) Text(i int) string { return string(r.row[i]) }

func (r *rows) Bytes(i int) []byte {
	if r.row[i] == nil {
		return nil
	}
	return append([]byte{}, r.row[i]...)
}

func (r *rows) Raw(i int) []byte { return r.row[i] }

// isClosed reports whether an error comes from a closed or lost connection.
func isClosed(err error) bool {
	var op net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, &op) ||
		strings.Contains(err.Error(), "conn closed")
}
