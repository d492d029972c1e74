package sqlite

import (
	"context"
	"sync"
	"time"
)

// watch tells who waits that something was written. Other processes' commits are seen
// in PRAGMA data_version, asked on a connection of its own and only while somebody
// waits.
type watch struct {
	mu      sync.Mutex // guards all below
	changed chan struct{}
	polling bool
	c       *conn
	seen    int64
	done    chan struct{}
	wg      sync.WaitGroup
	closed  bool
}

func (w *watch) init() {
	w.changed = make(chan struct{})
	w.done = make(chan struct{})
}

// wakeWaiters closes the channel that waiters have.
func (w *watch) wakeWaiters() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
	w.polling = false
}

// close ends the polling; waiters are woken.
func (w *watch) close() error {
	w.mu.Lock()
	w.closed = true
	close(w.changed)
	w.changed = make(chan struct{})
	close(w.done)
	w.mu.Unlock()
	w.wg.Wait()
	if w.c != nil {
		return w.c.close()
	}
	return nil
}

// Changed is closed at the next write by this process or, within Config.Poll, another.
func (s *Store) Changed() <-chan struct{} {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.polling || w.closed {
		return w.changed
	}
	if err := w.readBaseline(s.cfg); err != nil {
		// Without a poll the waiter would sleep through others' writes: let it look again.
		now := make(chan struct{})
		close(now)
		return now
	}
	w.polling = true
	w.wg.Add(1)
	go w.pollChanges(w.changed, s.cfg.Poll)
	return w.changed
}

// readBaseline reads the version that later ones are compared with, before the caller reads.
func (w *watch) readBaseline(cfg Config) error {
	if w.c == nil {
		c, err := openConn(context.Background(), cfg, true)
		if err != nil {
			return err
		}
		w.c = c
	}
	v, err := w.readVersion()
	w.seen = v
	return err
}

func (w *watch) readVersion() (int64, error) {
	return w.c.queryInt(context.Background(), "PRAGMA data_version")
}

// pollChanges ends when the channel it watches for is closed.
func (w *watch) pollChanges(changed chan struct{}, every time.Duration) {
	defer w.wg.Done()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-changed:
			return
		case <-w.done:
			return
		case <-tick.C:
		}
		if w.checkOnce(changed) {
			return
		}
	}
}

// checkOnce reports whether there is nothing left to poll for.
func (w *watch) checkOnce(changed chan struct{}) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed != changed || w.closed {
		return true
	}
	v, err := w.readVersion()
	if err == nil && v == w.seen {
		return false
	}
	close(w.changed)
	w.changed = make(chan struct{})
	w.polling = false
	return true
}
