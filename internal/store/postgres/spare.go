package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// spares holds the connections of reads that have just ended, with their transactions still open:
// the next read on such a connection ends that transaction in the round trip in which it begins its
// own. That saves one round trip for each read. A transaction that no read ends is ended after
// maxLinger.
type spares struct {
	pool *pgxpool.Pool
	most int

	mu     sync.Mutex // guards all below
	list   []spare    // sorted by since
	timer  *time.Timer
	closed bool

	ending sync.WaitGroup // transactions being ended in the background
}

type spare struct {
	p     *pgxpool.Conn
	since time.Time
}

const (
	// maxLinger is the longest time that the snapshot of an ended read may hold back the server's
	// vacuum.
	maxLinger = 10 * time.Millisecond
	// txIdle is the protocol's status of a connection without an open transaction.
	txIdle = 'I'
)

func (l *spares) init(pool *pgxpool.Pool) {
	l.pool, l.most = pool, int(pool.Config().MaxConns)/4
	l.timer = time.AfterFunc(time.Hour, l.endExpired)
	l.timer.Stop()
}

// takeConn returns a connection. The transaction of its last read may still be open.
func (l *spares) takeConn(ctx context.Context) (*pgxpool.Conn, error) {
	l.mu.Lock()
	if n := len(l.list); n > 0 {
		p := l.list[n-1].p
		l.list = l.list[:n-1]
		l.mu.Unlock()
		return p, nil
	}
	l.mu.Unlock()
	return l.pool.Acquire(ctx)
}

// putConn takes a connection back.
func (l *spares) putConn(p *pgxpool.Conn) {
	switch c := p.Conn(); {
	case c.IsClosed():
		l.pool.Reset() // the cause may have ended the other connections too
		p.Release()
		for _, s := range l.removeOlder(0) {
			s.p.Release()
		}
	case c.PgConn().TxStatus() == txIdle:
		p.Release()
	case !l.keepOpen(p):
		l.ending.Go(func() { endRead(p) }) // a read changed nothing, so nobody waits for its end
	}
}

// keepOpen keeps the connection for the next read and reports whether it did. It refuses while all
// connections of the pool are in use, since others may be waiting for one.
func (l *spares) keepOpen(p *pgxpool.Conn) bool {
	if st := l.pool.Stat(); st.AcquiredConns() >= st.MaxConns() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.list) >= l.most {
		return false
	}
	if len(l.list) == 0 {
		l.timer.Reset(maxLinger)
	}
	l.list = append(l.list, spare{p, time.Now()})
	return true
}

// endExpired ends the transactions that no read took over in time.
func (l *spares) endExpired() {
	for _, s := range l.removeOlder(maxLinger) {
		endRead(s.p)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) > 0 {
		l.timer.Reset(maxLinger)
	}
}

// removeOlder removes and returns the spares that are at least as old as age.
func (l *spares) removeOlder(age time.Duration) (old []spare) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for n < len(l.list) && time.Since(l.list[n].since) >= age {
		n++
	}
	old = append(old, l.list[:n]...)
	l.list = append(l.list[:0], l.list[n:]...)
	return old
}

// endRead ends a read's transaction and returns its connection to the pool.
func endRead(p *pgxpool.Conn) {
	defer p.Release()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := p.Conn().Exec(ctx, "COMMIT"); err != nil {
		_ = p.Conn().Close(ctx)
	}
}

// close returns all connections to the pool. No read may be running.
func (l *spares) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.timer.Stop()
	for _, s := range l.removeOlder(0) {
		endRead(s.p)
	}
	l.ending.Wait()
}
