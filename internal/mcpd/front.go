package mcpd

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/fault"
)

// visit describes one admitted request: its sender and the address it came to.
type visit struct {
	caller      access.Caller
	scope       scope
	correlation string
	baseURL     string
	request     *http.Request // for authenticating again; nil on stdio
	session     *session      // of the older era, once it is established
	home        *home         // set on stdio only
	revives     string        // id of the session that is resumed; "" for none
	hold        *body.Hold    // of the request's bytes in memory and on disk; nil on stdio
}

// openCalls returns the connection's directly answered calls, which a message can cancel; nil if no
// connection outlives the call.
func (v *visit) openCalls() *calls {
	switch {
	case v.session != nil:
		return &v.session.calls
	case v.home != nil:
		return &v.home.calls
	}
	return nil
}

// ServeHTTP serves /mcp and the addresses below it, wherever they are mounted under these paths; see
// scopeAt.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	correlation := s.correlationID(r.Header.Get("X-Correlation-Id"))
	w.Header().Set("X-Correlation-Id", correlation)
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			s.refuseRequest(w, r, correlation, s.logPanic(r.Context(), p, correlation))
		}
	}()
	v, err := s.admitRequest(r, correlation)
	if err != nil {
		s.refuseRequest(w, r, correlation, err)
		return
	}
	if exp := v.caller.TokenExpires; !exp.IsZero() {
		w.Header().Set("X-Token-Expires-In", strconv.Itoa(max(0, int(exp.Sub(s.cfg.Now())/time.Second))))
	}
	v.hold = s.cfg.Bodies.NewHold(string(v.caller.Subject), "")
	defer v.hold.Release()
	var body []byte
	if r.Method == http.MethodPost {
		if body, err = s.readBody(w, r, v.hold); err != nil {
			s.refuseRequest(w, r, correlation, err)
			return
		}
		if err := checkJSON(body); err != nil {
			refuseMessage(w, err)
			return
		}
	}
	s.serveMessage(w, r, v, body)
}

// admitRequest checks a request's origin, sender and address.
func (s *Server) admitRequest(r *http.Request, correlation string) (*visit, error) {
	if s.life.Err() != nil || r.Method == http.MethodGet && s.serving.Err() != nil {
		e := fault.New(fault.Unavailable, "the server is stopping; try again shortly")
		e.RetryAfter = time.Second
		return nil, e
	}
	if err := s.checkOrigin(r); err != nil {
		return nil, err
	}
	c, err := s.cfg.Auth.Authenticate(r.Context(), r)
	if err != nil {
		return nil, err
	}
	sc, err := s.scopeAt(r, c)
	if err != nil {
		return nil, err
	}
	return &visit{caller: sc.narrowCaller(c), scope: sc, correlation: correlation, baseURL: baseURL(r), request: r}, nil
}

// checkOrigin refuses requests that a browser sends from a page of another origin. It also checks
// GET, which is safe elsewhere but opens a stream here.
func (s *Server) checkOrigin(r *http.Request) error {
	if r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" {
		return nil
	}
	probe := &http.Request{Method: http.MethodPost, Host: r.Host, URL: r.URL, Header: r.Header}
	if err := s.origins.Check(probe); err != nil {
		return fault.New(fault.Denied,
			"requests from this origin are refused; ask the operator to add it to allowed_origins").Because(err)
	}
	return nil
}

