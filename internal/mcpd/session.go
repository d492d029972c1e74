package mcpd

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/singleflight"

	"loregate/internal/access"
)

// session is one of the older era. It belongs to the caller who made it: with other
// rights, even of the same key, its id is unknown.
type session struct {
	id     string // as the client knows it
	ss     *mcp.ServerSession
	bound  access.Caller
	scope  scope
	born   uint64
	ctx    context.Context // ends with the session; what runs in it is cancelled
	cancel context.CancelFunc
	outlet *outlet
	calls  calls

	sessions *sessions // that it is one of
	begun    bool      // its handshake is through. Guarded by sessions.mu

	mu        sync.Mutex
	caller    access.Caller // as last seen: its token may be newer. Guarded by mu
	stopWatch func()        // guarded by mu
	held      int           // messages that are under way. Guarded by mu
	idle      *time.Timer   // ends the session where nothing is. Guarded by mu
}

// sessions are the open ones of all callers.
type sessions struct {
	s        *Server
	born     atomic.Uint64
	reviving singleflight.Group // by id

	mu      sync.Mutex
	byID    map[string]*session // guarded by mu
	byInner map[string]string   // ids by those of the SDK. Guarded by mu
	ended   map[string]bool     // guarded by mu; see gone
}

func (t *sessions) start(s *Server) {
	t.s, t.byID, t.byInner = s, map[string]*session{}, map[string]string{}
}

// add keeps a session that was just established, and closes the oldest of the account
// where there are too many.
func (t *sessions) add(ss *mcp.ServerSession, v *visit, revision string) {
	ctx, cancel := context.WithCancel(context.Background())
	id := v.revives
	if id == "" {
		id = t.s.seal.sessionID(ss.ID(), revision, boundTo(v.caller, v.scope))
	}
	n := &session{id: id, ss: ss, bound: v.caller, scope: v.scope, born: t.born.Add(1), ctx: ctx, cancel: cancel, caller: v.caller, sessions: t, begun: v.revives == ""}
	n.outlet = t.s.feed.outlet(v, notifier(context.Background(), ss, noID), n.finish)
	n.stopWatch = t.s.watch(ctx, v.caller, n.finish)
	n.idle = time.AfterFunc(t.s.cfg.SessionTimeout, n.end)
	t.mu.Lock()
	oldest := t.oldest(v.caller.Account())
	t.byID[id], t.byInner[ss.ID()] = n, id
	t.mu.Unlock()
	if oldest != nil {
		t.s.spawn(oldest.finish)
	}
	begun := t.s.spawn(func() {
		_ = ss.Wait() // however it ended, it is over
		cancel()
		t.forget(n)
	})
	if !begun {
		t.forget(n) // the server is stopping
	}
}

// oldest is the session that has to go before another of the account; nil while there is
// room. t.mu is held.
func (t *sessions) oldest(account string) *session {
	count, oldest := 0, (*session)(nil)
	for _, n := range t.byID {
		if n.bound.Account() != account {
			continue
		}
		count++
		if oldest == nil || n.born < oldest.born {
			oldest = n
		}
	}
	if count < t.s.cfg.MaxSessions {
		return nil
	}
	return oldest
}

// hold keeps the session from timing out until the returned func is called, while a message
// of its client is answered. The SDK's own timer would not see those answered directly.
func (n *session) hold() (release func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held++
	n.idle.Stop()
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.held--; n.held == 0 && n.ctx.Err() == nil {
			n.idle.Reset(n.sessions.s.cfg.SessionTimeout)
		}
	}
}

// finish ends the session for a reason, so that no request goes on with it here.
func (n *session) finish() {
	if t := n.sessions; t.s.life.Err() == nil {
		t.mu.Lock()
		t.bury(n.id)
		t.mu.Unlock()
	}
	n.end()
}

// end ends the session: what runs in it is cancelled, and its id is unknown.
func (n *session) end() {
	n.cancel()
	_ = n.ss.Close() // it may have ended already
}

func (t *sessions) forget(n *session) {
	t.mu.Lock()
	if delete(t.byInner, n.ss.ID()); t.byID[n.id] == n {
		delete(t.byID, n.id)
	}
	t.mu.Unlock()
	n.outlet.close()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopWatch()
	n.idle.Stop()
}

// visit finds the session that a request is part of; nil where there is none for this
// caller at this address. A newer token keeps the session open for longer.
func (t *sessions) visit(id string, v *visit) *session {
	t.mu.Lock()
	n := t.byID[id]
	begun := n != nil && n.begun && n.ctx.Err() == nil
	t.mu.Unlock()
	if !begun || n.scope.key != v.scope.key || !n.bound.SameRights(v.caller) {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if v.caller.TokenExpires.After(n.caller.TokenExpires) && n.ctx.Err() == nil {
		n.stopWatch()
		n.caller = v.caller
		n.stopWatch = t.s.watch(n.ctx, v.caller, n.finish)
		n.outlet.renew(v)
	}
	return n
}

func (t *sessions) closeAll() {
	t.mu.Lock()
	all := slices.Collect(maps.Values(t.byID))
	t.mu.Unlock()
	for _, n := range all {
		n.end()
	}
}
