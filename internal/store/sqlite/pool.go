package sqlite

import (
	"context"
	"sync"
)

// pool is the read connections. It lends the one that was used last: after each commit
// SQLite drops a connection's page cache at its next read, so that few busy connections
// read fewer pages again than many idle ones.
type pool struct {
	slots chan struct{} // one for each connection that may be lent besides

	mu   sync.Mutex // guards idle
	idle []*conn
}

func newPool(size int) *pool { return &pool{slots: make(chan struct{}, size)} }

// takeConn lends a connection; nil where one more is to be opened.
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

// putConn takes a connection back; nil for one that is of no more use.
func (p *pool) putConn(c *conn) {
	if c != nil {
		p.mu.Lock()
		p.idle = append(p.idle, c)
		p.mu.Unlock()
	}
	<-p.slots
}
