package op

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Worlds finds the worlds of a caller.
type Worlds interface {
	// Resolve finds a world by slug or id. An unknown world and one where the caller has no role
	// are the same fault.NotFound.
	Resolve(ctx context.Context, c access.Caller, name string) (access.WorldID, error)
	// Names returns the slugs of the worlds where the caller has a role, in a fixed order.
	Names(ctx context.Context, c access.Caller) ([]string, error)
}

// Observer measures and traces calls. Its methods use no type of this package, so that telemetry
// can implement it. outcome is "ok" or an error code. The call continues with the returned context;
// the returned function is called once, at the end.
type Observer interface {
	StartCall(ctx context.Context, transport, surface, operation string) (context.Context, func(outcome string, bytes int))
}

// Config configures a Local. Guard and Surfaces are required; Worlds is too if any operation,
// resource or prompt belongs to a world. Diverter and Observer may be nil.
type Config struct {
	Guard    *access.Guard
	Surfaces []Surface
	Worlds   Worlds
	Diverter Diverter // nil: writes of advisory keys are refused
	Observer Observer // nil: calls are not measured
	// Refuse refuses the calls of a caller in a world for a reason that the Guard does not know; nil: there is none.
	// It is not asked about the parts of a call.
	Refuse func(ctx context.Context, c access.Caller, w access.WorldID) error
	// GMManages reports whether game masters may call the operations that manage cards in a world, or for the zero id
	// in some world; nil: nowhere.
	GMManages func(w access.WorldID) bool
	// Near returns a few names visible to the grant that resemble a text; nil: no suggestions.
	Near func(ctx context.Context, g access.Grant, text string) []string
	// WorldState reads the present state of a world; nil: no answers are kept. CacheBytes bounds their
	// size.
	WorldState WorldStateFunc
	CacheBytes int
}

// Local invokes operations in this process. It is safe for concurrent use.
type Local struct {
	guard     *access.Guard
	worlds    Worlds
	diverter  Diverter
	observer  Observer
	refuse    func(ctx context.Context, c access.Caller, w access.WorldID) error
	gmManages func(w access.WorldID) bool
	near      func(ctx context.Context, g access.Grant, text string) []string
	kept      *answerCache // nil: answers are not kept

	surfaces   []Surface
	operations []*Operation // each once, in the order of declaration
	resources  []*Resource
	prompts    []*Prompt
	byName     map[string]*Operation
	templates  map[*Resource]template
}

var _ Invoker = (*Local)(nil)

// NewLocal makes a Local. Its error lists double declarations, and resources whose addresses cannot be read; Check checks
// the declarations in full.
func NewLocal(c Config) (*Local, error) {
	l := &Local{guard: c.Guard, worlds: c.Worlds, diverter: c.Diverter, observer: c.Observer, refuse: c.Refuse,
		near: c.Near, gmManages: c.GMManages,
		surfaces: c.Surfaces,
		byName:   map[string]*Operation{}, templates: map[*Resource]template{}}
	if c.Guard == nil {
		return nil, errors.New("op: a Guard is needed")
	}
	if c.WorldState != nil && c.CacheBytes > 0 {
		var err error
		if l.kept, err = newAnswerCache(c.CacheBytes, c.WorldState); err != nil {
			return nil, fmt.Errorf("op: kept answers: %w", err)
		}
	}
	var wrong problems
	for _, s := range c.Surfaces {
		l.addSurface(s, &wrong)
	}
	if c.Worlds == nil && slices.ContainsFunc(l.operations, func(o *Operation) bool { return !o.NoWorld }) {
		wrong.add("Worlds is needed")
	}
	return l, wrong.err()
}

