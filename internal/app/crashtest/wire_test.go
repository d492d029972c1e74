package crashtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// wire is what connections to a database run through. It can be cut.
type wire struct {
	at     string // the database at the other end
	socket string

	mu    sync.Mutex
	ends  map[net.Conn]struct{} // guarded by mu
	left  int                   // bytes of answers until the cut; negative for none. Guarded by mu
	armed bool                  // guarded by mu
	cuts  int                   // guarded by mu
}

func newWire(t *testing.T, at string) *wire {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{socket: u.Query().Get("host") + "/.s.PGSQL.5432", ends: map[net.Conn]struct{}{}}
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
			all.Go(func() { w.carry(c) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.cut()
		all.Wait()
	})
	return w
}

// carry carries one connection until either end closes it or it is cut.
func (w *wire) carry(c net.Conn) {
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
	both.Go(func() { _, _ = io.Copy(answers{w, c}, s); _ = c.Close() })
	both.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ends, c)
	delete(w.ends, s)
}

// answers counts what comes back from the server, and swallows what comes after the cut.
type answers struct {
	w *wire
	c net.Conn
}

func (a answers) Write(b []byte) (int, error) {
	if a.w.counts(len(b)) {
		a.w.cut()
		return 0, net.ErrClosed
	}
	return a.c.Write(b)
}

// counts reports whether the cut comes with n bytes more.
func (w *wire) counts(n int) bool {
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

// cutAfter cuts everything once so many bytes of answers have come; below 0 not any more.
func (w *wire) cutAfter(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.armed = n, n >= 0
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.ends {
		_ = c.Close()
	}
}
