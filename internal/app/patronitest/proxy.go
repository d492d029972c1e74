package patronitest

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"loregate/internal/proxytest"
)

// proxy relays TCP connections. While it is cut it passes no byte on, as a network that lost its
// cable: connections stay open, and nothing arrives.
type proxy struct {
	*proxytest.Proxy
	targets []string // the first that accepts is used

	mu    sync.Mutex
	whole chan struct{} // closed unless it is cut; guarded by mu
}

func newProxy(t testing.TB, targets ...string) *proxy {
	t.Helper()
	p := &proxy{targets: targets, whole: make(chan struct{})}
	close(p.whole)
	p.Proxy = proxytest.New(t, proxytest.Config{Dial: p.dial, Wrap: func(s, c net.Conn) (io.Writer, io.Writer) {
		return cutWriter{p, s}, cutWriter{p, c}
	}})
	t.Cleanup(p.mend)
	return p
}

func (p *proxy) awaitWhole() {
	p.mu.Lock()
	whole := p.whole
	p.mu.Unlock()
	<-whole
}

func (p *proxy) dial() (c net.Conn, err error) {
	p.awaitWhole()
	for _, target := range p.targets {
		if c, err = net.DialTimeout("tcp", target, time.Second); err == nil {
			break
		}
	}
	return c, err
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
