package proxytest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Config configures a Proxy.
type Config struct {
	// Dial connects to the server.
	Dial func() (net.Conn, error)
	// Wrap returns the writers that the two ends of a connection are written to: they see, delay or refuse the
	// bytes.
	Wrap func(server, client net.Conn) (toServer, toClient io.Writer)
}

// Proxy relays TCP connections until its test ends.
type Proxy struct {
	Addr string
	cfg  Config

	mu   sync.Mutex
	ends map[net.Conn]struct{} // guarded by mu
}

// New returns a proxy that listens on a free port.
func New(t testing.TB, cfg Config) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: listener.Addr().String(), cfg: cfg, ends: map[net.Conn]struct{}{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.relay(c) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		p.DropAll()
		all.Wait()
	})
	return p
}

// relay relays one connection until either end closes it or it is dropped.
func (p *Proxy) relay(c net.Conn) {
	defer c.Close()
	s, err := p.cfg.Dial()
	if err != nil {
		return
	}
	defer s.Close()
	p.mu.Lock()
	p.ends[c], p.ends[s] = struct{}{}, struct{}{}
	p.mu.Unlock()
	toServer, toClient := p.cfg.Wrap(s, c)
	var both sync.WaitGroup
	both.Go(func() { copyBytes(toServer, s, c) })
	both.Go(func() { copyBytes(toClient, c, s) })
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ends, c)
	delete(p.ends, s)
}

// copyBytes copies what comes from one end to the writer of the other, and then closes both.
func copyBytes(w io.Writer, to, from net.Conn) {
	_, _ = io.Copy(w, from)
	_ = to.Close()
	_ = from.Close()
}

// DropAll closes all connections.
func (p *Proxy) DropAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.ends {
		_ = c.Close()
	}
}
