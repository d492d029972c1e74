package mcpd

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// timed is a ResponseWriter that records its write deadline.
type timed struct {
	*httptest.ResponseRecorder
	until   time.Time
	unbound int // writes without a deadline
}

func (w *timed) SetWriteDeadline(at time.Time) error { w.until = at; return nil }

func (w *timed) Write(p []byte) (int, error) {
	if w.until.IsZero() {
		w.unbound++
	}
	return w.ResponseRecorder.Write(p)
}

// Every write has a deadline, so that a client that does not read ends its call. A resting stream
// has none, because HTTP/2 would end the stream by a deadline left set.
func TestWritesHaveDeadlines(t *testing.T) {
	for name, tc := range map[string]struct {
		kind, text string
		rests      bool
	}{
		"an error": {"application/json", `{"jsonrpc":"2.0","id":1,"error":{}}`, false},
		"a lone response": {"text/event-stream",
			"event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n", false},
		"a stream": {"text/event-stream", "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n\n", true},
	} {
		w := &timed{ResponseRecorder: httptest.NewRecorder(), until: time.Now()}
		r := newReply(w, false, time.Hour, func(http.Header) {}, nil)
		if !w.until.IsZero() {
			t.Errorf("%s: the bound of what came before is kept, and a long call ends by it", name)
		}
		r.Header().Set("Content-Type", tc.kind)
		if _, err := r.Write([]byte(tc.text)); err != nil {
			t.Fatal(err)
		}
		if err := r.FlushError(); err != nil {
			t.Fatal(err)
		}
		if w.unbound > 0 || w.until.IsZero() != tc.rests {
			t.Errorf("%s: %d writes without a bound; afterwards it is %v", name, w.unbound, w.until)
		}
		r.endReply()
		if w.until.IsZero() {
			t.Errorf("%s: its end may take for ever", name)
		}
	}
}
