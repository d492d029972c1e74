package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/search"
	"loregate/internal/store/group"
)

// write runs f in a transaction and returns when it is durable or undone.
func (s *Store) write(ctx context.Context, f func(*tx) error) (err error) {
	defer func() { s.noteWrite(err) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.beginCall(); err != nil {
		return err
	}
	defer s.inUse.Done()
	if err := s.damaged.Load(); err != nil {
		return *err
	}
	var t *tx
	err = s.writes.Do(ctx, func(given *tx) error {
		t = given
		return f(t)
	})
	if err == nil {
		t.updateCaches()
		t.scrubFiles(ctx)
	}
	return toFault(err)
}

// errLost is what the writes of a transaction get that the server undid at its end.
var errLost = errors.New("postgres: the transaction was not committed")

// writer is the connection for writing.
type writer struct {
	s *Store
	p *pgxpool.Conn // kept from one transaction to the next; nil where there is none
	c *conn
}

var _ group.Conn[*tx] = (*writer)(nil)

// Begin is group.Conn's. A connection that was lost while nobody used it is replaced.
func (w *writer) Begin() error {
	err := w.begin()
	if err != nil && w.p == nil && isClosed(err) {
		err = w.begin()
	}
	return err
}

// begin takes the lock that one writer in all processes has. The snapshots of later
// statements are taken after it, and so see what its last holder committed.
func (w *writer) begin() error {
	ctx, cancel := context.WithTimeout(context.Background(), w.s.cfg.Wait)
	defer cancel()
	if w.p == nil {
		p, err := w.s.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		w.p, w.c = p, &conn{raw: p.Conn(), steady: true, analyzeAt: w.s.analyzeAt}
	}
	w.c.enqueueBeforeLock("BEGIN")
	w.c.enqueueBeforeLock("SET LOCAL idle_in_transaction_session_timeout = " + millisText(2*w.s.cfg.Wait)) // others wait for the lock
	format := 0
	_, err := w.c.queryOne(context.Background(), func(r row) error { format = int(r.intAt(0)); return nil }, "SELECT format FROM writer FOR UPDATE")
	if err == nil {
		err = checkFormat(format)
	}
	if err != nil {
		_ = w.Rollback() // it cannot fail
		return err
	}
	w.c.wrote = false
	return nil
}

// Save is group.Conn's. What the first write left to be sent goes first: it waited for nobody
// to follow.
func (w *writer) Save() error {
	if err := w.c.flush(context.Background()); err != nil {
		return err
	}
	w.c.enqueue("SAVEPOINT one")
	return nil
}

// StartWrite is group.Conn's.
func (w *writer) StartWrite() *tx {
	t := &tx{reader: reader{s: w.s, c: w.c}}
	t.writes, t.SnapshotFinder = t, w.s.finder.Bind(&t.reader)
	return t
}

// EndWrite is group.Conn's. A use of the transaction after its write has ended is a mistake
// that shows. With nobody behind it, a lone write's last statements go along with the
// commit.
func (w *writer) EndWrite(t *tx, err error, first, alone bool) error {
	t.c = nil
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

// UndoWrite is group.Conn's.
func (w *writer) UndoWrite() error {
	sent := len(w.c.pending) == 0 || w.c.pending[0].sql != "SAVEPOINT one"
	w.c.pending = w.c.pending[:0]
	if !sent {
		return nil
	}
	_, err := w.c.raw.Exec(context.Background(), "ROLLBACK TO SAVEPOINT one; RELEASE SAVEPOINT one")
	return err
}

// Commit is group.Conn's.
func (w *writer) Commit() error {
	wrote := w.c.wrote
	if wrote {
		w.c.enqueue("UPDATE writer SET n = n + 1, mark = n + 1")
	}
	tag, err := w.c.run(context.Background(), "COMMIT", nil)
	if err == nil && tag.String() != "COMMIT" {
		err = errLost
	}
	if err == nil && wrote { // who looks for work in a writing transaction must not wake itself
		w.s.watch.announceWrite()
	}
	return err
}

// Rollback ends the transaction without a trace, with the connection where need be.
func (w *writer) Rollback() error {
	w.c.pending = w.c.pending[:0]
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if w.c.raw.IsClosed() {
		w.s.pool.Reset() // whatever ended it may have ended the others
		w.Close()
	} else if _, err := w.c.raw.Exec(ctx, "ROLLBACK"); err != nil {
		_ = w.c.raw.Close(ctx)
		w.Close()
	}
	return nil
}

// Close gives the connection back; a closed one is replaced by the pool.
func (w *writer) Close() {
	if w.p != nil {
		w.p.Release()
		w.p, w.c = nil, nil
	}
}

// tx is a canon.Tx: a reader of what it wrote, and the writes.
type tx struct {
	reader
	worlds map[access.WorldID]int64
	labels map[labelText]int64

	heads    map[canon.StreamID]tip // of streams read or written to: with the writer's lock, nobody else moves them
	touched  map[int64]int64        // by world: cards to be indexed anew
	scrubbed []access.WorldID       // whose index must be written without what was erased
}

// updateCaches tells the caches what is durable now.
func (t *tx) updateCaches() {
	for id, w := range t.worlds {
		t.s.known.worlds.Store(id, w)
		t.s.finder.Library.Changed(search.ID(id), t.touched[w])
	}
	for name, label := range t.labels {
		t.s.known.names.Store(name, label)
	}
}
