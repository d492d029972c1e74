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

// session is a session of the older era. It belongs to the caller who made it: for a caller with
// other rights, even with the same key, its id is unknown.
type session struct {
	id     string // as the client knows it
	ss     *mcp.ServerSession
	bound  access.Caller
	scope  scope
	born   uint64
	ctx    context.Context // ends with the session, cancelling its calls
	cancel context.CancelFunc
	outlet *outlet
	calls  calls
	opened opened

	sessions *sessions // the set that holds it
	begun    bool      // its handshake is complete. Guarded by sessions.mu

	mu        sync.Mutex
	caller    access.Caller // as last seen: its token may be newer. Guarded by mu
	stopWatch func()        // guarded by mu
	held      int           // messages being answered. Guarded by mu
	idle      *time.Timer   // ends the session when no message comes. Guarded by mu
}

// sessions holds the open sessions of all callers.
type sessions struct {
	s        *Server
	born     atomic.Uint64
	reviving singleflight.Group // by id

	mu      sync.Mutex
	byID    map[string]*session // guarded by mu
	byInner map[string]string   // client ids by ids of the SDK. Guarded by mu
	ended   map[string]bool     // guarded by mu; see wasEnded
}

func (t *sessions) setServer(s *Server) {
	t.s, t.byID, t.byInner = s, map[string]*session{}, map[string]string{}
}

// addSession stores a session that was just established. If the account has too many, it closes the
// oldest.
func (t *sessions) addSession(ss *mcp.ServerSession, v *visit, revision string) {
	ctx, cancel := context.WithCancel(context.Background())
	id := v.revives
	if id == "" {
		id = t.s.seal.sessionID(ss.ID(), revision, boundTo(v.caller, v.scope))
	}
	n := &session{id: id, ss: ss, bound: v.caller, scope: v.scope, born: t.born.Add(1), ctx: ctx, cancel: cancel,
		caller: v.caller, sessions: t, begun: v.revives == ""}
	n.outlet = t.s.feed.newOutlet(v, newNotifier(context.Background(), ss, noID), n.endForGood)
	n.stopWatch = t.s.watchCaller(ctx, v.caller, n.endForGood)
	n.idle = time.AfterFunc(t.s.cfg.SessionTimeout, n.endSession)
	t.mu.Lock()
	oldest := t.oldestExcess(v.caller.Account())
	t.byID[id], t.byInner[ss.ID()] = n, id
	t.mu.Unlock()
	if oldest != nil {
		t.s.startWork(oldest.endForGood)
	}
	begun := t.s.startWork(func() {
		_ = ss.Wait() // the session is over, with or without an error
		cancel()
		t.forgetSession(n)
	})
	if !begun {
		t.forgetSession(n) // the server is stopping
	}
}

// oldestExcess returns the session to close before the account gets another; nil while there is
// room. t.mu is held.
func (t *sessions) oldestExcess(account string) *session {
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

// hold keeps the session from timing out while a message of its client is answered, until the
// returned func is called. The SDK's own timer would not count directly answered messages.
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

// endForGood ends the session for good, so that this process does not resume it.
func (n *session) endForGood() {
	if t := n.sessions; t.s.life.Err() == nil {
		t.mu.Lock()
		t.markEnded(n.id)
		t.mu.Unlock()
	}
	n.endSession()
}

// endSession ends the session: its calls are cancelled, and its id becomes unknown.
func (n *session) endSession() {
	n.cancel()
	_ = n.ss.Close() // it may have ended already
}

func (t *sessions) forgetSession(n *session) {
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

// findSession finds the session that a request belongs to; nil if this caller has none at this
// address. A newer token prolongs the session.
func (t *sessions) findSession(id string, v *visit) *session {
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
		n.stopWatch = t.s.watchCaller(n.ctx, v.caller, n.endForGood)
		n.outlet.renew(v)
	}
	return n
}

func (t *sessions) closeAll() {
	t.mu.Lock()
	all := slices.Collect(maps.Values(t.byID))
	t.mu.Unlock()
	for _, n := range all {
		n.endSession()
	}
}
