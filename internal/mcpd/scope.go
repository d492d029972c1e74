package mcpd

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// The words of an address or a command line that are no surfaces.
const (
	wholeSet  = "all"       // every tool that the caller may use, in full
	onlyReads = "/readonly" // ends an address where nothing can be written
)

// scope is the set of surfaces that an address or a command line shows. It restricts listings:
// every operation that exists for the caller can be called at every address that may write.
type scope struct {
	names    []string // surfaces that are shown; none means all, or for tools the default set
	whole    bool     // all tools are listed, with everything that is known of them
	readOnly bool
	key      string // the same in one text
}

func newScope(names ...string) scope {
	if slices.Equal(names, []string{wholeSet}) {
		return scope{whole: true, key: wholeSet}
	}
	return scope{names: names, key: strings.Join(names, ",")}
}

// soleSurface returns the surface that calls are counted under; "" leaves it to the operation.
func (sc scope) soleSurface() string {
	if len(sc.names) == 1 {
		return sc.names[0]
	}
	return ""
}

// engineSurfaces returns the surfaces to ask the engine for, one by one.
func (sc scope) engineSurfaces() []string {
	if len(sc.names) == 0 {
		return []string{""}
	}
	return sc.names
}

// setOf returns the scope of a set's names; the name of the default set alone names nothing.
func (s *Server) setOf(names []string) (scope, error) {
	if len(names) == 1 && names[0] == s.cfg.DefaultSet {
		names = nil
	}
	for i, name := range names {
		switch {
		case name == wholeSet && len(names) == 1:
		case s.surfaces[name] == nil:
			return scope{}, fmt.Errorf("mcpd: there is no surface %q", name)
		case slices.Contains(names[:i], name):
			return scope{}, fmt.Errorf("mcpd: surface %q is named twice", name)
		}
	}
	return newScope(names...), nil
}

// scopeAt returns the scope of an address below /mcp: nothing, all, or surfaces joined by a plus, and
// /readonly behind any of them.
func (s *Server) scopeAt(r *http.Request, c access.Caller) (scope, error) {
	path, readOnly := strings.CutSuffix("/"+s.setText(r), onlyReads)
	var names []string
	if set := strings.Trim(path, "/"); set != "" {
		names = strings.Split(set, "+")
	}
	sc, err := s.setOf(names)
	if err != nil || slices.ContainsFunc(sc.names, func(name string) bool { return !canUseSurface(c, name) }) {
		return sc, fault.New(fault.NotFound,
			"no such surface; use /mcp for the most useful tools, and /mcp/all for all that this key opens")
	}
	if sc.readOnly = readOnly; readOnly {
		sc.key += onlyReads
	}
	return sc, nil
}

// setText returns the part of a request's address that names a set.
func (s *Server) setText(r *http.Request) string {
	return strings.Trim(strings.TrimPrefix(r.URL.Path, "/mcp"), "/")
}

// narrowCaller returns the caller with the rights that the address leaves.
func (sc scope) narrowCaller(c access.Caller) access.Caller {
	c.ReadOnly = c.ReadOnly || sc.readOnly
	return c
}

// canUseSurface reports whether a caller's key opens a surface at all.
func canUseSurface(c access.Caller, surface string) bool {
	c.Operations = nil
	return c.MayUse(surface, "")
}

// isShort reports whether tools are listed without the fields that every call may have.
func (s *Server) isShort(sc scope) bool { return s.cfg.DefaultSet != "" && !sc.whole }

// showsDefault reports whether the default set is listed. A key that is made for surfaces or
// operations is shown those instead.
func (s *Server) showsDefault(c *call) bool {
	bound := len(c.caller.Operations) > 0 ||
		len(c.caller.Surfaces) > 0 && !slices.Contains(c.caller.Surfaces, s.cfg.DefaultSet)
	return s.isShort(c.scope) && len(c.scope.names) == 0 && !bound
}

// toolSurfaces returns the surfaces whose tools are listed; "" is all.
func (s *Server) toolSurfaces(c *call) []string {
	surfaces := c.scope.engineSurfaces()
	if s.showsDefault(c) {
		surfaces = []string{s.cfg.DefaultSet}
	}
	return append(slices.Clone(surfaces), c.openedSets()...)
}

// toolsOf returns the operations to list as tools.
func (s *Server) toolsOf(c *call) (list []*op.Operation) {
	surfaces := s.toolSurfaces(c)
	for _, surface := range surfaces {
		for _, o := range s.cfg.Engine.Operations(c.caller, surface) {
			hidden := o.NoTool || o.Unlisted || o.NeedsList && !c.keepsList() ||
				o.AliasOf != "" && (len(surfaces) > 1 || surface == "")
			if !hidden && !slices.Contains(list, o) {
				list = append(list, o)
			}
		}
	}
	return list
}

// opensSeveral reports whether the caller can mean more than one world.
func (s *Server) opensSeveral(ctx context.Context, c access.Caller) bool {
	switch {
	case !c.Home.IsZero() || !c.SeveralWorlds():
		return false
	case s.cfg.Worlds == nil:
		return true
	}
	return len(s.cfg.Worlds(ctx, c)) > 1
}

// surfaceOf returns the surface of a scope that a tool is called on; "" leaves it to the operation. A
// surface without tools makes no moves of a seat: a client at it can only read.
func (s *Server) surfaceOf(tool string, sc scope) string {
	if len(sc.names) == 0 {
		return ""
	}
	o, ok := s.cfg.Engine.Find(tool)
	for _, name := range sc.names {
		if ok && slices.Contains(o.Surfaces, name) {
			return name
		}
	}
	sole := s.surfaces[sc.soleSurface()]
	if s.cfg.DefaultSet == "" || ok && o.Seated && sole != nil && !hasTools(sole) {
		return sc.soleSurface()
	}
	return ""
}
