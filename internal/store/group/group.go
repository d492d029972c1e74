// Package group makes the writes of a store durable together: group commit.
//
// Its invariant: a write returns without an error only after the transaction that it was part of is
// committed; a write that fails leaves nothing and does not affect the others.
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
	// maxWrites and maxBatchTime limit the writes that share one transaction. A sync costs about as
	// much as ten small writes, so more than 64 of them gain nothing; 20 ms is the longest that a
	// caller waits for the writes before it.
	maxWrites    = 64
	maxBatchTime = 20 * time.Millisecond
	// maxYields limits how often a transaction that nobody waits for lets other goroutines run
	// before it ends: with 32 clients, those that have planned their writes can join it. If nothing
	// else runs, all yields together take a microsecond. With 40 the cost exceeded the gain.
	maxYields = 7
)

// Conn is a store's connection for writing. T is the value that a write works with. One goroutine
// calls the methods, and waits while a write uses its T.
type Conn[T any] interface {
	// Begin begins a transaction; if it fails, no transaction is open.
	Begin() error
	// Save sets a savepoint. It is called before each write but the first.
	Save() error
	// StartWrite returns the value that the next write works with, until EndWrite.
	StartWrite() T
	// EndWrite ends a write that returned err, and returns the write's final error. first means
	// that the transaction holds no other successful write, alone that no other write is waiting.
	EndWrite(t T, err error, first, alone bool) error
	// UndoWrite rolls back to the last savepoint.
	UndoWrite() error
	// Commit commits the transaction durably. If it fails, Rollback follows.
	Commit() error
	// Rollback ends the transaction without effect.
	Rollback() error
	Close()
}

// Group passes writes to a connection one after the other. It is safe for concurrent use.
type Group[T any] struct {
	queue   chan *waiter[T]
	closing chan struct{}
	stopped chan struct{} // closed when the goroutine has ended
}

// New returns a group that uses the connection until the group is closed.
func New[T any](c Conn[T]) *Group[T] {
	g := &Group[T]{queue: make(chan *waiter[T], maxWrites), closing: make(chan struct{}), stopped: make(chan struct{})}
	go g.run(c)
	return g
}

// Close closes the connection. No write may be running or follow.
func (g *Group[T]) Close() {
	close(g.closing)
	<-g.stopped
}

// Waiting returns how many writes wait for their turn.
func (g *Group[T]) Waiting() int { return len(g.queue) }

// waiter is one write waiting for or in a transaction. Its function runs on its caller's goroutine
// when it has its turn.
type waiter[T any] struct {
	state atomic.Int32 // waiting, then running or abandoned
	turn  chan T       // receives the T when the write may run
	ran   chan error   // receives the error of the function
	done  chan error   // receives the result: nil when durable
}

const (
	waiting int32 = iota
	running
	abandoned
)

func newWaiter[T any]() *waiter[T] {
	return &waiter[T]{turn: make(chan T, 1), ran: make(chan error, 1), done: make(chan error, 1)}
}

// Do runs f in a transaction and returns when the transaction is durable, or when f's changes are
// undone.
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
			// A panic or runtime.Goexit in f must not leave the others waiting.
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

// run begins and ends the transactions, on one goroutine.
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

// transaction is a transaction that several writes share.
type transaction[T any] struct {
	c     Conn[T]
	queue chan *waiter[T]
	open  bool
	kept  []*waiter[T]
}

// runBatch runs a first write and those that wait behind it, and commits them.
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

// runNext runs one write. The first write needs no savepoint: rolling the transaction back undoes
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

// undoLast undoes the last write. If that fails, it aborts the whole transaction.
func (t *transaction[T]) undoLast(first bool) error {
	if first {
		return t.abort(nil)
	}
	if err := t.c.UndoWrite(); err != nil {
		return errors.Join(err, t.abort(err))
	}
	return nil
}

// commitKept commits the transaction and returns the result to its writes.
func (t *transaction[T]) commitKept() {
	if !t.open {
		return
	}
	if len(t.kept) == 0 {
		_ = t.abort(nil) // no write waits for a result
		return
	}
	if err := t.c.Commit(); err != nil {
		_ = t.abort(fmt.Errorf("commit: %w", err)) // abort passes the error to the waiting writes
		return
	}
	t.answerKept(nil)
}

// abort rolls the transaction back and returns the reason to the writes that were kept.
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
