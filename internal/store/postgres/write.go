package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/search"
)

const (
	// maxBatch and batchTime bound what shares one transaction, as in the embedded store.
	maxBatch  = 64
	batchTime = 20 * time.Millisecond
)

// waiter is one write on its way through a batch. Its function runs on its caller's
// goroutine when the writer gives it the turn.
type waiter struct {
	state atomic.Int32 // waiting, then running or abandoned
	turn  chan *tx     // the writer's: run now, in this transaction
	ran   chan error   // the caller's: what f answered
	done  chan error   // the writer's: durable, or why not
}

const (
	waiting int32 = iota
	running
	abandoned
)

// write runs f in a transaction and returns when it is durable or undone.
func (s *Store) write(ctx context.Context, f func(*tx) error) (err error) {
	defer func() { s.noteWrite(err) }()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.inUse.Done()
	if err := s.damaged.Load(); err != nil {
		return *err
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
		return translated(err)
	case <-ctx.Done():
		if j.state.CompareAndSwap(waiting, abandoned) {
			return ctx.Err()
		}
		select {
		case t := <-j.turn:
			return j.run(ctx, t, f)
		case err := <-j.done:
			return translated(err)
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
		answered = true
		j.ran <- err
	}()
	err := <-j.done
	if err == nil {
		t.committed()
		t.scrubFiles(ctx)
	}
	return translated(err)
}

// runWriter is the one goroutine that begins and ends writing transactions.
func (s *Store) runWriter() {
	defer close(s.stopped)
	b := batch{s: s}
	defer b.drop()
	for {
		select {
		case j := <-s.queue:
			b.serve(j)
		case <-s.closing:
			return
		}
	}
}

// errLost is what the writes of a transaction get that the server undid at its end.
var errLost = errors.New("postgres: the transaction was not committed")

// batch is a transaction that several writes share.
type batch struct {
	s    *Store
	p    *pgxpool.Conn // kept from batch to batch; nil where there is none
	c    *conn
	open bool // a transaction is begun
	jobs []*waiter
}

// serve runs a first job and those that wait behind it, and makes them durable.
func (b *batch) serve(first *waiter) {
	end := time.Now().Add(batchTime)
	b.jobs = b.jobs[:0]
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
}

// begin takes the lock that one writer in all processes has. The snapshots of later
// statements are taken after it, and so see what its last holder committed.
func (b *batch) begin() error {
	ctx, cancel := context.WithTimeout(context.Background(), b.s.cfg.Wait)
	defer cancel()
	if b.p == nil {
		p, err := b.s.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		b.p, b.c = p, &conn{raw: p.Conn(), steady: true, learnAt: b.s.learnAt}
	}
	b.c.first("BEGIN")
	b.c.first("SET LOCAL idle_in_transaction_session_timeout = " + millis(2*b.s.cfg.Wait)) // others wait for the lock
	format := 0
	_, err := b.c.one(context.Background(), func(r row) error { format = int(r.int(0)); return nil }, "SELECT format FROM writer FOR UPDATE")
	if err == nil {
		err = knownFormat(format)
	}
	if err != nil {
		b.rollback()
		return err
	}
	b.open, b.c.wrote = true, false
	return nil
}

// step gives a job its turn. The first in a transaction needs no savepoint: undoing it
// undoes nothing of others.
func (b *batch) step(j *waiter) {
	if !j.state.CompareAndSwap(waiting, running) {
		return
	}
	if !b.open {
		err := b.begin()
		if err != nil && b.p == nil && isClosed(err) {
			err = b.begin() // the connection was lost while nobody used it
		}
		if err != nil {
			j.done <- err
			return
		}
	}
	alone := len(b.jobs) == 0
	if !alone {
		if err := b.c.flush(context.Background()); err != nil { // of the first, which waited for nobody to follow
			b.fail(err)
			b.rollback()
			j.done <- err
			return
		}
		b.c.later("SAVEPOINT one")
	}
	t := &tx{reader: reader{s: b.s, c: b.c}}
	t.writes, t.SnapshotFinder = t, b.s.finder.Bind(&t.reader)
	j.turn <- t
	err := <-j.ran
	t.c = nil // a use after f has returned is a mistake that shows
	if err == nil {
		if !alone {
			b.c.later("RELEASE SAVEPOINT one")
		}
		// With nobody behind it, a lone job's last statements go along with the commit.
		if !alone || len(b.s.queue) > 0 {
			err = b.c.flush(context.Background())
		}
	}
	if err == nil {
		b.jobs = append(b.jobs, j)
		return
	}
	j.done <- errors.Join(err, b.undo(alone))
}

// undo takes back the last job. Where that fails the whole transaction goes.
func (b *batch) undo(alone bool) error {
	if alone {
		b.rollback()
		return nil
	}
	sent := len(b.c.pending) == 0 || b.c.pending[0].sql != "SAVEPOINT one"
	b.c.pending = b.c.pending[:0]
	if !sent {
		return nil
	}
	if _, err := b.c.raw.Exec(context.Background(), "ROLLBACK TO SAVEPOINT one; RELEASE SAVEPOINT one"); err != nil {
		b.fail(err)
		b.rollback()
		return err
	}
	return nil
}

// finish commits and acknowledges.
func (b *batch) finish() {
	if !b.open {
		return
	}
	if len(b.jobs) == 0 {
		b.rollback()
		return
	}
	wrote := b.c.wrote
	if wrote {
		b.c.later("UPDATE writer SET n = n + 1, mark = n + 1")
	}
	tag, err := b.c.run(context.Background(), "COMMIT", nil)
	if err == nil && tag.String() != "COMMIT" {
		err = errLost
	}
	if err != nil {
		b.fail(fmt.Errorf("commit: %w", err))
		b.rollback()
		return
	}
	b.open = false
	for _, j := range b.jobs {
		j.done <- nil
	}
	if wrote { // who looks for work in a writing transaction must not wake itself
		b.s.watch.wrote()
	}
}

// fail answers every job kept so far with err.
func (b *batch) fail(err error) {
	for _, j := range b.jobs {
		j.done <- err
	}
	b.jobs = b.jobs[:0]
}

// rollback ends the transaction without a trace, with the connection where need be.
func (b *batch) rollback() {
	b.open = false
	b.c.pending = b.c.pending[:0]
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if b.c.raw.IsClosed() {
		b.s.pool.Reset() // whatever ended it may have ended the others
		b.drop()
	} else if _, err := b.c.raw.Exec(ctx, "ROLLBACK"); err != nil {
		_ = b.c.raw.Close(ctx)
		b.drop()
	}
}

// drop gives the connection back; a closed one is replaced by the pool.
func (b *batch) drop() {
	if b.p != nil {
		b.p.Release()
		b.p, b.c = nil, nil
	}
}

// tx is a canon.Tx: a reader of what it wrote, and the writes.
type tx struct {
	reader
	worlds map[access.WorldID]int64
	labels map[labelName]int64

	heads    map[canon.StreamID]tip // of streams read or written to: with the writer's lock, nobody else moves them
	touched  map[int64]int64        // by world: cards to be indexed anew
	scrubbed []access.WorldID       // whose index must be written without what was erased
}

// committed tells the caches what is durable now.
func (t *tx) committed() {
	for id, w := range t.worlds {
		t.s.known.worlds.Store(id, w)
		t.s.finder.Library.Changed(search.ID(id), t.touched[w])
	}
	for name, label := range t.labels {
		t.s.known.names.Store(name, label)
	}
}