func (l *Local) addSurface(s Surface, wrong *problems) {
	for _, o := range s.Operations {
		if l.byName[o.Name] == o {
			continue // offered by several surfaces
		}
		if l.byName[o.Name] != nil {
			wrong.add("operation %s is declared twice", o.Name)
			continue
		}
		l.byName[o.Name] = o
		l.operations = append(l.operations, o)
	}
	for _, r := range s.Resources {
		if slices.Contains(l.resources, r) {
			continue
		}
		t, err := parseTemplate(r.Template)
		if err != nil {
			wrong.add("resource %s: %v", r.Name, err)
		}
		l.templates[r] = t
		l.resources = append(l.resources, r)
	}
	for _, p := range s.Prompts {
		if slices.Contains(l.prompts, p) {
			continue
		}
		l.prompts = append(l.prompts, p)
	}
}

// Check checks every declaration: texts, routes and their variables, and examples against the schemas. Its error lists
// every mistake. It reads the types of all operations, which takes too long for the start of a process.
func (l *Local) Check() error {
	var wrong problems
	seen := map[*Operation]bool{}
	for _, s := range l.surfaces {
		for _, o := range s.Operations {
			if !seen[o] {
				seen[o] = true
				checkOperation(o, s.Name, &wrong)
			}
		}
		for _, f := range s.Feeds {
			checkFeed(f, s.Name, &wrong)
		}
	}
	checkRoutes(l.operations, &wrong)
	for i, r := range l.resources {
		checkResource(r, l.resources[:i], &wrong)
	}
	for i, p := range l.prompts {
		checkPrompt(p, l.prompts[:i], &wrong)
	}
	return wrong.err()
}

// problems collects the mistakes found in declarations.
type problems struct{ list []error }

func (p *problems) add(format string, args ...any) {
	p.list = append(p.list, fmt.Errorf("op: "+format, args...))
}
func (p *problems) err() error { return errors.Join(p.list...) }

// Surfaces returns the declared surfaces, in order.
func (l *Local) Surfaces() []Surface { return l.surfaces }

// All returns all operations, each once, in the order of declaration.
func (l *Local) All() []*Operation { return l.operations }

// Find returns a declared operation, without regard to the caller.
func (l *Local) Find(name string) (*Operation, bool) {
	o, ok := l.byName[name]
	return o, ok
}

// Operations returns the operations of one surface ("" for all) that can do anything but refuse the
// caller in some world, in the order of declaration.
func (l *Local) Operations(c access.Caller, surface string) []*Operation {
	return filterSlice(l.operations,
		func(o *Operation) bool { return isOffered(o.Surfaces, surface) && l.isUseful(c, o, surface) })
}

// Exists reports whether an operation exists for the caller on a surface ("" for any), although
// Operations may not list it.
func (l *Local) Exists(c access.Caller, surface, name string) bool {
	o := l.byName[name]
	return o != nil && isOffered(o.Surfaces, surface) && l.canUse(c, o, surface)
}

// Resources returns the resources that the caller may read in some world; see Operations.
func (l *Local) Resources(c access.Caller, surface string) []*Resource {
	return filterSlice(l.resources, func(r *Resource) bool {
		return isOffered(r.Surfaces, surface) && isAllowed(c, r.Surfaces, surface, r.Name) && bestRole(c) >= r.MinRole
	})
}

// Prompts returns the prompts that the caller may use in some world; see Operations.
func (l *Local) Prompts(c access.Caller, surface string) []*Prompt {
	return filterSlice(l.prompts, func(p *Prompt) bool {
		return isOffered(p.Surfaces, surface) && isAllowed(c, p.Surfaces, surface, p.Name) && bestRole(c) >= p.MinRole
	})
}

