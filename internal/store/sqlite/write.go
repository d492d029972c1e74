package sqlite

import (
	"context"
	"errors"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/search"
	"loregate/internal/store/group"
)

const (
	// A process that always has something to write leaves the lock alone for yieldTime
	// after each holdTime, which is longer than others sleep between tries.
	holdTime  = 50 * time.Millisecond
	yieldTime = time.Millisecond
	tryEvery  = 500 * time.Microsecond
)

// write runs f in a transaction and returns when it is durable or undone.
func (s *Store) write(ctx context.Context, f func(*tx) error) (err error) {
	defer func() {
		s.health.noteOutcome(s.cfg, err)
		err = s.cfg.toFault(err)
	}()
	if err := s.beginCall(); err != nil {
		return err
	}
	defer s.inUse.Done()
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
		t.updateCaches()
		t.scrubFiles(ctx)
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

// yieldLock lets other processes have the lock.
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

// Begin takes the write lock. Its tries are evenly spaced: SQLite's own busy handler
// backs off to 100 ms, and a process would starve beside busier ones. Inside the
// transaction nothing waits for another process.
func (w *writer) Begin() error {
	w.yieldLock()
	ctx := context.Background()
	end := time.Now().Add(w.s.cfg.Wait)
	for {
		_, err := w.c.exec(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			if err = errors.Join(storeSchema.checkFileFormat(ctx, w.c), w.c.worlds.refresh(w.c)); err == nil {
				w.changes, err = w.c.queryInt(ctx, changedRows)
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
			return (&fault.Error{Kind: fault.Unavailable, Message: "another process keeps the store busy; try again", RetryAfter: time.Second}).Because(err)
		}
		time.Sleep(tryEvery)
	}
}

// Save is group.Conn's.
func (w *writer) Save() error {
	_, err := w.c.exec(context.Background(), "SAVEPOINT one")
	return err
}

// StartWrite is group.Conn's.
func (w *writer) StartWrite() *tx {
	t := &tx{reader: reader{s: w.s, c: w.c}}
	t.writes, t.SnapshotFinder = t, w.s.finder.Bind(&t.reader)
	return t
}

// EndWrite is group.Conn's. A use of the transaction after its write has ended is a mistake
// that shows.
func (w *writer) EndWrite(t *tx, err error, first, _ bool) error {
	t.c = nil
	if err == nil && !first {
		_, err = w.c.exec(context.Background(), "RELEASE one")
	}
	return err
}

// UndoWrite is group.Conn's.
func (w *writer) UndoWrite() error {
	w.c.worlds.forgetRows()
	_, err := w.c.exec(context.Background(), "ROLLBACK TO one")
	if err == nil {
		_, err = w.c.exec(context.Background(), "RELEASE one")
	}
	return err
}

// Rollback is group.Conn's.
func (w *writer) Rollback() error {
	w.c.worlds.forgetRows()
	w.lastAt = time.Now()
	if _, err := w.c.exec(context.Background(), "ROLLBACK"); err != nil {
		return w.reopenConn(err)
	}
	return nil
}

// Commit is group.Conn's.
func (w *writer) Commit() error {
	changes, err := w.c.queryInt(context.Background(), changedRows)
	if err == nil {
		_, err = w.c.exec(context.Background(), "COMMIT")
	}
	if err != nil {
		return err
	}
	w.lastAt = time.Now()
	if changes != w.changes { // who looks for work in a writing transaction must not wake itself
		w.s.watch.wakeWaiters()
	}
	return nil
}

// Close is group.Conn's.
func (w *writer) Close() { _ = w.c.close() }

// changedRows is how many rows a connection has changed since it was opened.
const changedRows = "SELECT total_changes()"

// reopenConn replaces a connection whose transaction could not be ended.
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

// prepareWriter makes a connection one for writing: it waits for no lock by itself.
func prepareWriter(ctx context.Context, c *conn) error {
	c.steady = true
	return pragma{"busy_timeout", "0", "0"}.set(ctx, c)
}

// tx is a canon.Tx: a reader of what it wrote, and the writes.
type tx struct {
	reader
	worlds         map[access.WorldID]int64
	searched       map[int64]*search.State // by world: of which it changed what is searched
	before         map[int64]search.State  // by world: the same, before
	scrubbed       []access.WorldID        // whose index must be written without what was erased
	made           cardRef                 // the card that was made last, while no reference or text of it is kept
	pendingReindex cardRef                 // a card that the index is to read anew, and docs does not say so yet
	keyed          cardRef                 // the card that was written last
	key            markup.Key              // its key
	head           streamHead              // the stream that was asked for or appended to last; its zero value is none
}

// cardRef names a card by its world's number and its id.
type cardRef struct {
	w  int64
	id canon.CardID
}

// updateCaches tells the caches what is durable now.
func (t *tx) updateCaches() {
	for id, w := range t.worlds {
		t.s.known.worlds.Store(id, w)
		t.s.known.ids.Store(w, id)
		if at := t.searched[w]; at != nil {
			was := t.before[w]
			if was.Epoch != at.Epoch {
				was.Gen = 0
			}
			t.s.finder.Library.Changed(search.ID(id), at.Gen-was.Gen)
		}
	}
}
