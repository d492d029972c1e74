package app

import (
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// bounded is a listener with at most so many connections open. One too many is told so and
// closed, rather than kept waiting: whoever asks for health then learns how it is.
type bounded struct {
	net.Listener
	most  int64
	open  atomic.Int64
	plain bool // without TLS: the answer can be read
}

// connections is how many may be open.
func (l Limits) connections() int64 {
	switch {
	case l.Connections < 0:
		return math.MaxInt64
	case l.Connections == 0:
		return defaultConnections
	}
	return int64(l.Connections)
}

const defaultConnections = 4096

// tooMany is the whole answer, as nothing of the request is read.
const tooMany = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// Accept gives the next connection that there is room for.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if b.open.Add(1) <= b.most {
			return &counted{Conn: c, left: sync.OnceFunc(func() { b.open.Add(-1) })}, nil
		}
		b.open.Add(-1)
		if b.plain {
			_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a new connection has room for it
			_, _ = c.Write([]byte(tooMany))
		}
		_ = c.Close()
	}
}

// counted is a connection that is counted until it is closed.
type counted struct {
	net.Conn
	left func()
}

// Close closes the connection.
func (c *counted) Close() error {
	c.left()
	return c.Conn.Close()
}
