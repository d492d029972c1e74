package op

import (
	"cmp"
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Ask is what every call but an operation's carries: where it came in and what world it
// is about. It is the part of Request that they share.
type Ask struct {
	Surface     string // surface it was called on; "" is any
	World       string // slug or id asked for; "" leaves it to the caller's key
	Correlation string
	Transport   string
	BaseURL     string
}

// ResourceRequest asks for the content of one URI.
type ResourceRequest struct {
	Ask
	URI string
}

// ListRequest asks for the resources worth listing.
type ListRequest struct {
	Ask
	Surfaces []string // those whose resources are listed; none means all
	// Continues tells that a client reads on in a list that it has begun.
	Continues bool
}

// about is a resource or prompt as the Guard sees it.
type about struct {
	name     string
	surfaces []string
	least    access.Role
	noWorld  bool
	class    access.Class
	target   string
}

// with admits a call about a resource or prompt, runs it and closes it. run gives the
// size of what it answered.
func (l *Local) with(ctx context.Context, c access.Caller, ask Ask, what about, run func(ctx context.Context, call *Call) (int, error)) (err error) {
	surface := through(c, what.surfaces, ask.Surface, what.name)
	ctx, end := l.observe(ctx, ask.Transport, surface, what.name)
	size := 0
	defer func() { end(err, size) }()
	world, badWorld := access.WorldID{}, error(nil)
	if !what.noWorld {
		world, badWorld = l.world(ctx, c, ask.World)
	}
	if badWorld != nil {
		what.least = access.RoleNone
	}
	a, err := l.guard.Admit(ctx, c, access.Request{Operation: what.name, Surface: surface, Effect: access.Read, Class: what.class,
		MinRole: what.least, World: world, Target: clip(what.target, 255), Correlation: ask.Correlation})
	if err != nil {
		return err
	}
	defer func() { a.Done(ctx, size, err) }()
	if badWorld != nil {
		return badWorld
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	defer recovered(&err)
	size, err = run(ctx, &Call{Grant: a.Grant, Progress: noProgress, Transport: ask.Transport, BaseURL: ask.BaseURL})
	return timely(ctx, err)
}

func noResource(uri string) error {
	return fault.New(fault.NotFound, "there is no resource %q; list the resources and templates to see what there is", clip(uri, 300))
}

// hide makes what is denied look absent, as resources and prompts do.
func hide(err, absent error) error {
	if fault.KindOf(err) == fault.Denied && err != nil {
		return absent
	}
	return err
}

// ReadResource gives the content of a URI. Absent, hidden and unreadable are the same
// fault.NotFound.
func (l *Local) ReadResource(ctx context.Context, c access.Caller, r ResourceRequest) (content Content, err error) {
	res, vars := l.match(c, r.Surface, r.URI)
	if res == nil {
		return Content{}, l.absent(ctx, c, r.Ask, "resources/read", access.ClassResource, noResource(r.URI))
	}
	what := about{res.Name, res.Surfaces, res.MinRole, res.NoWorld, access.ClassResource, r.URI}
	if named := vars[res.WorldVar]; named != "" {
		r.World = named
	}
	err = l.with(ctx, c, r.Ask, what, func(ctx context.Context, call *Call) (int, error) {
		content, err = res.Read(ctx, call, vars)
		return len(content.Text) + len(content.Blob), err
	})
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			err = noResource(r.URI)
		}
		return Content{}, hide(err, noResource(r.URI))
	}
	if content.MIME == "" {
		content.MIME = res.MIME
	}
	return content, nil
}

// MatchResource finds the resource that a URI belongs to, for the caller; nil where
// there is none. It looks nothing up.
func (l *Local) MatchResource(c access.Caller, surface, uri string) *Resource {
	r, _ := l.match(c, surface, uri)
	return r
}

// match prefers a URI without variables to a template.
func (l *Local) match(c access.Caller, surface, uri string) (found *Resource, vars map[string]string) {
	for _, r := range l.Resources(c, surface) {
		t := l.templates[r]
		if v, ok := t.match(uri); ok && (found == nil || len(t.vars) == 0) {
			found, vars = r, v
		}
	}
	return found, vars
}

// absent counts and records a call about something that does not exist for the caller.
func (l *Local) absent(ctx context.Context, c access.Caller, ask Ask, kind string, class access.Class, err error) error {
	c.Surfaces, c.Operations = nil, nil
	a, limited := l.guard.Admit(ctx, c, access.Request{Operation: kind, Surface: ask.Surface, Effect: access.Read, Class: class, Correlation: ask.Correlation})
	if limited != nil {
		return limited
	}
	a.Done(ctx, 0, err)
	return err
}

// MaxListed is how many resources are listed at most.
const MaxListed = 50

// ListResources gives the URIs to begin at, at most MaxListed, each once: resource by
// resource in the order of declaration, then what changed lately.
func (l *Local) ListResources(ctx context.Context, c access.Caller, r ListRequest) (items []Listed, err error) {
	open := l.listing(c, r.Surfaces)
	asked := c
	asked.Surfaces, asked.Operations = nil, nil // what the key opens has been picked
	if r.World == "" {
		if _, err := l.world(ctx, asked, ""); fault.KindOf(err) == fault.Invalid {
			// The key opens several worlds. Clients list without naming one, and take an error
			// for a server without resources.
			open = slices.DeleteFunc(open, func(x *Resource) bool { return !x.NoWorld })
		}
	}
	noWorld := !slices.ContainsFunc(open, func(x *Resource) bool { return !x.NoWorld })
	page := ListCall{Method: "resources/list", Continues: r.Continues}
	what := about{page.Method, nil, access.RoleNone, noWorld, page.class(), ""}
	err = l.with(ctx, asked, r.Ask, what, func(ctx context.Context, call *Call) (int, error) {
		for _, res := range open {
			if call.Grant.Role() < res.MinRole {
				continue
			}
			on := *call
			on.Grant = call.Grant.On(through(c, res.Surfaces, r.Surface, res.Name))
			listed, err := res.List(ctx, &on)
			if err != nil {
				return 0, err
			}
			items = appendListed(items, res, listed)
		}
		return 0, nil
	})
	slices.SortStableFunc(items, func(a, b Listed) int { return cmp.Compare(btoi(a.Recent), btoi(b.Recent)) })
	return items[:min(len(items), MaxListed)], err
}

// listing gives the resources of some surfaces (none means all) that list anything, each once.
func (l *Local) listing(c access.Caller, surfaces []string) (open []*Resource) {
	if len(surfaces) == 0 {
		surfaces = []string{""}
	}
	for _, surface := range surfaces {
		for _, res := range l.Resources(c, surface) {
			if res.List != nil && !slices.Contains(open, res) {
				open = append(open, res)
			}
		}
	}
	return open
}

// appendListed adds what a resource lists. An entry about a thing that is there already is
// left out; one that is there for a better reason takes the place of a recent one.
func appendListed(items []Listed, res *Resource, listed []Listed) []Listed {
	for _, one := range listed {
		if one.MIME == "" {
			one.MIME = res.MIME
		}
		at := slices.IndexFunc(items, func(other Listed) bool {
			return other.URI == one.URI || one.Thing != "" && other.Thing == one.Thing
		})
		switch {
		case at < 0:
			items = append(items, one)
		case items[at].Recent && !one.Recent:
			items[at] = one
		}
	}
	return items
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
