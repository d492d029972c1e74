package patronitest

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// proxy relays TCP connections. While it is cut it passes no byte on, as a network that lost its
// cable: connections stay open, and nothing arrives.
type proxy struct {
	at      string
	targets []string // the first that accepts is used

	mu    sync.Mutex // guards all below
	whole chan struct{}
	ends  map[net.Conn]struct{}
}

func newProxy(t testing.TB, targets ...string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{at: listener.Addr().String(), targets: targets, whole: make(chan struct{}), ends: map[net.Conn]struct{}{}}
	close(p.whole)
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
		p.mend()
		p.dropAll()
		all.Wait()
	})
	return p
}

func (p *proxy) awaitWhole() {
	p.mu.Lock()
	whole := p.whole
	p.mu.Unlock()
	<-whole
}

func (p *proxy) relay(c net.Conn) {
	defer c.Close()
	p.awaitWhole()
	s := p.dial()
	if s == nil {
		return
	}
	defer s.Close()
	p.mu.Lock()
	p.ends[c], p.ends[s] = struct{}{}, struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.copyBytes(s, c) })
	both.Go(func() { p.copyBytes(c, s) })
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ends, c)
	delete(p.ends, s)
}

func (p *proxy) dial() net.Conn {
	for _, target := range p.targets {
		if s, err := net.DialTimeout("tcp", target, time.Second); err == nil {
			return s
		}
	}
	return nil
}

func (p *proxy) copyBytes(to, from net.Conn) {
	defer to.Close()
	_, _ = io.Copy(cutWriter{p, to}, from)
	_ = from.Close()
}

type cutWriter struct {
	p  *proxy
	to net.Conn
}

func (w cutWriter) Write(b []byte) (int, error) {
	w.p.awaitWhole()
	return w.to.Write(b)
}

// cut lets nothing through until mend.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = make(chan struct{})
}

// mend ends a cut: the bytes that were held arrive.
func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.whole:
	default:
		close(p.whole)
	}
}

func (p *proxy) dropAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.ends {
		_ = c.Close()
	}
}
