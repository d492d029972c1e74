package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/search"
)

const (
	// maxBatch and batchTime bound what shares one transaction. A sync costs about as
	// much as ten small writes, so more than 64 of them gain nothing; 20 ms is what a
	// caller waits for those before it.
	maxBatch  = 64
	batchTime = 20 * time.Millisecond
	// A process that always has something to write leaves the lock alone for yieldTime
	// after each holdTime, which is longer than others sleep between tries.
	holdTime  = 50 * time.Millisecond
	yieldTime = time.Millisecond
	tryEvery  = 500 * time.Microsecond
)

// waiter is one write on its way through a batch. Its function runs on its caller's
// goroutine when the writer gives it the turn.
type waiter struct {
	state atomic.Int32 // waiting, then running or abandoned
	turn  chan *tx     // the writer's: run now, in this transaction; closed where it cannot
	ran   chan error   // the caller's: what f answered
	done  chan error   // the writer's: durable, or why not
	tx    *tx
}

const (
	waiting int32 = iota
	running
	abandoned
)

// write runs f in a transaction and returns when it is durable or undone.
func (s *Store) write(ctx context.Context, f func(*tx) error) (err error) {
	defer func() {
		s.health.note(s.cfg, err)
		err = s.cfg.explain(err)
	}()
	if err := s.enter(); err != nil {
		return err
	}
	defer s.inUse.Done()
	if err := s.health.damage(); err != nil {
		return err
	}
	j := &waiter{turn: make(chan *tx, 1), ran: make(chan error, 1), done: make(chan error, 1)}
	select {
	case s.queue <- j:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case t := <-j.turn:
		return j.run(ctx, t, f)
	case err := <-j.done:
		return err
	case <-ctx.Done():
		if j.state.CompareAndSwap(waiting, abandoned) {
			return ctx.Err()
		}
		select {
		case t := <-j.turn:
			return j.run(ctx, t, f)
		case err := <-j.done:
			return err
		}
	}
}

func (j *waiter) run(ctx context.Context, t *tx, f func(*tx) error) error {
	func() {
		answered := false
		defer func() {
			// A panic in f, and runtime.Goexit, must not leave the writer waiting.
			if answered {
				return
			}
			p := recover()
			j.ran <- fault.Panicked("a write", p)
		}()
		err := ctx.Err()
		if err == nil {
			err = f(t)
		}
		if err == nil {
			err = t.flush(ctx)
		}
		answered = true
		j.ran <- err
	}()
	err := <-j.done
	if err == nil {
		t.committed()
		t.scrubFiles(ctx)
	}
	return err
}

// runWriter is the one goroutine that begins and ends transactions.
func (s *Store) runWriter(c *conn) {
	defer close(s.stopped)
	b := batch{s: s, c: c}
	for {
		select {
		case j := <-s.queue:
			b.serve(j)
		case <-s.closing:
			_ = b.c.close()
			return
		}
	}
}

// batch is a transaction that several writes share.
type batch struct {
	s       *Store
	c       *conn
	begun   bool
	dirty   int   // writes kept in it so far
	changes int64 // rows that its connection had changed when it was begun
	jobs    []*waiter
	heldAt  time.Time // when this process began to hold the lock without a pause
	lastAt  time.Time // when the last batch ended
}

// serve runs a first job and those that wait behind it, and makes them durable.
func (b *batch) serve(first *waiter) {
	b.pause()
	end := time.Now().Add(batchTime)
	b.reset()
	b.step(first)
	for len(b.jobs) < maxBatch && time.Now().Before(end) {
		select {
		case j := <-b.s.queue:
			b.step(j)
			continue
		default:
		}
		break
	}
	b.finish()
	b.lastAt = time.Now()
}

// pause lets other processes have the lock.
func (b *batch) pause() {
	now := time.Now()
	if now.Sub(b.lastAt) > yieldTime {
		b.heldAt = now
		return
	}
	if now.Sub(b.heldAt) > holdTime {
		time.Sleep(yieldTime)
		b.heldAt = time.Now()
	}
}

