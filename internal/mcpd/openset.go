package mcpd

import (
	"context"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// opened holds the surfaces that a session has added to its list of tools. A session that another
// process resumes begins without them.
type opened struct {
	mu    sync.Mutex
	names []string // guarded by mu
}

func (o *opened) add(name string) (added bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if slices.Contains(o.names, name) {
		return false
	}
	o.names = append(o.names, name)
	return true
}

func (o *opened) list() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.names)
}

// openedOf returns the sets that the call's session has opened; nil if there is no session.
func (v *visit) openedOf() *opened {
	switch {
	case v.session != nil:
		return &v.session.opened
	case v.home != nil:
		return &v.home.opened
	}
	return nil
}

func (v *visit) openedSets() []string {
	if o := v.openedOf(); o != nil {
		return o.list()
	}
	return nil
}

// keepsList reports whether the caller's session has a list that can grow. In the modern era there
// are no sessions.
func (c *call) keepsList() bool { return !c.modern && c.openedOf() != nil }

// openSet adds a surface to the session's list of tools, and tells the client that the list changed.
func (s *Server) openSet(c *call, surface string) {
	if !c.keepsList() || !c.openedOf().add(surface) {
		return
	}
	ss := c.ss
	if c.session != nil {
		ss = c.session.ss
	} else if c.home != nil {
		ss = c.home.ss.Load()
	}
	if ss == nil {
		return
	}
	s.startWork(func() {
		ctx := context.WithValue(s.life, noticeKey{}, &mcp.ToolListChangedParams{})
		_ = ss.NotifyProgress(ctx, nil) // a client that has gone needs no list
	})
}
