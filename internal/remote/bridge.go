package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"loregate/internal/fault"
)

// Bounds of a connection.
const (
	maxLine   = 40 << 20        // bytes of a client's message: an attachment of 25 MiB in base64, and room
	maxCalls  = 64              // concurrent calls of one client
	maxAnswer = 5 * time.Minute // for one call; streams have no limit
	listening = "subscriptions/listen"
)

// relay is one client's connection.
type relay struct {
	*Bridge
	ctx  context.Context
	work sync.WaitGroup
	room chan struct{} // one element for each running call

	write sync.Mutex // guards out
	out   io.Writer

	mu        sync.Mutex // guards the fields below
	session   string     // of the older era; "" before it is established
	version   string     // the version negotiated in the handshake
	following bool       // the stream of the server's unsolicited messages is open
	reads     map[string]bool
	calls     map[string]context.CancelFunc // running calls, by id
}

// message has the parts of a JSON-RPC message that the relay needs.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
		Arguments struct {
			Key string `json:"idempotency_key"`
		} `json:"arguments"`
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
	text []byte
}

func (m *message) isCall() bool { return m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null" }

// Serve relays messages, one a line, until in ends or ctx does. It writes only messages to out.
func (b *Bridge) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	r := &relay{Bridge: b, ctx: ctx, room: make(chan struct{}, maxCalls), out: out, reads: map[string]bool{},
		calls: map[string]context.CancelFunc{}}
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() { // a read of a pipe cannot be interrupted: this may last until the process ends
		defer close(lines)
		defer close(failed)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(make([]byte, 64<<10), maxLine)
		for scanner.Scan() {
			select {
			case lines <- bytes.Clone(scanner.Bytes()):
			case <-ctx.Done():
				return
			}
		}
		failed <- scanner.Err()
	}()
	var err error
	for open := true; open; {
		select {
		case text, more := <-lines:
			if open = more; more {
				r.handleMessage(text)
			} else {
				err = <-failed
			}
		case <-ctx.Done():
			open = false
		}
	}
	r.endSession(cancel)
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("remote: a message of the client has more than %d bytes", maxLine)
	}
	return err
}

// endSession waits until all calls that were read are answered, and ends the session.
func (r *relay) endSession(cancel context.CancelFunc) {
	r.mu.Lock()
	for id, stop := range r.calls {
		if strings.HasPrefix(id, listening) {
			stop()
		}
	}
	r.mu.Unlock()
	for range maxCalls {
		select {
		case r.room <- struct{}{}: // all calls are done once all room is taken
		case <-r.ctx.Done():
		}
	}
	cancel()
	r.work.Wait()
	if r.session == "" {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(r.ctx), 2*time.Second)
	defer stop()
	if token, err := r.currentToken(ctx, ""); err == nil {
		if res, err := r.doMessage(ctx, http.MethodDelete, &message{}, token); err == nil {
			_ = res.Body.Close() // a server that is gone has no session either
		}
	}
}

// handleMessage handles one message of the client. Notifications and responses are sent in their
// order. Calls run concurrently, except the handshake, which finishes before later messages.
func (r *relay) handleMessage(text []byte) {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return
	}
	m := &message{text: text}
	if err := json.Unmarshal(text, m); err != nil {
		r.writeMessage([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a JSON-RPC 2.0 message; send one message per line"}}`))
		return
	}
	switch {
	case m.isCall() && m.Method == "initialize":
		r.answerCall(r.ctx, m)
	case m.isCall():
		r.startCall(m)
	default:
		_, _ = r.deliverMessage(r.ctx, m) // no caller waits for a notification
		if m.Method == "notifications/cancelled" {
			r.cancelCall(m.Params.RequestID)
		}
		if m.Method == "notifications/initialized" {
			r.followServer()
		}
	}
}

// startCall runs a call concurrently.
func (r *relay) startCall(m *message) {
	ctx, cancel := context.WithTimeout(r.ctx, maxAnswer)
	id, leave := string(m.ID), func() {}
	if m.Method == listening {
		cancel()
		ctx, cancel = context.WithCancel(r.ctx)
	} else {
		r.room <- struct{}{}
		leave = func() { <-r.room }
	}
	key := id
	if m.Method == listening {
		key = listening + id
	}
	r.mu.Lock()
	r.calls[key] = cancel
	r.mu.Unlock()
	r.work.Go(func() {
		defer leave()
		defer cancel()
		r.answerCall(ctx, m)
		r.mu.Lock()
		delete(r.calls, key)
		r.mu.Unlock()
	})
}

// cancelCall cancels a call at the client's request.
func (r *relay) cancelCall(id json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range []string{string(id), listening + string(id)} {
		if stop := r.calls[key]; stop != nil {
			stop()
		}
	}
}

// answerCall gets the answer to a call and sends it to the client.
func (r *relay) answerCall(ctx context.Context, m *message) {
	answer, err := r.deliverMessage(ctx, m)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return // a client that cancelled gets no answer
	case err == nil && answer == nil:
		err = fault.New(fault.Unavailable,
			"the server's answer was interrupted; before you repeat a write, check if it took effect")
	}
	if err != nil {
		answer = failureAnswer(m, err)
	}
	r.learnAnswer(m, answer)
	r.writeMessage(answer)
}

