package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/search"
	"loregate/internal/store/group"
	"loregate/internal/store/sqlstore"
)

// write runs f in a transaction and returns when it is durable or undone.
func (s *Store) write(ctx context.Context, f func(*tx) error) (err error) {
	defer func() { s.noteWrite(err) }()
	if err := s.beginCall(ctx); err != nil {
		return err
	}
	defer s.calls.End()
	if err := s.damaged.Load(); err != nil {
		return *err
	}
	var t *tx
	err = s.writes.Do(ctx, func(given *tx) error {
		t = given
		return f(t)
	})
	if err == nil {
		t.Committed(func(id access.WorldID, w int64) { s.finder.Library.Changed(search.ID(id), t.touched[w]) })
		sqlstore.Scrub(ctx, s.finder, s.cfg.Log, t.scrubbed)
	}
	return toFault(err)
}

// errLost is returned by writes whose transaction the server rolled back at COMMIT.
var errLost = errors.New("postgres: the transaction was not committed")

// errUnconfirmed is returned by writes that the server committed with a warning: it stopped waiting
// for its synchronous standbys. A failover may lose them.
var errUnconfirmed = &fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second,
	Message: "the database's standbys did not confirm the write, which may or may not be kept; try again"}

// errInDoubt is returned by writes whose connection was lost while they were committed.
var errInDoubt = &fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second,
	Message: "the connection to the database was lost while the write was stored, so that it may or may not be kept; " +
		"try again with the same idempotency key, or look first"}

// Warnings of a connection are kept under this key of its custom data.
const warningKey = "loregate.warning"

// noteWarning keeps a warning of the server for the writer, which looks at it after a commit. The
// warning's text depends on the server's language.
func noteWarning(c *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		c.CustomData()[warningKey] = n.Message
	}
}

// writer is the connection for writing.
type writer struct {
	s *Store
	p *pgxpool.Conn // kept from one transaction to the next; nil until the first Begin and after Close
	c *conn

	timeline uint32 // of the server, at the beginning of the transaction
}

var _ group.Conn[*tx] = (*writer)(nil)

// Begin implements group.Conn. It replaces a connection that was lost while idle.
func (w *writer) Begin() error {
	err := w.begin()
	if err != nil && w.p == nil && isClosed(err) {
		err = w.begin()
	}
	return err
}

// begin takes the writer lock, which one writer in all processes holds. The snapshots of later
// statements are taken after it and therefore see the commit of its last holder.
func (w *writer) begin() error {
	ctx, cancel := context.WithTimeout(context.Background(), w.s.cfg.Wait)
	defer cancel()
	if w.p == nil {
		p, err := w.s.direct.Acquire(ctx)
		if err != nil {
			return err
		}
		w.p, w.c = p, &conn{raw: p.Conn(), steady: true, analyzeAt: w.s.analyzeAt}
	}
	w.c.enqueueBeforeLock("BEGIN")
	// others wait for the writer lock
	w.c.enqueueBeforeLock("SET LOCAL idle_in_transaction_session_timeout = " + millisText(2*w.s.cfg.Wait))
	format := 0
	_, err := sqlstore.One(context.Background(), w.c, func(r sqlstore.Row) error {
		format, w.timeline = int(r.Int(0)), timelineOf(r.Text(1))
		return nil
	}, "SELECT format, "+lineSQL+" FROM writer FOR UPDATE")
	if err == nil {
		err = checkFormat(format)
	}
	if err == nil {
		err = w.s.failover.checkTimeline(w.timeline)
	}
	if err != nil {
		_ = w.Rollback() // always returns nil
		return err
	}
	w.c.wrote = false
	return nil
}

// Save implements group.Conn. It first sends statements that the first write left queued because no
// other write was waiting.
func (w *writer) Save() error {
	if err := w.c.flush(context.Background()); err != nil {
		return err
	}
	w.c.enqueue("SAVEPOINT one")
	return nil
}

// StartWrite implements group.Conn.
func (w *writer) StartWrite() *tx {
	t := &tx{reader: reader{Reader: sqlstore.NewReader(w.c, dialect, &w.s.caches), c: w.c}}
	t.Tx, t.SnapshotFinder = sqlstore.NewTx(&t.Reader), w.s.finder.Bind(&t.reader)
	return t
}

