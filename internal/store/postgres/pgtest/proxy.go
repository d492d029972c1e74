package pgtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"loregate/internal/proxytest"
)

// Proxy relays connections to a database. It can cut them, and counts round trips and the bytes of answers.
type Proxy struct {
	URL   string // the database's address through the proxy
	relay *proxytest.Proxy
	trips atomic.Int64
	bytes atomic.Int64

	mu    sync.Mutex
	left  int  // bytes of answers until the cut. Guarded by mu
	armed bool // guarded by mu
	cuts  int  // guarded by mu
}

// NewProxy returns a proxy before a database that Empty or Database returned, for one test.
func NewProxy(t testing.TB, at string) *Proxy {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	w, socket := &Proxy{}, u.Query().Get("host")+"/.s.PGSQL.5432"
	w.relay = proxytest.New(t, proxytest.Config{
		Dial: func() (net.Conn, error) { return net.Dial("unix", socket) },
		Wrap: func(s, c net.Conn) (io.Writer, io.Writer) {
			asked := new(atomic.Bool)
			return questionWriter{s, asked}, answerWriter{w, c, asked}
		},
	})
	u.Host, u.RawQuery = w.relay.Addr, "sslmode=disable"
	w.URL = u.String()
	return w
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
	a.w.bytes.Add(int64(len(b)))
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
	w.relay.DropAll()
	return true
}

// RoundTrips returns how often a connection has begun to answer after a client had asked.
func (w *Proxy) RoundTrips() int { return int(w.trips.Load()) }

// Bytes returns the number of bytes of answers that the server has sent.
func (w *Proxy) Bytes() int { return int(w.bytes.Load()) }

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
