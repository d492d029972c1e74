package app

import (
	"math"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"loregate/internal/access"
)

// bounded is a listener with at most so many connections open, of all together and of each
// address. One too many is told so and closed, rather than kept waiting: whoever asks for
// health then learns how it is.
type bounded struct {
	net.Listener
	most    int64
	open    atomic.Int64
	shares  *access.Slots  // by address
	proxies []netip.Prefix // whose connections are many people's: requests are counted instead
	plain   bool           // without TLS: the answer can be read
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

// perAddress is how many of them one address may hold; 0 is no bound. By default that is an
// eighth, and enough for the browsers and clients of a household where the whole is small.
func (l Limits) perAddress() int {
	switch {
	case l.PerAddress < 0, l.PerAddress == 0 && l.Connections < 0:
		return 0
	case l.PerAddress == 0:
		return max(16, int(l.connections()/8))
	}
	return l.PerAddress
}

// tooMany is the whole answer, as nothing of the request is read.
const tooMany = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// Accept gives the next connection that there is room for.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if leave, ok := b.admit(c); ok {
			return &counted{Conn: c, left: leave}, nil
		}
		if b.plain {
			_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a new connection has room for it
			_, _ = c.Write([]byte(tooMany))
		}
		_ = c.Close()
	}
}

// admit counts a connection until leave is called.
func (b *bounded) admit(c net.Conn) (leave func(), ok bool) {
	release, ok := b.share(c)
	if !ok {
		return nil, false
	}
	if b.open.Add(1) > b.most {
		b.open.Add(-1)
		release()
		return nil, false
	}
	return sync.OnceFunc(func() { b.open.Add(-1); release() }), true
}

func (b *bounded) share(c net.Conn) (release func(), ok bool) {
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return func() {}, true // no address to count by
	}
	address := peer.Addr().Unmap()
	if slices.ContainsFunc(b.proxies, func(p netip.Prefix) bool { return p.Contains(address) }) {
		return func() {}, true
	}
	return b.shares.Take(access.AddressAccount(address))
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
