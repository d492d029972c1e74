package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// channel is the name of the notification that something was written. Its payload names the writing
// process.
const channel = "loregate_changed"

// relayEvery is the shortest time between two notifications of a process that writes all the time.
const relayEvery = 20 * time.Millisecond

// watch wakes callers that wait for a write. Other processes are told of writes by notifications,
// which are sent after the commit and outside of it: inside they cost more than half of the
// throughput. Since a process may end before it has sent one, listeners also poll the count of
// writes.
type watch struct {
	s    *Store
	self string // id of this process; its own notifications are ignored

	mu      sync.Mutex // guards all below
	changed chan struct{}
	heard   bool // listen is running
	closed  bool

	told chan struct{} // a write of this process is to be announced to others
	stop context.CancelFunc
	ctx  context.Context // done when the store is closed
	wg   sync.WaitGroup
}

func (w *watch) init(s *Store) {
	w.s, w.self = s, uuid.NewString()
	w.changed, w.told = make(chan struct{}), make(chan struct{}, 1)
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.wg.Go(w.relayWrites)
}

// announceWrite wakes the waiters of this process and makes relayWrites notify the others.
func (w *watch) announceWrite() {
	w.wakeWaiters()
	select {
	case w.told <- struct{}{}:
	default:
	}
}

func (w *watch) wakeWaiters() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

// relayWrites notifies other processes of writes.
func (w *watch) relayWrites() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.told:
		}
		// If this fails, the others find the write by polling.
		_, _ = w.s.pool.Exec(w.ctx, "SELECT pg_notify($1, $2)", channel, w.self)
		pause.Reset(relayEvery)
		select {
		case <-w.ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// Changed returns a channel that is closed at the next write by this process or, within
// Config.Poll, by another.
func (s *Store) Changed() <-chan struct{} {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.heard && !w.closed {
		w.heard = true
		w.wg.Go(w.listen)
	}
	return w.changed
}

// listen follows other processes' writes until the store is closed.
func (w *watch) listen() {
	for w.ctx.Err() == nil {
		c, err := pgx.ConnectConfig(w.ctx, w.s.failover.primaryConfig())
		if err == nil {
			w.followWrites(c)
			_ = c.Close(context.WithoutCancel(w.ctx))
		}
		select {
		case <-w.ctx.Done():
		case <-time.After(w.s.cfg.Poll):
		}
	}
}

// followWrites wakes the waiters at each change until the connection fails. It also wakes them at
// its start, since it cannot know of writes before it.
func (w *watch) followWrites(c *pgx.Conn) {
	if _, err := c.Exec(w.ctx, "LISTEN "+channel); err != nil {
		return
	}
	seen := int64(-1)
	for {
		var n int64
		if err := c.QueryRow(w.ctx, "SELECT n FROM writer").Scan(&n); err != nil {
			return
		}
		if n != seen {
			seen = n
			w.wakeWaiters()
		}
		if !w.awaitNotification(c) {
			return
		}
	}
}

// awaitNotification waits for a notification of another process or until the next poll is due. It
// returns false if the connection failed or the store is closed.
func (w *watch) awaitNotification(c *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(w.ctx, w.s.cfg.Poll)
	defer cancel()
	for {
		n, err := c.WaitForNotification(ctx)
		switch {
		case w.ctx.Err() != nil, c.IsClosed():
			return false
		case err != nil:
			return ctx.Err() != nil
		case n.Payload != w.self:
			return true
		}
	}
}

// close ends listening and relaying, and wakes the waiters.
func (w *watch) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wakeWaiters()
	w.stop()
	w.wg.Wait()
}
