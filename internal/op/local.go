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
	// Resolve finds a world by slug or id. An unknown world and one where the caller has
	// no role are the same fault.NotFound.
	Resolve(ctx context.Context, c access.Caller, name string) (access.WorldID, error)
	// Names are the slugs of the worlds where the caller has a role, in a fixed order.
	Names(ctx context.Context, c access.Caller) ([]string, error)
}

// Observer measures and traces calls. It knows no internal type, so that telemetry can
// implement it. outcome is "ok" or an error code. The context it returns is the one the
// call goes on with; the function it returns is called once, at the end.
type Observer interface {
	StartCall(ctx context.Context, transport, surface, operation string) (context.Context, func(outcome string, bytes int))
}

// Config is what a Local is made of. Guard and Surfaces are needed, and Worlds where any
// operation, resource or prompt is of a world. Diverter and Observer may be nil.
type Config struct {
	Guard    *access.Guard
	Surfaces []Surface
	Worlds   Worlds
	Diverter Diverter // nil: writes of advisory keys are refused
	Observer Observer // nil: calls are not measured
	// Near gives a few names in the grant's sight that resemble a text; nil knows none.
	Near func(ctx context.Context, g access.Grant, text string) []string
	// Moment tells how a world stands; nil: no answers are kept. KeptBytes bounds those.
	Moment    MomentFunc
	KeptBytes int
}

// Local invokes operations in this process. It is safe for concurrent use.
type Local struct {
	guard    *access.Guard
	worlds   Worlds
	diverter Diverter
	observer Observer
	near     func(ctx context.Context, g access.Grant, text string) []string
	kept     *kept // nil: none are

	surfaces   []Surface
	operations []*Operation // each once, in the order of declaration
	resources  []*Resource
	prompts    []*Prompt
	byName     map[string]*Operation
	templates  map[*Resource]template
}

var _ Invoker = (*Local)(nil)

// NewLocal makes a Local and checks every declaration: unique names and routes, texts,
// path variables, and examples against the schemas. Its error names all that is wrong.
func NewLocal(c Config) (*Local, error) {
	l := &Local{guard: c.Guard, worlds: c.Worlds, diverter: c.Diverter, observer: c.Observer, near: c.Near, surfaces: c.Surfaces,
		byName: map[string]*Operation{}, templates: map[*Resource]template{}}
	if c.Guard == nil {
		return nil, errors.New("op: a Guard is needed")
	}
	if c.Moment != nil && c.KeptBytes > 0 {
		var err error
		if l.kept, err = newKept(c.KeptBytes, c.Moment); err != nil {
			return nil, fmt.Errorf("op: kept answers: %w", err)
		}
	}
	var wrong problems
	for _, s := range c.Surfaces {
		l.add(s, &wrong)
	}
	checkRoutes(l.operations, &wrong)
	if c.Worlds == nil && slices.ContainsFunc(l.operations, func(o *Operation) bool { return !o.NoWorld }) {
		wrong.add("Worlds is needed")
	}
	return l, wrong.err()
}

func (l *Local) add(s Surface, wrong *problems) {
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
		checkOperation(o, s.Name, wrong)
	}
	for _, r := range s.Resources {
		if slices.Contains(l.resources, r) {
			continue
		}
		t, err := parseTemplate(r.Template)
		if err != nil {
			wrong.add("resource %s: %v", r.Name, err)
		}
		checkResource(r, l.resources, wrong)
		l.templates[r] = t
		l.resources = append(l.resources, r)
	}
	for _, p := range s.Prompts {
		if slices.Contains(l.prompts, p) {
			continue
		}
		checkPrompt(p, l.prompts, wrong)
		l.prompts = append(l.prompts, p)
	}
	for _, f := range s.Feeds {
		checkFeed(f, s.Name, wrong)
	}
}

// problems collects what is wrong with declarations.
type problems struct{ list []error }

func (p *problems) add(format string, args ...any) {
	p.list = append(p.list, fmt.Errorf("op: "+format, args...))
}
func (p *problems) err() error { return errors.Join(p.list...) }

// Surfaces are the declared surfaces, in order.
func (l *Local) Surfaces() []Surface { return l.surfaces }

// All are all operations, each once, in the order of declaration.
func (l *Local) All() []*Operation { return l.operations }

// Find gives a declared operation, whoever asks.
func (l *Local) Find(name string) (*Operation, bool) {
	o, ok := l.byName[name]
	return o, ok
}

// Operations are those that the caller may use in some world, of one surface ("" is
// all), in the order of declaration.
func (l *Local) Operations(c access.Caller, surface string) []*Operation {
	return only(l.operations, func(o *Operation) bool { return offered(o.Surfaces, surface) && usable(c, o, surface) })
}

// Resources are those that the caller may read in some world; see Operations.
func (l *Local) Resources(c access.Caller, surface string) []*Resource {
	return only(l.resources, func(r *Resource) bool {
		return offered(r.Surfaces, surface) && opens(c, r.Surfaces, surface, r.Name) && bestRole(c) >= r.MinRole
	})
}

// Prompts are those that the caller may use in some world; see Operations.
func (l *Local) Prompts(c access.Caller, surface string) []*Prompt {
	return only(l.prompts, func(p *Prompt) bool {
		return offered(p.Surfaces, surface) && opens(c, p.Surfaces, surface, p.Name) && bestRole(c) >= p.MinRole
	})
}

func only[T any](list []T, keep func(T) bool) []T {
	out := make([]T, 0, len(list))
	for _, x := range list {
		if keep(x) {
			out = append(out, x)
		}
	}
	return out
}

func offered(surfaces []string, surface string) bool {
	return surface == "" || slices.Contains(surfaces, surface)
}

// usable reports whether the caller may use an operation in any world at all.
func usable(c access.Caller, o *Operation, surface string) bool {
	return opens(c, o.Surfaces, surface, o.Name) && (!o.Operator || c.Operator) && (!o.Approver || c.Approve) && bestRole(c) >= o.MinRole
}

// opens reports whether the key's allow-list opens a name on the surface asked for, or
// on any of its surfaces where none was.
func opens(c access.Caller, surfaces []string, surface, name string) bool {
	if surface != "" {
		return c.MayUse(surface, name)
	}
	return c.MayUse(through(c, surfaces, "", name), name)
}

// through is the surface that a call is counted on: the one asked for, else the first
// that the key opens, else the home.
func through(c access.Caller, surfaces []string, surface, name string) string {
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

// bestRole is the caller's role in its home world, or the highest it has anywhere.
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

// Show is what a client sees of an error of an operation, in the words of the surface it
// was called on ("" is the operation's home).
func (l *Local) Show(operation, surface string, err error, correlation string) fault.Envelope {
	e := fault.Show(err, correlation)
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

// ListCall is one page asked of a list that reads no world.
type ListCall struct {
	Method      string // "tools/list", "prompts/list", …
	Continues   bool   // it is not the first page
	Correlation string
}

// class is the limit that the page counts against.
func (c ListCall) class() access.Class {
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
	c.Operations, c.Surfaces = nil, nil // lists show what the key opens; asking is open to all
	a, err := l.guard.Admit(ctx, c, access.Request{Operation: list.Method, Effect: access.Read, Class: list.class(), Correlation: list.Correlation})
	if err != nil {
		return err
	}
	a.Done(ctx, 0, nil)
	return nil
}

// observe starts measuring a call.
func (l *Local) observe(ctx context.Context, transport, surface, name string) (context.Context, func(error, int)) {
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

// readTimeout is the contract's query time.
const readTimeout = 5 * time.Second