// serveMessage answers a request directly, or passes it to the SDK's handler of its era.
func (s *Server) serveMessage(w http.ResponseWriter, r *http.Request, v *visit, body []byte) {
	id := r.Header.Get("Mcp-Session-Id")
	if id != "" {
		if v.session = s.sessions.findSession(id, v); v.session == nil {
			v.session = s.reviveSession(r.Context(), id, v)
		}
	}
	if r.Method == http.MethodPost {
		if v.session != nil {
			defer v.session.hold()()
		}
		if s.serveDirectly(w, r, v, body) {
			return
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	if r.Method == http.MethodGet {
		ctx, cancel = s.untilDrain(r.Context())
	}
	defer cancel()
	header := maps.Clone(r.Header)
	header["Authorization"] = authorized // the SDK does not need the credentials
	handler := s.stateful
	switch {
	case id != "":
		header["Mcp-Session-Id"] = unknownSession
		if v.session != nil {
			header["Mcp-Session-Id"] = []string{v.session.ss.ID()}
		}
	case r.Method == http.MethodPost && isModern(header, body):
		handler = s.stateless
	}
	inner := r.WithContext(context.WithValue(ctx, visitKey{}, v))
	inner.Header, inner.Body = header, io.NopCloser(bytes.NewReader(body))
	var stopWatch func()
	out := newReply(w, isBatch(body), s.cfg.KeepAlive, s.sessions.replaceID,
		func() { stopWatch = s.watchCaller(ctx, v.caller, cancel) })
	defer func() {
		out.endReply()
		if stopWatch != nil {
			stopWatch()
		}
	}()
	handler.ServeHTTP(out, inner)
	if r.Method == http.MethodDelete && v.session != nil {
		v.session.endForGood()
	}
}

var (
	authorized     = []string{"Bearer authenticated"}
	unknownSession = []string{"-"} // ids of the SDK consist of letters and digits
)

type visitKey struct{}

// withTokenInfo passes the visit to the methods in the TokenInfo, the only place where the SDK
// keeps data of a request rather than of a session.
func withTokenInfo(h http.Handler) http.Handler {
	verify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{Extra: map[string]any{"visit": ctx.Value(visitKey{})}}, nil
	}
	return auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
}

// watchCaller calls end when the caller's key or token ends, and when the server closes. The
// returned func stops watching.
func (s *Server) watchCaller(ctx context.Context, c access.Caller, end func()) (stop func()) {
	ended, stopKey := s.cfg.Auth.Watch(ctx, c.Key)
	var expired <-chan time.Time
	var timer *time.Timer
	if !c.TokenExpires.IsZero() {
		timer = time.NewTimer(c.TokenExpires.Sub(s.cfg.Now()))
		expired = timer.C
	}
	quit := make(chan struct{})
	begun := s.startWork(func() {
		select {
		case <-ended:
			end()
		case <-expired:
			end()
		case <-s.life.Done():
			end()
		case <-quit:
		}
	})
	if !begun {
		go end() // the server is stopping; end may wait for the very request that called watchCaller
	}
	return func() {
		close(quit)
		stopKey()
		if timer != nil {
			timer.Stop()
		}
	}
}

// surfaceAt returns the surface that a request's address names; "" for none.
func (s *Server) surfaceAt(r *http.Request) string {
	name, _, _ := strings.Cut(s.setText(r), "/")
	if s.surfaces[name] == nil {
		return ""
	}
	return name
}

// refuseRequest answers with the error object, before any message has been read.
func (s *Server) refuseRequest(w http.ResponseWriter, r *http.Request, correlation string, err error) {
	kind := fault.KindOf(err)
	h := w.Header()
	if kind == fault.Unauthorized || kind == fault.Denied {
		if c := s.cfg.Auth.Challenge(r, err); c != "" {
			h.Set("WWW-Authenticate", c)
		}
	}
	shown := s.showError("", s.surfaceAt(r), err, correlation)
	if after, ok := shown.Error.Details["retry_after_seconds"].(int); ok {
		h.Set("Retry-After", strconv.Itoa(after))
	}
	if kind == fault.Internal {
		s.log.ErrorContext(r.Context(), "request failed", "correlation_id", correlation, "error", err)
	}
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(kind.HTTPStatus())
	_, _ = w.Write(encodeError(shown))
}

// refuseMessage answers a body that is not a message.
func refuseMessage(w http.ResponseWriter, why error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	b := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":`, jsonrpc.CodeParseError)
	_, _ = w.Write(append(appendQuoted(b, "parse error: "+why.Error()), "}}"...))
}

// logPanic logs a panic and returns the error to show for it.
func (s *Server) logPanic(ctx context.Context, p any, correlation string) error {
	err := fault.Panicked("a call", p)
	s.log.ErrorContext(ctx, "panic", "correlation_id", correlation, "error", err)
	return err
}

// correlationID returns the caller's id if it has an accepted form, else a new one.
func (s *Server) correlationID(given string) string {
	if given != "" && len(given) <= 64 && strings.Trim(given,
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:") == "" {
		return given
	}
	var b [12]byte
	s.cfg.Random(b[:])
	return hex.EncodeToString(b[:])
}

// baseURL returns the address at which the caller reached the server. If there is a proxy in front,
// the host and scheme in the request have been corrected before it comes here.
func baseURL(r *http.Request) string {
	if r.TLS != nil || r.URL.Scheme == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
