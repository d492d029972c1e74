// Package group makes the writes of a store durable together: group commit.
//
// Its invariant: a write is answered without an error only when the transaction that it was
// part of is committed, and one that fails leaves nothing, and takes nothing of the others
// with it.
package group

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"loregate/internal/fault"
)

const (
	// maxWrites and longest bound what shares one transaction. A sync costs about as much
	// as ten small writes, so more than 64 of them gain nothing; 20 ms is what a caller
	// waits for those before it.
	maxWrites    = 64
	maxBatchTime = 20 * time.Millisecond
	// maxYields is how often a transaction that nobody waits for lets other goroutines run before
	// it ends: of 32 clients those come first that have planned their writes. Where nothing
	// else runs, all of them take a microsecond. 40 cost more than they brought.
	maxYields = 7
)

// Conn is a store's connection for writing. T is what a write works with. One goroutine
// calls the methods, and waits while a write uses its T.
type Conn[T any] interface {
	// Begin begins a transaction; where it fails there is none.
	Begin() error
	// Save marks a place to come back to, before each write but the first.
	Save() error
	// StartWrite gives a write what it works with, till Settle.
	StartWrite() T
	// EndWrite ends a write, which answered an error or none, and gives its answer. first says
	// that no other was kept in the transaction so far, alone that none waits for its turn.
	EndWrite(t T, err error, first, alone bool) error
	// UndoWrite goes back to where Save was called last.
	UndoWrite() error
	// Commit ends the transaction durably. Where it fails, Rollback follows.
	Commit() error
	// Rollback ends the transaction without a trace.
	Rollback() error
	Close()
}

// Group takes writes to a connection, one after the other. It is safe for concurrent use.
type Group[T any] struct {
	queue   chan *waiter[T]
	closing chan struct{}
	stopped chan struct{} // closed when the goroutine is gone
}

// New makes a group, which uses the connection until it is closed.
func New[T any](c Conn[T]) *Group[T] {
	g := &Group[T]{queue: make(chan *waiter[T], maxWrites), closing: make(chan struct{}), stopped: make(chan struct{})}
	go g.run(c)
	return g
}

// Close closes the connection. No write may be under way, or follow.
func (g *Group[T]) Close() {
	close(g.closing)
	<-g.stopped
}

// Waiting is how many writes wait for their turn.
func (g *Group[T]) Waiting() int { return len(g.queue) }

// waiter is one write on its way through a transaction. Its function runs on its caller's
// goroutine when it has the turn.
type waiter[T any] struct {
	state atomic.Int32 // waiting, then running or abandoned
	turn  chan T       // run now, with this
	ran   chan error   // what the function answered
	done  chan error   // durable, or why not
}

const (
	waiting int32 = iota
	running
	abandoned
)

func newWaiter[T any]() *waiter[T] {
	return &waiter[T]{turn: make(chan T, 1), ran: make(chan error, 1), done: make(chan error, 1)}
}

// Do runs f in a transaction and returns when that is durable, or what f did is undone.
func (g *Group[T]) Do(ctx context.Context, f func(T) error) error {
	w := newWaiter[T]()
	select {
	case g.queue <- w:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case t := <-w.turn:
		return w.runWrite(ctx, t, f)
	case err := <-w.done:
		return err
	case <-ctx.Done():
		if w.state.CompareAndSwap(waiting, abandoned) {
			return ctx.Err()
		}
		select {
		case t := <-w.turn:
			return w.runWrite(ctx, t, f)
		case err := <-w.done:
			return err
		}
	}
}

func (w *waiter[T]) runWrite(ctx context.Context, t T, f func(T) error) error {
	func() {
		answered := false
		defer func() {
			// A panic in f, and runtime.Goexit, must not leave the others waiting.
			if answered {
				return
			}
			p := recover()
			w.ran <- fault.Panicked("a write", p)
		}()
		err := ctx.Err()
		if err == nil {
			err = f(t)
		}
		answered = true
		w.ran <- err
	}()
	return <-w.done
}

// run is the one goroutine that begins and ends transactions.
func (g *Group[T]) run(c Conn[T]) {
	defer close(g.stopped)
	defer c.Close()
	t := transaction[T]{c: c, queue: g.queue}
	for {
		select {
		case w := <-g.queue:
			t.runBatch(w)
		case <-g.closing:
			return
		}
	}
}

// transaction is one that several writes share.
type transaction[T any] struct {
	c     Conn[T]
	queue chan *waiter[T]
	open  bool
	kept  []*waiter[T]
}

// runBatch runs a first write and those that wait behind it, and makes them durable.
func (t *transaction[T]) runBatch(first *waiter[T]) {
	end := time.Now().Add(maxBatchTime)
	t.runNext(first)
	for idle := 0; idle < maxYields && len(t.kept) < maxWrites && time.Now().Before(end); {
		select {
		case w := <-t.queue:
			t.runNext(w)
			idle = 0
		default:
			runtime.Gosched()
			idle++
		}
	}
	t.commitKept()
}

// runNext gives a write its turn. The first needs no place to come back to: undoing it undoes
// nothing of others.
func (t *transaction[T]) runNext(w *waiter[T]) {
	if !w.state.CompareAndSwap(waiting, running) {
		return
	}
	if !t.open {
		if err := t.c.Begin(); err != nil {
			w.done <- err
			return
		}
		t.open = true
	}
	first := len(t.kept) == 0
	if !first {
		if err := t.c.Save(); err != nil {
			w.done <- errors.Join(err, t.abort(err))
			return
		}
	}
	given := t.c.StartWrite()
	w.turn <- given
	err := <-w.ran
	if err = t.c.EndWrite(given, err, first, len(t.queue) == 0); err == nil {
		t.kept = append(t.kept, w)
		return
	}
	w.done <- errors.Join(err, t.undoLast(first))
}

// undoLast takes back the last write. Where that fails the whole transaction goes.
func (t *transaction[T]) undoLast(first bool) error {
	if first {
		return t.abort(nil)
	}
	if err := t.c.UndoWrite(); err != nil {
		return errors.Join(err, t.abort(err))
	}
	return nil
}

// commitKept commits and answers.
func (t *transaction[T]) commitKept() {
	if !t.open {
		return
	}
	if len(t.kept) == 0 {
		_ = t.abort(nil) // nobody waits for an answer
		return
	}
	if err := t.c.Commit(); err != nil {
		_ = t.abort(fmt.Errorf("commit: %w", err)) // it is told to those who wait
		return
	}
	t.answerKept(nil)
}

// abort ends the transaction without a trace, and tells the writes that were kept why.
func (t *transaction[T]) abort(why error) error {
	err := t.c.Rollback()
	t.answerKept(errors.Join(why, err))
	return err
}

func (t *transaction[T]) answerKept(err error) {
	for _, w := range t.kept {
		w.done <- err
	}
	t.open, t.kept = false, t.kept[:0]
}
