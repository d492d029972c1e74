package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// channel is the notification that something was written, with the writer's process.
const channel = "loregate_changed"

// relayEvery is how often a process that writes all the time tells the others so.
const relayEvery = 20 * time.Millisecond

// watch tells who waits that something was written. Other processes' writes are told by
// notifications, which are sent after the commit and outside of it: inside they cost more
// than half of the throughput. As a process may end before it has told, the count of
// writes is looked at besides.
type watch struct {
	s    *Store
	self string // this process, whose notifications are its own

	mu      sync.Mutex // guards all below
	changed chan struct{}
	heard   bool // somebody listens to other processes
	closed  bool

	told chan struct{} // something was written here that others are to be told
	stop context.CancelFunc
	ctx  context.Context // ends with the store
	wg   sync.WaitGroup
}

func (w *watch) init(s *Store) {
	w.s, w.self = s, uuid.NewString()
	w.changed, w.told = make(chan struct{}), make(chan struct{}, 1)
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.wg.Go(w.relayWrites)
}

// announceWrite wakes those who wait here, and has the others told.
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

// relayWrites tells other processes.
func (w *watch) relayWrites() {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.told:
		}
		// What is not told is looked at by the others before long.
		_, _ = w.s.pool.Exec(w.ctx, "SELECT pg_notify($1, $2)", channel, w.self)
		pause.Reset(relayEvery)
		select {
		case <-w.ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// Changed is closed at the next write by this process or, within Config.Poll, another.
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

// listen hears of other processes' writes until the store is closed.
func (w *watch) listen() {
	for w.ctx.Err() == nil {
		c, err := pgx.ConnectConfig(w.ctx, w.s.pool.Config().ConnConfig)
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

// followWrites wakes at each change until the connection fails. At its beginning it wakes too:
// what was written before is not known.
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

// awaitNotification waits for a notification of another process, or until it is time to look.
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

// close ends listening and telling; waiters are woken.
func (w *watch) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wakeWaiters()
	w.stop()
	w.wg.Wait()
}
