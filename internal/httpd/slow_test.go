package httpd_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"loregate/internal/httpd"
	"loregate/internal/waittest"
)

// A body that is announced and never sent holds no connection open on any path: not if the address
// has no route, if the caller is refused, or if no body is expected.
func TestUnsentBodiesAreTimedOut(t *testing.T) {
	s := newSite(t, func(c *httpd.Config) { c.BodyWait = 20 * time.Millisecond })
	srv := httptest.NewServer(s)
	defer srv.Close()
	for _, head := range []string{
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n",
		"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n",
		"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n",
		"POST /api/mcp/cards HTTP/1.1\r\nHost: elsewhere.example\r\nContent-Length: 9\r\n",
		"PATCH /api/mcp/cards/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n",
		"GET /api/mcp/cards/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer user\r\nContent-Length: 9\r\n",
		"DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n",
	} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(waittest.Patience))
		fmt.Fprint(conn, head+"\r\n")
		in := bufio.NewReader(conn)
		if res, err := http.ReadResponse(in, nil); err != nil {
			t.Errorf("%q: no answer: %v", head, err)
		} else if _, err := in.Discard(int(res.ContentLength) + 1); err == nil || isTimeout(err) {
			t.Errorf("%q: the connection stays open", head)
		}
		_ = conn.Close()
	}
}

func isTimeout(err error) bool {
	n, ok := errors.AsType[net.Error](err)
	return ok && n.Timeout()
}

// bounded is a ResponseWriter that records its write deadline.
type bounded struct {
	*httptest.ResponseRecorder
	until   time.Time
	unbound int       // writes without a deadline
	flushed chan bool // gets a value when the deadline is lifted after a flush
}

func (b *bounded) SetWriteDeadline(at time.Time) error {
	if b.until = at; at.IsZero() && b.flushed != nil && b.Flushed {
		select {
		case b.flushed <- true:
		default:
		}
	}
	return nil
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.until.IsZero() {
		b.unbound++
	}
	return b.ResponseRecorder.Write(p)
}

// Every write of an answer has a deadline, also on addresses open to anybody.
func TestAnswersHaveWriteDeadlines(t *testing.T) {
	s := newSite(t, nil)
	for _, path := range []string{"/healthz", "/api/openapi.json", "/.well-known/jwks.json", "/nowhere",
		"/api/mcp/cards/a"} {
		w := &bounded{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer user")
		s.ServeHTTP(w, r)
		if w.unbound > 0 || w.Body.Len() == 0 {
			t.Errorf("%s: %d writes of an answer of %d bytes may take for ever", path, w.unbound, w.Body.Len())
		}
	}
}

// Between the messages of a stream there is no deadline: HTTP/2 would end the stream by it.
func TestIdleStreamsHaveNoDeadline(t *testing.T) {
	server := feeding(t, people{}, nil)
	w := &bounded{ResponseRecorder: httptest.NewRecorder(), flushed: make(chan bool, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "GET", "/api/feeds/a/stream", nil)
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer user")
	done := make(chan struct{})
	go func() { defer close(done); server.Config.Handler.ServeHTTP(w, r) }()
	waittest.Receive(t, w.flushed, "the bound of a message is lifted")
	cancel()
	<-done
	if w.unbound > 0 {
		t.Errorf("%d messages may take for ever", w.unbound)
	}
}
