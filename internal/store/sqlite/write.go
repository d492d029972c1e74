package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/search"
	"loregate/internal/store/group"
	"loregate/internal/store/sqlstore"
)

const (
	// A process that writes all the time releases the lock for yieldTime after each holdTime.
	// yieldTime is longer than the pause of other processes between their tries.
	holdTime  = 50 * time.Millisecond
	yieldTime = time.Millisecond
	tryEvery  = 500 * time.Microsecond
)

// write runs f in a transaction and returns when it is durable or undone.
func (s *Store) write(ctx context.Context, f func(*tx) error) (err error) {
	defer func() {
		s.health.noteOutcome(s.cfg, err)
		if isDamageCode(codeOf(err)) && s.Confined() != "" {
			err = besideDamage(s.cfg, err)
		}
		err = s.cfg.toFault(err)
	}()
	if err := s.calls.Begin(); err != nil {
		return err
	}
	defer s.calls.End()
	if err := s.health.foundDamage(); err != nil {
		return err
	}
	var t *tx
	err = s.writes.Do(ctx, func(given *tx) error {
		t = given
		if err := f(t); err != nil {
			return err
		}
		return t.flush(ctx)
	})
	if err == nil {
		s.updateCaches(t)
		sqlstore.Scrub(ctx, s.finder, s.cfg.Log, t.scrubbed)
	}
	return err
}

// writer is the connection for writing.
type writer struct {
	s       *Store
	c       *conn
	changes int64     // rows that the connection had changed when the transaction began
	heldAt  time.Time // when this process began to hold the lock without a pause
	lastAt  time.Time // when the last transaction ended
}

var _ group.Conn[*tx] = (*writer)(nil)

// yieldLock lets other processes take the lock.
func (w *writer) yieldLock() {
	now := time.Now()
	if now.Sub(w.lastAt) > yieldTime {
		w.heldAt = now
		return
	}
	if now.Sub(w.heldAt) > holdTime {
		time.Sleep(yieldTime)
		w.heldAt = time.Now()
	}
}

// Begin takes the write lock. Its tries are evenly spaced: SQLite's own busy handler backs off to
// 100 ms, and a process would starve beside busier ones. Inside the transaction nothing waits for
// another process.
func (w *writer) Begin() error {
	w.yieldLock()
	ctx := context.Background()
	end := time.Now().Add(w.s.cfg.Wait)
	for {
		_, err := w.c.Exec(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			if err = errors.Join(storeSchema.checkFileFormat(ctx, w.c), w.c.worlds.refresh(w.c)); err == nil {
				w.changes, err = sqlstore.QueryInt(ctx, w.c, changedRows)
			}
			if err != nil {
				err = errors.Join(err, w.Rollback())
			}
			return err
		}
		if !isBusy(err) {
			return err
		}
		if time.Now().After(end) {
			return (&fault.Error{Kind: fault.Unavailable, Message: "another process keeps the store busy; try again",
				RetryAfter: time.Second}).Because(err)
		}
		time.Sleep(tryEvery)
	}
}

// Save implements group.Conn.
func (w *writer) Save() error {
	_, err := w.c.Exec(context.Background(), "SAVEPOINT one")
	return err
}

// StartWrite implements group.Conn.
func (w *writer) StartWrite() *tx {
	t := &tx{reader: reader{Reader: sqlstore.NewReader(w.c, dialect, &w.s.caches), c: w.c}}
	t.Tx, t.reader.tx, t.SnapshotFinder = sqlstore.NewTx(&t.Reader), t, w.s.finder.Bind(&t.reader)
	return t
}

// EndWrite implements group.Conn. It clears the transaction's connection, so that a later use of
// the transaction panics.
func (w *writer) EndWrite(t *tx, err error, first, _ bool) error {
	t.c, t.Conn = nil, nil
	if err == nil && !first {
		_, err = w.c.Exec(context.Background(), "RELEASE one")
	}
	return err
}

// UndoWrite implements group.Conn.
func (w *writer) UndoWrite() error {
	w.c.worlds.forgetRows()
	_, err := w.c.Exec(context.Background(), "ROLLBACK TO one")
	if err == nil {
		_, err = w.c.Exec(context.Background(), "RELEASE one")
	}
	return err
}

// Rollback implements group.Conn.
func (w *writer) Rollback() error {
	w.c.worlds.forgetRows()
	w.lastAt = time.Now()
	if _, err := w.c.Exec(context.Background(), "ROLLBACK"); err != nil {
		return w.reopenConn(err)
	}
	return nil
}

// Commit implements group.Conn.
func (w *writer) Commit() error {
	changes, err := sqlstore.QueryInt(context.Background(), w.c, changedRows)
	if err == nil {
		_, err = w.c.Exec(context.Background(), "COMMIT")
	}
	if err != nil {
		return err
	}
	w.lastAt = time.Now()
	if changes != w.changes { // a write transaction that only looks for work must not wake its own process
		w.s.watch.wakeWaiters()
	}
	return nil
}

// Close implements group.Conn.
func (w *writer) Close() { _ = w.c.close() }

// changedRows queries how many rows a connection has changed since it was opened.
const changedRows = "SELECT total_changes()"

// reopenConn replaces the connection if its transaction could not be ended.
func (w *writer) reopenConn(cause error) error {
	c, err := openConn(context.Background(), w.s.cfg, false)
	if err == nil {
		if err = prepareWriter(context.Background(), c); err != nil {
			_ = c.close()
		}
	}
	if err != nil {
		return errors.Join(cause, err)
	}
	_ = w.c.close()
	w.c = c
	return nil
}

// prepareWriter sets up a connection for writing: SQLite itself must not wait for locks.
func prepareWriter(ctx context.Context, c *conn) error {
	c.steady = true
	return pragma{"busy_timeout", "0", "0"}.set(ctx, c)
}

// tx is a canon.Tx: it writes, and reads its own writes.
type tx struct {
	reader
	sqlstore.Tx
	searched       map[int64]*search.State // by world number: search states changed by this transaction
	before         map[int64]search.State  // by world number: the same states before the transaction
	scrubbed       []access.WorldID        // worlds whose index files must be rewritten without erased text
	made           cardRef                 // the card created last, until a reference or text of it is stored
	pendingReindex cardRef                 // a card to be indexed again that is not yet marked so in docs
	keyed          cardRef                 // the card written last
	key            markup.Key              // the key of the card written last
}

// cardRef identifies a card by its world's number and its id.
type cardRef struct {
	w  int64
	id canon.CardID
}

// updateCaches adds the committed rows to the caches and reports changes to the search index.
func (s *Store) updateCaches(t *tx) {
	t.Committed(func(id access.WorldID, w int64) {
		if at := t.searched[w]; at != nil {
			was := t.before[w]
			if was.Epoch != at.Epoch {
				was.Gen = 0
			}
			s.finder.Library.Changed(search.ID(id), at.Gen-was.Gen)
		}
	})
}

// besideDamage returns the error for a write that met the damage that Store.Confined describes.
func besideDamage(c Config, err error) error {
	return (&fault.Error{Kind: fault.Unavailable, RetryAfter: time.Minute,
		Message: "the change would use a damaged page of the store and was not made; ask the operator to repair the store"}).
		Because(fmt.Errorf("%s: %w", repairAdvice(filepath.Dir(c.Path)), err))
}