func filterSlice[T any](list []T, keep func(T) bool) []T {
	out := make([]T, 0, len(list))
	for _, x := range list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

func isOffered(surfaces []string, surface string) bool {
	return surface == "" || slices.Contains(surfaces, surface)
}

// canUse reports whether the caller may use an operation in any world at all.
func (l *Local) canUse(c access.Caller, o *Operation, surface string) bool {
	return isAllowed(c, o.Surfaces, surface, o.Name) && (!o.Operator || c.Operator) && (!o.Approver || c.Approve) &&
		(!o.Seated || c.Seat != "") && (bestRole(c) >= o.MinRole || l.managesSomewhere(c, o))
}

// managesSomewhere reports whether the caller is a game master who may call an operation that manages cards.
func (l *Local) managesSomewhere(c access.Caller, o *Operation) bool {
	if !o.Manages || bestRole(c) < access.RoleGM {
		return false
	}
	if c.EveryRole >= access.RoleGM {
		return l.LeastRole(o, access.WorldID{}) <= access.RoleGM
	}
	for w, r := range c.Roles {
		if r >= l.LeastRole(o, w) {
			return true
		}
	}
	return false
}

// isUseful reports whether the operation can do anything but refuse the caller, in some world.
func (l *Local) isUseful(c access.Caller, o *Operation, surface string) bool {
	return l.canUse(c, o, surface) && bestRole(c) >= o.ListRole && !(o.Effect != access.Read && c.ReadsOnly())
}

// isAllowed reports whether the key's allow-list contains a name on the given surface or, if none
// is given, on any of its surfaces.
func isAllowed(c access.Caller, surfaces []string, surface, name string) bool {
	if surface != "" {
		return c.MayUse(surface, name)
	}
	return c.MayUse(pickSurface(c, surfaces, "", name), name)
}

// pickSurface returns the surface that a call counts for: the given one, else the first that the
// key may use, else the home.
func pickSurface(c access.Caller, surfaces []string, surface, name string) string {
	if surface != "" || len(surfaces) == 0 {
		return surface
	}
	for _, s := range surfaces {
		if c.MayUse(s, name) {
			return s
		}
	}
	return surfaces[0]
}

// bestRole returns the caller's role in its home world or, without one, its highest role anywhere.
func bestRole(c access.Caller) access.Role {
	if !c.Home.IsZero() {
		return c.Role(c.Home)
	}
	best := c.EveryRole
	for _, r := range c.Roles {
		best = max(best, r)
	}
	return best
}

// Show returns the error envelope shown to the client of an operation, with the error codes of the
// surface it was called on ("" is the operation's home).
func (l *Local) Show(operation, surface string, err error, correlation string) fault.Envelope {
	e := fault.Show(err, correlation)
	var part *partError
	if errors.As(err, &part) {
		operation, surface = part.operation, ""
	}
	if o := l.byName[operation]; surface == "" && o != nil && len(o.Surfaces) > 0 {
		surface = o.Surfaces[0]
	}
	for _, s := range l.surfaces {
		if word := s.Codes[e.Error.Code]; s.Name == surface && word != "" {
			e.Error.Code = word
		}
	}
	return e
}

// ListCall describes one page requested of a list that reads no world.
type ListCall struct {
	Method      string // "tools/list", "prompts/list", …
	Continues   bool   // this is not the first page
	Correlation string
}

// limitClass returns the limit that the page counts against.
func (c ListCall) limitClass() access.Class {
	switch {
	case c.Continues:
		return access.ClassPage
	case c.Method == "tools/list":
		return access.ClassTools
	}
	return access.ClassList
}

// AdmitList counts one page of a list. Its errors are fault.RateLimited and
// fault.Unavailable.
func (l *Local) AdmitList(ctx context.Context, c access.Caller, list ListCall) error {
	c.Operations, c.Surfaces = nil, nil // listing is open to all; the lists show only names that the key allows
	a, err := l.guard.Admit(ctx, c, access.Request{Operation: list.Method, Effect: access.Read, Class: list.limitClass(),
		Correlation: list.Correlation})
	if err != nil {
		return err
	}
	a.Done(ctx, 0, nil)
	return nil
}

// observeCall starts measuring a call.
func (l *Local) observeCall(ctx context.Context, transport, surface, name string) (context.Context, func(error, int)) {
	if l.observer == nil {
		return ctx, func(error, int) {}
	}
	ctx, end := l.observer.StartCall(ctx, transport, surface, name)
	return ctx, func(err error, bytes int) {
		outcome := "ok"
		if err != nil {
			outcome = fault.KindOf(err).Code()
		}
		end(outcome, bytes)
	}
}

// readTimeout is the time limit for queries in the contract.
const readTimeout = 5 * time.Second