// deliverMessage sends a message until the server has handled it. A message refused by a rate limit
// had no effect, so any message is sent again then. After other failures only repeatable messages
// are sent again.
func (r *relay) deliverMessage(ctx context.Context, m *message) (answer []byte, err error) {
	for try, wait := 1, firstWait; ; try, wait = try+1, wait*2 {
		var pause time.Duration
		var again bool
		answer, err = r.postMessage(ctx, m)
		if err == nil {
			pause, again = limitedPause(answer, wait)
		} else {
			again = fault.KindOf(err) == fault.RateLimited || fault.KindOf(err) == fault.Unavailable && r.isRepeatable(m)
			pause = max(wait, retryAfterOf(err))
		}
		if !again || try == maxTries || pause > maxWait || ctx.Err() != nil {
			return answer, err
		}
		if err := r.cfg.Sleep(ctx, pause); err != nil {
			return nil, newUnreachable(err)
		}
	}
}

func retryAfterOf(err error) time.Duration {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.RetryAfter
	}
	return 0
}

// isRepeatable reports whether a message may be delivered twice.
func (r *relay) isRepeatable(m *message) bool {
	if m.Method != "tools/call" {
		return m.Method != ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reads[m.Params.Name] || m.Params.Arguments.Key != ""
}

// limitedPause reports whether an answer refuses a call because of a rate limit, and how long to
// wait before the next try.
func limitedPause(answer []byte, wait time.Duration) (time.Duration, bool) {
	if !bytes.Contains(answer, []byte("retry_after_seconds")) {
		return 0, false
	}
	var a struct {
		Result struct {
			IsError bool `json:"isError"`
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
		Error struct {
			Data fault.Envelope `json:"data"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return 0, false
	}
	shown := a.Error.Data
	if a.Result.IsError && len(a.Result.Content) > 0 && json.Unmarshal([]byte(a.Result.Content[0].Text), &shown) != nil {
		return 0, false
	}
	if !strings.EqualFold(shown.Error.Code, fault.RateLimited.Code()) {
		return 0, false
	}
	seconds, _ := shown.Error.Details["retry_after_seconds"].(float64)
	return max(wait, time.Duration(seconds*float64(time.Second))), true
}

// learnAnswer stores the parts of an answer that later messages need: the protocol version and the
// tools that only read.
func (r *relay) learnAnswer(m *message, answer []byte) {
	if m.Method != "initialize" && m.Method != "tools/list" {
		return
	}
	var a struct {
		Result struct {
			Version string `json:"protocolVersion"`
			Tools   []struct {
				Name        string `json:"name"`
				Annotations struct {
					Reads bool `json:"readOnlyHint"`
				} `json:"annotations"`
			} `json:"tools"`
		} `json:"result"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Method == "initialize" {
		r.version = a.Result.Version
	}
	for _, tool := range a.Result.Tools {
		r.reads[tool.Name] = tool.Annotations.Reads
	}
}

// failureAnswer returns the answer to a call that failed.
func failureAnswer(m *message, err error) []byte {
	b, encoding := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID,
		"error": map[string]any{"code": -32000, "message": oneLine(err), "data": fault.Show(err, "")}})
	if encoding != nil {
		panic("remote: " + encoding.Error()) // plain values of our own
	}
	return b
}

// writeMessage writes one message to the client.
func (r *relay) writeMessage(text []byte) {
	if bytes.IndexByte(text, '\n') >= 0 {
		var line bytes.Buffer
		if json.Compact(&line, text) != nil {
			return // not a message
		}
		text = line.Bytes()
	}
	r.write.Lock()
	defer r.write.Unlock()
	_, _ = r.out.Write(append(text, '\n')) // a client that is gone shows at the end of its input
}