// EndWrite implements group.Conn. It clears the transaction's connection, so that a later use of
// the transaction panics. If no other write waits, the last statements of a single write are sent
// together with the commit.
func (w *writer) EndWrite(t *tx, err error, first, alone bool) error {
	t.c, t.Conn = nil, nil
	if err != nil {
		return err
	}
	if !first {
		w.c.enqueue("RELEASE SAVEPOINT one")
	}
	if first && alone {
		return nil
	}
	return w.c.flush(context.Background())
}

// UndoWrite implements group.Conn.
func (w *writer) UndoWrite() error {
	sent := len(w.c.pending) == 0 || w.c.pending[0].sql != "SAVEPOINT one"
	w.c.pending = w.c.pending[:0]
	if !sent {
		return nil
	}
	_, err := w.c.raw.Exec(context.Background(), "ROLLBACK TO SAVEPOINT one; RELEASE SAVEPOINT one")
	return err
}

// Commit implements group.Conn. It commits nothing if the primary was lost or replaced since the
// transaction began.
func (w *writer) Commit() error {
	if err := w.s.failover.checkTimeline(w.timeline); err != nil {
		return err
	}
	wrote := w.c.wrote
	delete(w.p.Conn().PgConn().CustomData(), warningKey)
	if wrote {
		w.c.enqueue("UPDATE writer SET n = n + 1, mark = n + 1")
	}
	tag, err := w.sendCommit()
	if err == nil && tag.String() != "COMMIT" {
		err = errLost
	}
	if wrote && isInDoubt(err) {
		err = errInDoubt.Because(err)
	}
	if warning := w.p.Conn().PgConn().CustomData()[warningKey]; err == nil && warning != nil {
		w.s.failover.doubt()
		err = errUnconfirmed.Because(fmt.Errorf("commit: the server warned: %v", warning))
	}
	if err == nil && wrote { // a write transaction that only looks for work must not wake its own process
		w.s.watch.announceWrite()
	}
	return err
}

// isInDoubt reports whether a commit failed without the server's word on whether it took place.
func isInDoubt(err error) bool {
	if err == nil || fault.KindOf(err) != fault.Internal {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == adminShutdown || e.Code == crashShutdown
	}
	return isClosed(err)
}

// commitWithin is the time in which standbys must confirm a commit. Patroni replaces a standby that
// is gone in less.
const commitWithin = 10 * time.Second

// sendCommit sends the queued statements and the commit. If standbys do not confirm it in time, it
// gives the connection up: the server goes on waiting, and a canceled wait would end as a success.
func (w *writer) sendCommit() (pgconn.CommandTag, error) {
	if !w.s.failover.several() {
		return w.c.run(context.Background(), "COMMIT", nil)
	}
	var late atomic.Bool
	c, failover := w.p.Conn().PgConn().Conn(), w.s.failover
	timer := time.AfterFunc(commitWithin, func() {
		late.Store(true)
		failover.doubt()
		_ = c.Close()
	})
	defer timer.Stop()
	tag, err := w.c.run(context.Background(), "COMMIT", nil)
	if err != nil && late.Load() {
		err = errUnconfirmed.Because(err)
	}
	return tag, err
}

// Rollback implements group.Conn. If it cannot roll the transaction back, it closes the connection.
func (w *writer) Rollback() error {
	w.c.pending = w.c.pending[:0]
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if w.c.raw.IsClosed() {
		w.s.direct.Reset() // the cause may have ended the other connections too
		w.Close()
	} else if _, err := w.c.raw.Exec(ctx, "ROLLBACK"); err != nil {
		_ = w.c.raw.Close(ctx)
		w.Close()
	}
	return nil
}

// Close returns the connection to the pool, which replaces it if it is closed.
func (w *writer) Close() {
	if w.p != nil {
		w.p.Release()
		w.p, w.c = nil, nil
	}
}

// tx is a canon.Tx: it writes, and reads its own writes.
type tx struct {
	reader
	sqlstore.Tx
	touched  map[int64]int64  // by world number: how many cards are to be indexed again
	scrubbed []access.WorldID // worlds whose index files must be rewritten without erased text
}
