package mcpd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"loregate/internal/access"
)

// Sessions of the older era live in one process, and a client may come to another: its own
// was stopped, or the balancer's choice has changed. So a session's id says, sealed, what
// it takes to begin the session anew: the revision that was agreed on, and whose it is.
// Any process with the key then goes on with it. What is lost is what the session heard of
// by resources/subscribe, which the client has to ask for again, and what ran in it.
//
// An id is a box (see sealer) of the time of making in Unix seconds, 8 bytes | length of
// the revision, 1 byte | revision | the SDK's own id, bound to the caller's rights and the
// address's surfaces: to anybody else it is unknown.

// sessionLife is how long after its making a session can be gone on with elsewhere.
const sessionLife = 7 * 24 * time.Hour

// maxEnded is how many ids a process remembers that it has ended.
const maxEnded = 4096

// sessionID makes the id that a client gets for a session of the SDK's.
func (s *sealer) sessionID(inner, revision string, b []byte) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(s.now().Unix()))
	plain = append(plain, byte(len(revision)))
	plain = append(append(plain, revision...), inner...)
	return s.box(plain, b)
}

// revision reads an id; ok says whether it is one of ours, of this caller, and not too old.
func (s *sealer) revision(id string, b []byte) (revision string, ok bool) {
	plain, opened := s.unbox(id, b)
	if !opened || len(plain) < 9 || len(plain) < 9+int(plain[8]) {
		return "", false
	}
	made := time.Unix(int64(binary.BigEndian.Uint64(plain)), 0)
	return string(plain[9 : 9+int(plain[8])]), s.now().Sub(made) < sessionLife
}

// boundTo is what a session is bound to, at any process: the rights of its caller, and
// where it was made.
func boundTo(c access.Caller, sc scope) []byte {
	c.TokenExpires = time.Time{}
	b, err := json.Marshal(struct {
		Caller access.Caller
		Roles  []string
		Scope  string
	}{withoutRoles(c), roleTexts(c), sc.key})
	if err != nil {
		panic("mcpd: " + err.Error()) // it has nothing that JSON cannot say
	}
	sum := sha256.Sum256(b)
	return append([]byte("session\x00"), sum[:]...)
}

func withoutRoles(c access.Caller) access.Caller {
	c.Roles = nil
	return c
}

func roleTexts(c access.Caller) []string {
	var all []string
	for w, r := range c.Roles {
		all = append(all, w.String()+" "+strconv.Itoa(int(r)))
	}
	slices.Sort(all)
	return all
}

// revive goes on with a session that another process made, or this one before it
// stopped; nil where the id is no such session's. Requests that come at once for one
// session begin it once.
func (s *Server) revive(ctx context.Context, id string, v *visit) *session {
	revision, ok := s.seal.revision(id, boundTo(v.caller, v.scope))
	if !ok || s.sessions.gone(id) {
		return nil
	}
	s.sessions.reviving.Do(id, func() (any, error) {
		s.resume(ctx, id, revision, v)
		return nil, nil
	})
	return s.sessions.visit(id, v)
}

// resume has the SDK begin a session anew under an id that a client knows, unless
// another request was first. It goes on when its request ends, as others may wait for it.
func (s *Server) resume(ctx context.Context, id, revision string, v *visit) {
	if s.sessions.visit(id, v) != nil {
		return
	}
	again := *v
	again.revives = id
	ctx = context.WithValue(context.WithoutCancel(ctx), visitKey{}, &again)
	inner := s.inside(ctx, v, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":`+string(quote(nil, revision))+
		`,"capabilities":{},"clientInfo":{"name":"revived","version":"0"}}}`)
	if inner != "" {
		s.inside(ctx, v, inner, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		s.sessions.begin(id)
	}
}

// begin lets requests find a session that is gone on with.
func (t *sessions) begin(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.byID[id]; n != nil {
		n.begun = true
	}
}

// inside sends a message to the SDK's handler as a client would, and gives the session
// that it answers for; "" where it fails.
func (s *Server) inside(ctx context.Context, v *visit, session, message string) string {
	r := v.request.Clone(ctx)
	r.Method, r.Header = http.MethodPost, http.Header{
		"Authorization": authorized, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(message))), int64(len(message))
	w := &unheard{header: http.Header{}}
	s.stateful.ServeHTTP(w, r)
	if w.status >= 300 {
		return ""
	}
	return w.header.Get("Mcp-Session-Id")
}

// unheard is the answer to a message of ours.
type unheard struct {
	header http.Header
	status int
}

func (u *unheard) Header() http.Header         { return u.header }
func (u *unheard) Write(b []byte) (int, error) { return len(b), nil }
func (u *unheard) WriteHeader(status int)      { u.status = status }
func (u *unheard) Flush()                      {}

// gone reports whether a session was ended here, by its client or for a reason: it is not
// gone on with. Those that only timed out are.
func (t *sessions) gone(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended[id]
}

// bury remembers that a session was ended. t.mu is held.
func (t *sessions) bury(id string) {
	if t.ended == nil {
		t.ended = map[string]bool{}
	}
	for old := range t.ended {
		if len(t.ended) < maxEnded {
			break
		}
		delete(t.ended, old)
	}
	t.ended[id] = true
}

// outer is the id that clients know a session of the SDK's by.
func (t *sessions) outer(inner string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byInner[inner]
}

// renamed puts the id that the client knows into an answer.
func (t *sessions) renamed(h http.Header) {
	inner := h.Get("Mcp-Session-Id")
	if inner == "" {
		return
	}
	if id := t.outer(inner); id != "" {
		h.Set("Mcp-Session-Id", id)
	}
}

// Drain ends what only listens: the streams of notices of both eras. Clients open them
// anew, and come to another process where this one is taken out of service. Calls go on.
func (s *Server) Drain() { s.drain() }

// standing gives a context that ends with Drain too, for what only listens.
func (s *Server) standing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.serving, cancel)
	return ctx, func() { stop(); cancel() }
}
