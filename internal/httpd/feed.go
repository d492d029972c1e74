package httpd

import (
	"bytes"
	"context"
	"io"
	"iter"
	"net/http"
	"time"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Timings of streams. Proxies commonly cut a connection that is silent for a minute; a reader that
// takes nothing for takeWait is treated as gone.
const (
	heartbeat = 20 * time.Second
	takeWait  = 15 * time.Second
	retryWait = "2000" // milliseconds after which a browser reconnects
)

// maxAfter bounds the length of Last-Event-ID.
const maxAfter = 200

// serveFeed serves one feed as server-sent events, as defined by the HTML standard.
func (s *server) serveFeed(f *op.Feed) handler {
	return func(x *exchange, vars map[string]string) {
		c, err := s.findCaller(x, f.Audience)
		if err != nil {
			s.writeError(x, f.Name, err)
			return
		}
		r, err := s.feedRequest(x, f, vars)
		if err != nil {
			s.writeError(x, f.Name, err)
			return
		}
		again := func(ctx context.Context) (access.Caller, error) {
			return s.Auth.Authenticate(ctx, Bearer(x.r), c.Audience) // that of the feed, or none for a key
		}
		if err := s.streamFeed(x, c, again, r); err != nil {
			s.writeError(x, f.Name, err)
		}
	}
}

// streamFeed sends a feed until its reader goes. again authenticates the reader again. The error is one of
// opening the feed, before anything was sent.
func (s *server) streamFeed(x *exchange, c access.Caller, again func(context.Context) (access.Caller, error),
	r op.FeedRequest) error {
	ctx, cancel := context.WithCancel(x.r.Context())
	defer cancel()
	stream, err := s.Engine.Follow(ctx, c, r)
	if err != nil {
		return err
	}
	revoked, stop := s.Auth.Watch(ctx, c.Key)
	defer stop()
	defer s.streams.Open(c.Account(), cancel)()
	w := &events{s: s, x: x, stream: stream, again: again, caller: c, revoked: revoked}
	stream.Close(w.sendAll(ctx, cancel))
	return nil
}

// exchangeKey is the key of the exchange in the context of a request to the console.
type exchangeKey struct{}

// served is a request with the server that serves it.
type served struct {
	s *server
	x *exchange
}

// FollowFeed sends a feed to a page of the console, by its name, as the routes of feeds do. The request must
// have come through the server.
func FollowFeed(r *http.Request, c access.Caller, again func(context.Context) (access.Caller, error),
	feed, world string, vars map[string]string) error {
	e, _ := r.Context().Value(exchangeKey{}).(served)
	if e.s == nil {
		return fault.New(fault.Internal, "the request did not come through the server")
	}
	for _, f := range e.s.Engine.Feeds() {
		if f.Name == feed {
			request, err := e.s.feedRequest(e.x, f, vars)
			if err != nil {
				return err
			}
			request.World, request.Transport = world, "console"
			return e.s.streamFeed(e.x, c, again, request)
		}
	}
	return fault.New(fault.NotFound, "there is no feed %s", feed)
}

func (s *server) feedRequest(x *exchange, f *op.Feed, vars map[string]string) (op.FeedRequest, error) {
	after := x.r.Header.Get("Last-Event-ID")
	if q := x.r.URL.Query().Get("after"); after == "" {
		after = q
	}
	if len(after) > maxAfter || !utf8.ValidString(after) {
		return op.FeedRequest{}, fault.BadField("Last-Event-ID", "must be the id of a message of this stream")
	}
	for name, value := range vars {
		if !utf8.ValidString(value) {
			return op.FeedRequest{}, fault.BadField(name, "must be UTF-8, percent-encoded")
		}
	}
	ask := op.Ask{World: x.r.URL.Query().Get("world"), Correlation: x.correlation, Transport: "rest",
		BaseURL: s.baseURL(x)}
	return op.FeedRequest{Ask: ask, Feed: f, Vars: vars, After: after}, nil
}

// events writes one open stream.
type events struct {
	s       *server
	x       *exchange
	stream  *op.Stream
	again   func(context.Context) (access.Caller, error)
	caller  access.Caller
	revoked <-chan struct{}
}

// errRights ends a stream whose reader's rights have changed since it was opened.
var errRights = fault.New(fault.Unauthorized,
	"the rights of the stream's reader have changed; open it again with a valid token")

// sendAll writes messages until the reader goes, its rights change, or the server stops.
func (e *events) sendAll(ctx context.Context, cancel func()) error {
	h := e.x.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	if err := e.write([]byte("retry: " + retryWait + "\n\n")); err != nil {
		return nil
	}
	next, stop := pullMessages(ctx, e.stream.Messages)
	defer stop()
	defer cancel()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		var out []byte
		select {
		case <-ctx.Done():
			return nil
		case <-e.revoked:
			return errRights
		case <-e.s.Stopping:
			return nil
		case <-beat.C:
			out = []byte(": keep-alive\n\n")
		case m, open := <-next:
			if !open || m.err != nil {
				return m.err
			}
			out = encodeMessage(m.Message)
		}
		if !e.hasSameRights(ctx) {
			return errRights
		}
		if e.write(out) != nil {
			return nil // the reader is gone
		}
	}
}

// hasSameRights reports whether the credential still gives the rights that the stream was opened
// with.
func (e *events) hasSameRights(ctx context.Context) bool {
	now, err := e.again(ctx)
	return err == nil && now.SameRights(e.caller)
}

func (e *events) write(b []byte) error {
	e.x.answerWithin(takeWait)
	n, err := e.x.w.Write(b)
	e.stream.Sent(n)
	if err == nil {
		err = http.NewResponseController(e.x.w).Flush()
	}
	e.x.answerWithin(0)
	return err
}

// encodeMessage encodes a message as a server-sent event. Data is one line: JSON has line ends only
// between its tokens, and they are replaced by spaces.
func encodeMessage(m op.Message) []byte {
	var b bytes.Buffer
	field := func(name, value string) {
		if value != "" {
			io.WriteString(&b, name+": "+value+"\n")
		}
	}
	field("id", m.ID)
	field("event", m.Event)
	b.WriteString("data: ")
	b.Write(joinLines(m.Data))
	b.WriteString("\n\n")
	return b.Bytes()
}

func joinLines(data []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, data)
}

// pulled is a message of a sequence, or its error.
type pulled struct {
	op.Message
	err error
}

// pullMessages runs a sequence on another goroutine, so that its reader can wait for other things
// too. stop waits for the end of that goroutine; call it once ctx has ended.
func pullMessages(ctx context.Context, seq iter.Seq2[op.Message, error]) (<-chan pulled, func()) {
	next, done := make(chan pulled), make(chan struct{})
	go func() {
		defer close(done)
		defer close(next)
		for m, err := range seq {
			select {
			case next <- pulled{m, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return next, func() { <-done }
}
