package crashtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// proxy relays connections to a database. It can cut them.
type proxy struct {
	at     string // the database's URL through the proxy
	socket string

	mu    sync.Mutex
	ends  map[net.Conn]struct{} // guarded by mu
	left  int                   // bytes of answers until the cut. Guarded by mu
	armed bool                  // guarded by mu
	cuts  int                   // guarded by mu
}

func newProxy(t *testing.T, at string) *proxy {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	w := &proxy{socket: u.Query().Get("host") + "/.s.PGSQL.5432", ends: map[net.Conn]struct{}{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.RawQuery = listener.Addr().String(), "sslmode=disable"
	w.at = u.String()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { w.relay(c) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.cutAll()
		all.Wait()
	})
	return w
}

// relay relays one connection until either end closes it or it is cut.
func (w *proxy) relay(c net.Conn) {
	s, err := net.Dial("unix", w.socket)
	if err != nil {
		_ = c.Close()
		return
	}
	w.mu.Lock()
	w.ends[c], w.ends[s] = struct{}{}, struct{}{}
	w.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(s, c); _ = s.Close() })
	both.Go(func() { _, _ = io.Copy(answerWriter{w, c}, s); _ = c.Close() })
	both.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ends, c)
	delete(w.ends, s)
}

// answerWriter counts the bytes that come back from the server, and drops those after the cut.
type answerWriter struct {
	w *proxy
	c net.Conn
}

func (a answerWriter) Write(b []byte) (int, error) {
	if a.w.reachesCut(len(b)) {
		a.w.cutAll()
		return 0, net.ErrClosed
	}
	return a.c.Write(b)
}

// reachesCut reports whether the cut comes within the next n bytes.
func (w *proxy) reachesCut(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.armed {
		return false
	}
	w.left -= n
	if w.left >= 0 {
		return false
	}
	w.armed = false
	w.cuts++
	return true
}

// cutAfter cuts all connections after n more bytes of answers; a negative n disarms the cut.
func (w *proxy) cutAfter(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.armed = n, n >= 0
}

func (w *proxy) cutAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.ends {
		_ = c.Close()
	}
}
