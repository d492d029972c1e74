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

// Sessions of the older era are held by one process, but a client may reach another: its own was
// stopped, or the load balancer chose differently. Therefore a session's id contains, sealed, the
// data needed to establish the session again: the negotiated revision and the owner. Any process
// with the key can then resume it. Two things are lost: the subscriptions made by
// resources/subscribe, which the client has to repeat, and the calls that were running.
//
// An id is a box (see sealer) of the time of creation in Unix seconds, 8 bytes | length of the
// revision, 1 byte | revision | the SDK's own id, bound to the caller's rights and the address's
// surfaces: for any other caller it is unknown.

// sessionLife bounds the age at which a session can be resumed by another process.
const sessionLife = 7 * 24 * time.Hour

// maxEnded bounds the number of ended sessions whose ids a process remembers.
const maxEnded = 4096

// sessionID makes the id that a client gets for a session of the SDK.
func (s *sealer) sessionID(inner, revision string, b []byte) string {
	plain := binary.BigEndian.AppendUint64(nil, uint64(s.now().Unix()))
	plain = append(plain, byte(len(revision)))
	plain = append(append(plain, revision...), inner...)
	return s.sealBox(plain, b)
}

// readRevision reads the revision from an id; ok reports whether the id is ours, of this caller,
// and not too old.
func (s *sealer) readRevision(id string, b []byte) (revision string, ok bool) {
	plain, opened := s.openBox(id, b)
	if !opened || len(plain) < 9 || len(plain) < 9+int(plain[8]) {
		return "", false
	}
	made := time.Unix(int64(binary.BigEndian.Uint64(plain)), 0)
	return string(plain[9 : 9+int(plain[8])]), s.now().Sub(made) < sessionLife
}

// boundTo returns the data that a session is bound to at any process: the rights of its caller and
// the surfaces of its address.
func boundTo(c access.Caller, sc scope) []byte {
	c.TokenExpires = time.Time{}
	b, err := json.Marshal(struct {
		Caller access.Caller
		Roles  []string
		Scope  string
	}{withoutRoles(c), roleTexts(c), sc.key})
	if err != nil {
		panic("mcpd: " + err.Error()) // all its fields have a JSON form
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

// reviveSession resumes a session made by another process, or by this one before a restart. It
// returns nil if the id does not belong to such a session. Concurrent requests for one session
// resume it only once.
func (s *Server) reviveSession(ctx context.Context, id string, v *visit) *session {
	revision, ok := s.seal.readRevision(id, boundTo(v.caller, v.scope))
	if !ok || s.sessions.wasEnded(id) {
		return nil
	}
	s.sessions.reviving.Do(id, func() (any, error) {
		s.resumeSession(ctx, id, revision, v)
		return nil, nil
	})
	return s.sessions.findSession(id, v)
}

// resumeSession makes the SDK establish a session again under the id that the client knows, unless
// another request has done so. It does not stop when its request ends, as other requests may wait
// for it.
func (s *Server) resumeSession(ctx context.Context, id, revision string, v *visit) {
	if s.sessions.findSession(id, v) != nil {
		return
	}
	again := *v
	again.revives = id
	ctx = context.WithValue(context.WithoutCancel(ctx), visitKey{}, &again)
	inner := s.sendInside(ctx, v, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":`+
		string(appendQuoted(nil, revision))+
		`,"capabilities":{},"clientInfo":{"name":"revived","version":"0"}}}`)
	if inner != "" {
		s.sendInside(ctx, v, inner, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		s.sessions.markBegun(id)
	}
}

// markBegun lets requests find a resumed session.
func (t *sessions) markBegun(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.byID[id]; n != nil {
		n.begun = true
	}
}

// sendInside sends a message to the SDK's handler like a client, and returns the id of the
// answering session; "" on failure.
func (s *Server) sendInside(ctx context.Context, v *visit, session, message string) string {
	r := v.request.Clone(ctx)
	r.Method, r.Header = http.MethodPost, http.Header{
		"Authorization": authorized, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(message))), int64(len(message))
	w := &discardWriter{header: http.Header{}}
	s.stateful.ServeHTTP(w, r)
	if w.status >= 300 {
		return ""
	}
	return w.header.Get("Mcp-Session-Id")
}

// discardWriter discards the answer to a message of the server's own.
type discardWriter struct {
	header http.Header
	status int
}

func (u *discardWriter) Header() http.Header         { return u.header }
func (u *discardWriter) Write(b []byte) (int, error) { return len(b), nil }
func (u *discardWriter) WriteHeader(status int)      { u.status = status }
func (u *discardWriter) Flush()                      {}

// wasEnded reports whether a session was ended here by its client or for a reason, and so must not
// be resumed. Sessions that only timed out may be resumed.
func (t *sessions) wasEnded(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended[id]
}

// markEnded remembers that a session was ended. t.mu is held.
func (t *sessions) markEnded(id string) {
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

// clientID returns the id by which the client knows a session of the SDK.
func (t *sessions) clientID(inner string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byInner[inner]
}

// replaceID replaces the SDK's session id in an answer with the client's.
func (t *sessions) replaceID(h http.Header) {
	inner := h.Get("Mcp-Session-Id")
	if inner == "" {
		return
	}
	if id := t.clientID(inner); id != "" {
		h.Set("Mcp-Session-Id", id)
	}
}

// Drain ends the streams of notices of both eras. Clients open them again, and reach another
// process if this one has been taken out of service. Calls continue.
func (s *Server) Drain() { s.drain() }

// untilDrain returns a context that also ends with Drain, for streams of notices.
func (s *Server) untilDrain(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.serving, cancel)
	return ctx, func() { stop(); cancel() }
}
