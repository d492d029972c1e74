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

// conn is one connection inside a transaction, used by one goroutine at a time. Writes
// that nobody asks the outcome of wait until the next query, and go to the server in one
// round with it.
//
// A steady one looks at the context before each statement and not during it: a context
// that ends under a statement costs pgx the connection, and here with it the writes of
// others. The server's statement_timeout bounds what it waits.
type conn struct {
	raw       *pgx.Conn
	pending   []statement
	steady    bool
	queued    int  // statements so far
	analyzeAt int  // how many of them make it time for statistics; 0 for never
	wrote     bool // a statement was sent or queued that may change something
}

type statement struct {
	sql  string
	args []any
}

// enqueueBeforeLock queues a statement that comes before the writer's lock. Nothing else may: what is
// locked while others are waited for may be what they wait for.
func (c *conn) enqueueBeforeLock(sql string) { c.pending = append(c.pending, statement{sql: sql}) }

// enqueue queues a statement; its failure is that of the next query.
func (c *conn) enqueue(sql string, args ...any) {
	c.pending = append(c.pending, statement{sql, bindArgs(args)})
	c.wrote = c.wrote || mayChange(sql)
	if c.queued++; c.queued == c.analyzeAt {
		c.pending = append(c.pending, statement{sql: analyzeSQL})
		c.analyzeAt *= 4
	}
	if len(c.pending) >= maxPending {
		// An error stays with the transaction, and shows at the next query.
		_ = c.flush(context.Background())
	}
}

// enqueueInstead queues a statement in the place of one that waits with another text and the
// same first two arguments, which name the row that both write; as later where none waits.
func (c *conn) enqueueInstead(other, sql string, args ...any) {
	for i, s := range slices.Backward(c.pending) {
		if s.sql == other && slices.Equal(s.args[:2], args[:2]) {
			c.pending[i] = statement{sql, bindArgs(args)}
			return
		}
	}
	c.enqueue(sql, args...)
}

// mayChange tells a statement that may change rows from those that look, and from those
// that steer a transaction.
func mayChange(sql string) bool {
	verb, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	switch verb {
	case "SELECT", "BEGIN", "SET", "SAVEPOINT", "RELEASE", "ROLLBACK", "COMMIT":
		return false
	}
	return true
}

// analyzeSQL has the server count what tables hold. While it knows nothing of a table it takes
// any index for as good as another; its own rounds come too late for a first import.
const analyzeSQL = "ANALYZE cards, aliases, versions, refs, links, layers, events, docs, commits"

// firstAnalyze is after how many statements on an empty store statistics are first made; a
// store with fewSure cards has them.
const (
	firstAnalyze = 400
	fewCards     = 5000
)

// maxPending bounds what waits; a round with more statements is no shorter for each.
const maxPending = 200

// bindArgs makes pgx's form of arguments. PostgreSQL's texts cannot hold what is no
// UTF-8, or NUL; as nothing that is kept has either, nothing is found by it.
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

// statementContext is the context that a statement runs under.
func (c *conn) statementContext(ctx context.Context) (context.Context, error) {
	if !c.steady {
		return ctx, nil
	}
	return context.Background(), ctx.Err()
}

// flush sends what waits.
func (c *conn) flush(ctx context.Context) error {
	if len(c.pending) == 0 {
		return nil
	}
	last := c.pending[len(c.pending)-1]
	c.pending = c.pending[:len(c.pending)-1]
	_, err := c.exec(ctx, last.sql, last.args...)
	return err
}

// sendBatch sends what waits and statements after it, of which f takes the outcomes.
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

// batchQuery is a query of several that go to the server in one round.
type batchQuery struct {
	sql  string
	args []any
	f    func(row) error // takes a row, and must not use the connection
}

// queryBatch runs several queries in one round.
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

// readNext gives the rows of the next outcome to f.
func readNext(r pgx.BatchResults, f func(row) error) error {
	rows, err := r.Query()
	if err != nil {
		return err
	}
	return eachRow(rows, f)
}

// exec runs a statement and tells how many rows it changed.
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
	err = c.sendBatch(ctx, []statement{{sql, args}}, func(r pgx.BatchResults) (err error) { tag, err = r.Exec(); return err })
	return tag, err
}

// row is one row of a result in PostgreSQL's binary form, valid inside the function it is
// given to. Its columns are smallint to bigint, boolean, real and double precision, text,
// bytea and uuid.
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

// bytesAt is a copy; nil for NULL.
func (r row) bytesAt(i int) []byte {
	if r[i] == nil {
		return nil
	}
	return append([]byte{}, r[i]...)
}

// errStop ends a query early without failing it.
var errStop = errors.New("stop")

// query runs a statement and gives each row to f, which must not use the connection.
// errStop from f ends it.
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

// queryOne runs a query of at most one row and tells whether there was one.
func (c *conn) queryOne(ctx context.Context, f func(row) error, sql string, args ...any) (found bool, err error) {
	err = c.query(ctx, func(r row) error {
		found = true
		return f(r)
	}, sql, args...)
	return found, err
}

// queryInt runs a query for one integer, 0 where it gives no row.
func (c *conn) queryInt(ctx context.Context, sql string, args ...any) (n int64, err error) {
	_, err = c.queryOne(ctx, func(r row) error { n = r.intAt(0); return nil }, sql, args...)
	return n, err
}

// isClosed reports whether an error is that of a connection that is gone.
func isClosed(err error) bool {
	var op net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &op) ||
		strings.Contains(err.Error(), "conn closed")
}
