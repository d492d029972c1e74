package sqlite

import (
	"context"
	"sync"
	"time"

	"loregate/internal/store/sqlstore"
)

// watch wakes callers that wait for a write. It detects other processes' commits by polling PRAGMA
// data_version on a connection of its own, only while somebody waits.
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

// wakeWaiters closes the channel that waiters hold.
func (w *watch) wakeWaiters() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
	w.polling = false
}

// close ends the polling and wakes the waiters.
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

// Changed returns a channel that is closed at the next write by this process or, within
// Config.Poll, by another.
func (s *Store) Changed() <-chan struct{} {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.polling || w.closed {
		return w.changed
	}
	if err := w.readBaseline(s.cfg); err != nil {
		// Without polling the waiter would miss other processes' writes: make it look at once.
		now := make(chan struct{})
		close(now)
		return now
	}
	w.polling = true
	w.wg.Add(1)
	go w.pollChanges(w.changed, s.cfg.Poll)
	return w.changed
}

// readBaseline reads the version that later ones are compared with. The caller reads data only
// afterwards.
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
	return sqlstore.QueryInt(context.Background(), w.c, "PRAGMA data_version")
}

// pollChanges polls until the channel changed is closed or replaced.
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

// checkOnce checks for a change, wakes the waiters if there is one, and reports whether polling can
// end.
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
