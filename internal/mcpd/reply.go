package mcpd

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

// Timings of streams. Proxies commonly cut what is silent for a minute; a client that
// takes nothing for writeWait is gone.
const (
	defaultKeepAlive = 25 * time.Second
	writeWait        = 15 * time.Second
	answerWait       = 2 * time.Minute // for an answer that is no stream
)

// reply is the ResponseWriter that the SDK's handler gets. The handler always writes a
// stream of server-sent events; where the first event is already the response, reply
// sends it as plain JSON instead. Only calls that report progress, and subscriptions,
// become streams. A stream gets comments while it is silent, and is not buffered by
// proxies.
type reply struct {
	w         http.ResponseWriter
	rc        *http.ResponseController
	batch     bool              // a batch is answered by several events and stays a stream
	keepAlive time.Duration     // between comments
	onHead    func(http.Header) // called once, before the header goes out
	onStream  func()            // called once, when it turns out to be a stream

	mu    sync.Mutex // guards what follows, and writing
	mode  replyMode
	beat  *time.Timer
	ended bool
}

type replyMode uint8

const (
	undecided replyMode = iota
	plain
	stream
)

var (
	eventHead = []byte("event: message\ndata: ")
	eventTail = []byte("\n\n")
	comment   = []byte(": keep-alive\n\n")
)

func newReply(w http.ResponseWriter, batch bool, keepAlive time.Duration, onHead func(http.Header), onStream func()) *reply {
	r := &reply{w: w, rc: http.NewResponseController(w), batch: batch, keepAlive: keepAlive, onHead: onHead, onStream: onStream}
	r.within(0)
	return r
}

func (r *reply) within(d time.Duration) { writeWithin(r.rc, d) }

// writeWithin bounds how long what is written next may take; zero lifts the bound. Between
// the messages of a stream it is lifted, since HTTP/2 ends a stream whose bound has passed
// although nothing is being written.
func writeWithin(rc *http.ResponseController, d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = rc.SetWriteDeadline(at) // not every writer has deadlines
}

func (r *reply) Header() http.Header { return r.w.Header() }

func (r *reply) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode == undecided {
		r.onHead(r.w.Header())
	}
	if status == http.StatusOK && r.streaming() {
		r.begin()
	} else if r.mode == undecided {
		r.mode = plain
	}
	if r.mode == plain {
		r.within(answerWait)
	}
	r.w.WriteHeader(status)
}

func (r *reply) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode == undecided {
		r.onHead(r.w.Header())
		if data, one := loneResponse(p); one && !r.batch && r.streaming() {
			r.mode = plain
			h := r.w.Header()
			h.Set("Content-Type", "application/json")
			h.Del("Connection")
			r.within(answerWait)
			if _, err := r.w.Write(data); err != nil {
				return 0, err
			}
			return len(p), nil
		}
		r.mode = plain
		if r.streaming() {
			r.begin()
		}
	}
	if r.mode == stream {
		r.within(writeWait)
		r.beat.Reset(r.keepAlive)
	} else {
		r.within(answerWait)
	}
	return r.w.Write(p)
}

// FlushError flushes a stream; plain JSON goes out when the handler returns.
func (r *reply) FlushError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode != stream || r.ended {
		return nil
	}
	err := r.rc.Flush()
	r.within(0)
	return err
}

func (r *reply) streaming() bool { return r.w.Header().Get("Content-Type") == "text/event-stream" }

// begin makes the reply a stream. r.mu is held.
func (r *reply) begin() {
	r.mode = stream
	r.w.Header().Set("X-Accel-Buffering", "no")
	r.beat = time.AfterFunc(r.keepAlive, r.comment)
	if r.onStream != nil {
		r.onStream()
	}
}

func (r *reply) comment() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.within(writeWait)
	if _, err := r.w.Write(comment); err != nil {
		return // the handler learns it from the request's context
	}
	_ = r.rc.Flush()
	r.within(0)
	r.beat.Reset(r.keepAlive)
}

// end is called when the handler has returned; nothing is written afterwards.
func (r *reply) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.beat != nil {
		r.beat.Stop()
		r.within(writeWait) // the end of the stream goes out when the handler has returned
	}
}

// loneResponse gives the JSON of an event that holds a JSON-RPC response, as the SDK
// writes it: {"jsonrpc":"2.0","id":…, and then "result" or "error".
func loneResponse(event []byte) ([]byte, bool) {
	data, ok := bytes.CutPrefix(event, eventHead)
	if !ok {
		return nil, false
	}
	data, ok = bytes.CutSuffix(data, eventTail)
	rest, id := bytes.CutPrefix(data, []byte(`{"jsonrpc":"2.0","id":`))
	if !ok || !id {
		return nil, false
	}
	inString := false
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case c == ',' && !inString:
			rest = rest[i+1:]
			return data, bytes.HasPrefix(rest, []byte(`"result"`)) || bytes.HasPrefix(rest, []byte(`"error"`))
		}
	}
	return nil, false
}
