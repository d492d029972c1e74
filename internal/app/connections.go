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

// limitedListener is a listener with a limit on open connections, in total and for each address. A
// connection over the limit is closed at once rather than kept waiting, without TLS after an answer
// of 503, so that a health check learns the state of the server.
type limitedListener struct {
	net.Listener
	most    int64
	open    atomic.Int64
	shares  *access.Slots  // connections by address
	proxies []netip.Prefix // their connections carry many people's requests, which are counted instead
	plain   bool           // without TLS, so the client can read the 503
}

// maxConnections returns the limit on open connections.
func (l Limits) maxConnections() int64 {
	switch {
	case l.Connections < 0:
		return math.MaxInt64
	case l.Connections == 0:
		return defaultConnections
	}
	return int64(l.Connections)
}

const defaultConnections = 4096

// maxPerAddress returns the limit on open connections of one address; 0 means no limit. The default
// is an eighth of all, but at least 16, enough for the browsers and clients of a household.
func (l Limits) maxPerAddress() int {
	switch {
	case l.PerAddress < 0, l.PerAddress == 0 && l.Connections < 0:
		return 0
	case l.PerAddress == 0:
		return max(16, int(l.maxConnections()/8))
	}
	return l.PerAddress
}

// tooMany is the complete answer, because nothing of the request is read.
const tooMany = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: " +
	"application/json\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// Accept returns the next connection within the limits.
func (b *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if leave, ok := b.admitConn(c); ok {
			return &countedConn{Conn: c, left: leave}, nil
		}
		if b.plain {
			_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // its send buffer has room for the answer
			_, _ = c.Write([]byte(tooMany))
		}
		_ = c.Close()
	}
}

// admitConn counts a connection until leave is called. ok is false if a limit is reached.
func (b *limitedListener) admitConn(c net.Conn) (leave func(), ok bool) {
	release, ok := b.takeAddressSlot(c)
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

func (b *limitedListener) takeAddressSlot(c net.Conn) (release func(), ok bool) {
	peer, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return func() {}, true // there is no address to count by
	}
	address := peer.Addr().Unmap()
	if slices.ContainsFunc(b.proxies, func(p netip.Prefix) bool { return p.Contains(address) }) {
		return func() {}, true
	}
	return b.shares.Take(access.AddressAccount(address))
}

// countedConn is a connection that is counted until it is closed.
type countedConn struct {
	net.Conn
	left func()
}

// Close closes the connection.
func (c *countedConn) Close() error {
	c.left()
	return c.Conn.Close()
}