// begin takes the write lock. Its tries are evenly spaced: SQLite's own busy handler
// backs off to 100 ms, and a process would starve beside busier ones.
func (b *batch) begin() error {
	ctx := context.Background()
	if _, err := b.c.exec(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	end := time.Now().Add(b.s.cfg.Wait)
	for {
		_, err := b.c.exec(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			b.begun = true
			if _, err = b.c.exec(ctx, "PRAGMA busy_timeout = 5000"); err == nil {
				err = storeSchema.current(ctx, b.c)
			}
			if err == nil {
				b.changes, err = b.c.number(ctx, changedRows)
			}
			if err != nil {
				err = errors.Join(err, b.undo(true))
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

// step gives a job its turn. The first in a transaction needs no savepoint: undoing it
// undoes nothing of others.
func (b *batch) step(j *waiter) {
	if !j.state.CompareAndSwap(waiting, running) {
		return
	}
	ctx := context.Background()
	if !b.begun {
		if err := b.begin(); err != nil {
			j.done <- err
			return
		}
	}
	alone := b.dirty == 0
	if !alone {
		if _, err := b.c.exec(ctx, "SAVEPOINT one"); err != nil {
			j.done <- err
			return
		}
	}
	j.tx = newTx(b)
	j.turn <- j.tx
	err := <-j.ran
	j.tx.ended = true
	if err == nil && !alone {
		_, err = b.c.exec(ctx, "RELEASE one")
	}
	if err == nil {
		b.dirty++
		b.jobs = append(b.jobs, j)
		return
	}
	j.done <- errors.Join(err, b.undo(alone))
}

// undo takes back the last job. Where that fails the whole transaction goes.
func (b *batch) undo(alone bool) error {
	ctx := context.Background()
	if !alone {
		_, err := b.c.exec(ctx, "ROLLBACK TO one")
		if err == nil {
			_, err = b.c.exec(ctx, "RELEASE one")
		}
		if err == nil {
			return nil
		}
		b.fail(err)
	}
	b.begun = false
	if _, err := b.c.exec(ctx, "ROLLBACK"); err != nil {
		return b.reopen(err)
	}
	return nil
}

// finish commits and acknowledges.
func (b *batch) finish() {
	if !b.begun {
		return
	}
	b.begun = false
	changes, err := b.c.number(context.Background(), changedRows)
	if err == nil {
		_, err = b.c.exec(context.Background(), "COMMIT")
	}
	if err != nil {
		if _, rerr := b.c.exec(context.Background(), "ROLLBACK"); rerr != nil {
			err = errors.Join(err, b.reopen(rerr))
		}
		b.fail(fmt.Errorf("commit: %w", err))
		return
	}
	for _, j := range b.jobs {
		j.done <- nil
	}
	if changes != b.changes { // who looks for work in a writing transaction must not wake itself
		b.s.watch.wake()
	}
}

// changedRows is how many rows a connection has changed since it was opened.
const changedRows = "SELECT total_changes()"

// fail answers every job kept so far with err.
func (b *batch) fail(err error) {
	for _, j := range b.jobs {
		j.done <- err
	}
	b.reset()
}

func (b *batch) reset() {
	b.jobs, b.dirty = b.jobs[:0], 0
}

// reopen replaces a connection whose transaction could not be ended.
func (b *batch) reopen(cause error) error {
	c, err := connect(context.Background(), b.s.cfg, false)
	if err != nil {
		return errors.Join(cause, err)
	}
	_ = b.c.close()
	c.steady = true
	b.c = c
	return nil
}

// tx is a canon.Tx: a reader of what it wrote, and the writes.
type tx struct {
	reader
	batch    *batch
	ended    bool // its function has returned; a use after that is refused
	worlds   map[access.WorldID]int64
	searched map[int64]*search.State // by world: of which it changed what is searched
	before   map[int64]int64         // by world: Gen of what is searched, before
	scrubbed []access.WorldID        // whose index must be written without what was erased
	made     cardRef                 // the card that was made last, while no reference or text of it is kept
	untold   cardRef                 // a card that the index is to read anew, and docs does not say so yet
}

// cardRef names a card by its world's number and its id.
type cardRef struct {
	w  int64
	id canon.CardID
}

func newTx(b *batch) *tx {
	t := &tx{reader: reader{s: b.s, c: b.c}, batch: b}
	t.writes, t.SnapshotFinder = t, b.s.finder.Bind(&t.reader)
	return t
}

// committed tells the caches what is durable now.
func (t *tx) committed() {
	for id, w := range t.worlds {
		t.s.known.worlds.Store(id, w)
		t.s.known.ids.Store(w, id)
		if at := t.searched[w]; at != nil {
			t.s.finder.Library.Changed(search.ID(id), at.Gen-t.before[w])
		}
	}
}
