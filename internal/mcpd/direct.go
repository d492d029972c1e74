package mcpd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/body"
	"loregate/internal/op"
)

// Nearly every message calls a tool or reads a resource and does not need the SDK's handshake,
// streams, progress or questions. Such a message is answered here, without the SDK's decoding,
// which costs more than the rest of a call. The answer is the same as the SDK's:
// TestDirectAnswersMatchSDK compares the two.

// answersDirectly reports whether an envelope is answered here: not if it is for a fixture or for
// an operation that reports progress or asks questions.
func (s *Server) answersDirectly(m *envelope) bool {
	switch {
	case s.viaSDK:
		return false
	case m.method == "resources/read":
		return !s.cfg.Fixtures.hasResource(m.target)
	}
	o, ok := s.cfg.Engine.Find(m.target)
	return !(ok && o.MayAskBack()) && !s.cfg.Fixtures.hasTool(m.target)
}

// answerEnvelope returns the message that answers an envelope, and the error in that message, if
// any.
func (s *Server) answerEnvelope(ctx context.Context, m *envelope, v *visit) (message []byte, err error) {
	c := &call{visit: v, world: m.world, key: m.key, source: m.source, modern: m.version != ""}
	res, err := s.runGuarded(ctx, c, func(ctx context.Context) (mcp.Result, error) {
		if m.method == "resources/read" {
			return s.contentOf(ctx, m.target, c)
		}
		return s.runTool(ctx, c, op.Request{Operation: m.target, Input: m.input})
	})
	if err != nil {
		return m.errorMessage(err), err
	}
	raw := res.(*result).raw
	message = make([]byte, 0, len(raw)+len(m.id)+len(`{"jsonrpc":"2.0","id":,"result":}`))
	message = append(append(message, `{"jsonrpc":"2.0","id":`...), m.id...)
	message = append(append(message, `,"result":`...), raw...)
	return append(message, '}'), nil
}

// errorMessage returns the message that answers an envelope with an error.
func (m *envelope) errorMessage(err error) []byte {
	b, encoding := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: m.rpcID(), Error: err})
	if encoding != nil {
		panic("mcpd: " + encoding.Error()) // it consists of texts and of our own JSON
	}
	return b
}

// serveDirectly answers a request on its own goroutine. If the SDK has to answer, it does nothing
// and returns false.
func (s *Server) serveDirectly(w http.ResponseWriter, r *http.Request, v *visit, body []byte) bool {
	m, ok := readEnvelope(body)
	if !ok || !m.hasHeadersOfEra(r.Header, v.session) || !s.answersDirectly(&m) {
		return false
	}
	rc := http.NewResponseController(w)
	writeWithin(rc, 0) // producing the answer may take long
	send := func(status int, message []byte) {
		writeWithin(rc, answerWait)
		s.sendWhole(w, r, v, status, message)
	}
	if v.session == nil {
		message, err := s.answerEnvelope(r.Context(), &m, v)
		send(statusOf(err), message)
		return true
	}
	// in the older era a call outlives its connection
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	key := string(m.id)
	if !v.session.calls.begin(key, cancel) {
		send(http.StatusBadRequest, m.errorMessage(&jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest,
			Message: fmt.Sprintf("duplicate in-flight request ID %v", m.rpcID().Raw())}))
		return true
	}
	message, _ := s.answerEnvelope(ctx, &m, v)
	v.session.calls.remove(key) // before the client sees the answer and can use the id again
	send(http.StatusOK, message)
	return true
}

// statusOf returns the HTTP status that the SDK would choose for a response in the modern era.
func statusOf(err error) int {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && e.Code == jsonrpc.CodeInvalidParams {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// sendWhole sends a message, which its client may read slowly.
func (s *Server) sendWhole(w http.ResponseWriter, r *http.Request, v *visit, status int, message []byte) {
	file, err := v.hold.KeepAnswer(r.Context(), message)
	if err != nil {
		s.refuseRequest(w, r, v.correlation, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("Content-Length", strconv.FormatInt(file.Size(), 10))
	w.WriteHeader(status)
	if file.Size() > body.Uncounted {
		w = s.cfg.Bodies.PaceAnswer(w, answerWait)
	}
	_, _ = file.WriteTo(w) // an error means that the client has gone
}

// calls holds the directly answered calls of one connection, by their ids as the client wrote them.
type calls struct {
	mu   sync.Mutex
	open map[string]context.CancelFunc // guarded by mu
}

// begin records a call. It returns false if another open call has the id.
func (c *calls) begin(id string, cancel context.CancelFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[id] != nil {
		return false
	}
	if c.open == nil {
		c.open = map[string]context.CancelFunc{}
	}
	c.open[id] = cancel
	return true
}

func (c *calls) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

// cancel ends the call that a client names in notifications/cancelled, if it is running. The SDK
// cancels the calls that it answers.
func (c *calls) cancel(requestID any) {
	if c == nil { // in the modern era each message has a connection of its own
		return
	}
	id := ""
	switch v := requestID.(type) {
	case string:
		id = `"` + v + `"`
	case float64:
		id = strconv.FormatInt(int64(v), 10)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if end := c.open[id]; end != nil {
		end()
	}
}
