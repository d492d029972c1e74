package pgtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy relays connections to a database. It can cut them, and counts round trips.
type Proxy struct {
	URL    string // the database's address through the proxy
	socket string
	trips  atomic.Int64

	mu    sync.Mutex
	ends  map[net.Conn]struct{} // guarded by mu
	left  int                   // bytes of answers until the cut. Guarded by mu
	armed bool                  // guarded by mu
	cuts  int                   // guarded by mu
}

// NewProxy returns a proxy before a database that Empty or Database returned, for one test.
func NewProxy(t testing.TB, at string) *Proxy {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	w := &Proxy{socket: u.Query().Get("host") + "/.s.PGSQL.5432", ends: map[net.Conn]struct{}{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.Host, u.RawQuery = listener.Addr().String(), "sslmode=disable"
	w.URL = u.String()
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
		w.CutAll()
		all.Wait()
	})
	return w
}

// relay relays one connection until either end closes it or it is cut.
func (w *Proxy) relay(c net.Conn) {
	s, err := net.Dial("unix", w.socket)
	if err != nil {
		_ = c.Close()
		return
	}
	w.mu.Lock()
	w.ends[c], w.ends[s] = struct{}{}, struct{}{}
	w.mu.Unlock()
	var both sync.WaitGroup
	var asked atomic.Bool
	both.Go(func() { _, _ = io.Copy(questionWriter{s, &asked}, c); _ = s.Close() })
	both.Go(func() { _, _ = io.Copy(answerWriter{w, c, &asked}, s); _ = c.Close() })
	both.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ends, c)
	delete(w.ends, s)
}

// questionWriter notes that a client has asked something.
type questionWriter struct {
	s     net.Conn
	asked *atomic.Bool
}

func (q questionWriter) Write(b []byte) (int, error) {
	q.asked.Store(true)
	return q.s.Write(b)
}

// answerWriter counts the answers and bytes that come back from the server, and drops those after the cut.
type answerWriter struct {
	w     *Proxy
	c     net.Conn
	asked *atomic.Bool
}

func (a answerWriter) Write(b []byte) (int, error) {
	if a.asked.CompareAndSwap(true, false) {
		a.w.trips.Add(1)
	}
	if a.w.cutWithin(len(b)) {
		return 0, net.ErrClosed
	}
	return a.c.Write(b)
}

// cutWithin cuts all connections and returns true if the cut is due within the next n bytes.
func (w *Proxy) cutWithin(n int) bool {
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
	w.closeEnds()
	return true
}

// RoundTrips returns how often a connection has begun to answer after a client had asked.
func (w *Proxy) RoundTrips() int { return int(w.trips.Load()) }

// Cuts returns the number of cuts that CutAfter made.
func (w *Proxy) Cuts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cuts
}

// CutAfter cuts all connections after n more bytes of answers; a negative n disarms the cut. It
// waits for a cut that has begun.
func (w *Proxy) CutAfter(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.armed = n, n >= 0
}

// CutAll cuts all connections.
func (w *Proxy) CutAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closeEnds()
}

// closeEnds closes all connections. The caller holds mu.
func (w *Proxy) closeEnds() {
	for c := range w.ends {
		_ = c.Close()
	}
}
