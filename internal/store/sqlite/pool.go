package sqlite

import (
	"context"
	"sync"
)

// pool holds the read connections. It lends the most recently used one: after each commit SQLite
// drops a connection's page cache at its next read, so a few busy connections read fewer pages
// again than many idle ones.
type pool struct {
	slots chan struct{} // holds one token per lent connection

	mu   sync.Mutex // guards idle
	idle []*conn
}

func newPool(size int) *pool { return &pool{slots: make(chan struct{}, size)} }

// takeConn lends an idle connection; nil if the caller must open a new one.
func (p *pool) takeConn(ctx context.Context) (*conn, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil, nil
	}
	c := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return c, nil
}

// putConn returns a connection to the pool; c is nil for a connection that was closed.
func (p *pool) putConn(c *conn) {
	if c != nil {
		p.mu.Lock()
		p.idle = append(p.idle, c)
		p.mu.Unlock()
	}
	<-p.slots
}
