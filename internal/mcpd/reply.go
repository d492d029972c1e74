package mcpd

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

// Timings of streams. Proxies commonly cut a connection that is silent for a minute; a client that
// reads nothing for writeWait is treated as gone.
const (
	defaultKeepAlive = 25 * time.Second
	writeWait        = 15 * time.Second
	answerWait       = 2 * time.Minute // for an answer that is not a stream
)

// reply is the ResponseWriter that the SDK's handler gets. The handler always writes a stream of
// server-sent events; if the first event is already the response, reply sends it as plain JSON
// instead. Only calls that report progress, and subscriptions, become streams. A silent stream gets
// comments, and proxies are told not to buffer it.
type reply struct {
	w         http.ResponseWriter
	rc        *http.ResponseController
	batch     bool              // a batch is answered by several events and stays a stream
	keepAlive time.Duration     // between comments
	onHead    func(http.Header) // called once, before the header goes out
	onStream  func()            // called once, when the reply becomes a stream

	mu    sync.Mutex // guards the fields below, and writing
	mode  replyMode
	beat  *time.Timer
	ended bool
}

type replyMode uint8

const (
	undecided replyMode = iota
	plainJSON
	eventStream
)

var (
	eventHead        = []byte("event: message\ndata: ")
	eventTail        = []byte("\n\n")
	keepAliveComment = []byte(": keep-alive\n\n")
)

func newReply(w http.ResponseWriter, batch bool, keepAlive time.Duration,
	onHead func(http.Header), onStream func()) *reply {
	r := &reply{w: w, rc: http.NewResponseController(w), batch: batch, keepAlive: keepAlive, onHead: onHead,
		onStream: onStream}
	r.boundWrite(0)
	return r
}

func (r *reply) boundWrite(d time.Duration) { writeWithin(r.rc, d) }

// writeWithin bounds the time of the next write; zero lifts the bound. Between the messages of a
// stream it is lifted, since HTTP/2 ends a stream whose bound has passed although nothing is being
// written.
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
	if status == http.StatusOK && r.isStreaming() {
		r.beginStream()
	} else if r.mode == undecided {
		r.mode = plainJSON
	}
	if r.mode == plainJSON {
		r.boundWrite(answerWait)
	}
	r.w.WriteHeader(status)
}

func (r *reply) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode == undecided {
		r.onHead(r.w.Header())
		if data, one := loneResponse(p); one && !r.batch && r.isStreaming() {
			r.mode = plainJSON
			h := r.w.Header()
			h.Set("Content-Type", "application/json")
			h.Del("Connection")
			r.boundWrite(answerWait)
			if _, err := r.w.Write(data); err != nil {
				return 0, err
			}
			return len(p), nil
		}
		r.mode = plainJSON
		if r.isStreaming() {
			r.beginStream()
		}
	}
	if r.mode == eventStream {
		r.boundWrite(writeWait)
		r.beat.Reset(r.keepAlive)
	} else {
		r.boundWrite(answerWait)
	}
	return r.w.Write(p)
}

// FlushError flushes a stream; plain JSON is sent when the handler returns.
func (r *reply) FlushError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode != eventStream || r.ended {
		return nil
	}
	err := r.rc.Flush()
	r.boundWrite(0)
	return err
}

func (r *reply) isStreaming() bool { return r.w.Header().Get("Content-Type") == "text/event-stream" }

// beginStream makes the reply a stream. r.mu is held.
func (r *reply) beginStream() {
	r.mode = eventStream
	r.w.Header().Set("X-Accel-Buffering", "no")
	r.beat = time.AfterFunc(r.keepAlive, r.writeComment)
	if r.onStream != nil {
		r.onStream()
	}
}

func (r *reply) writeComment() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.boundWrite(writeWait)
	if _, err := r.w.Write(keepAliveComment); err != nil {
		return // the handler learns it from the request's context
	}
	_ = r.rc.Flush()
	r.boundWrite(0)
	r.beat.Reset(r.keepAlive)
}

// endReply is called when the handler has returned; nothing is written afterwards.
func (r *reply) endReply() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.beat != nil {
		r.beat.Stop()
		r.boundWrite(writeWait) // the end of the stream is sent after this
	}
}

// loneResponse returns the JSON of an event that holds a JSON-RPC response, as the SDK writes it:
// {"jsonrpc":"2.0","id":…, and then "result" or "error".
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
