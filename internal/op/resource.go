package op

import (
	"cmp"
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Ask holds the part of Request that all calls except an operation's share: the surface and
// transport that they came in on, and the world they are about.
type Ask struct {
	Surface     string // surface it was called on; "" is any
	World       string // slug or id from the request; "" leaves it to the caller's key
	Correlation string
	Transport   string
	BaseURL     string
}

// ResourceRequest asks for the content of one URI.
type ResourceRequest struct {
	Ask
	URI string
	// Compared says that the content is not shown to the caller: the transport compares it with what it was before.
	Compared bool
}

// ListRequest asks for the resources worth listing.
type ListRequest struct {
	Ask
	Surfaces []string // surfaces whose resources are listed; none means all
	// Continues reports whether the client is reading a further page of a list.
	Continues bool
}

// guardedItem is a resource or prompt as the Guard sees it.
type guardedItem struct {
	name     string
	surfaces []string
	minRole  access.Role
	noWorld  bool
	class    access.Class
	target   string
	compared bool // see ResourceRequest.Compared
}

// runGuarded admits a call about a resource or prompt, runs it and records its end. run returns the
// size of its answer.
func (l *Local) runGuarded(ctx context.Context, c access.Caller, ask Ask, item guardedItem,
	run func(ctx context.Context, call *Call) (int, error)) (err error) {
	surface := pickSurface(c, item.surfaces, ask.Surface, item.name)
	ctx, end := l.observeCall(ctx, ask.Transport, surface, item.name)
	size := 0
	defer func() { end(err, size) }()
	world, badWorld := access.WorldID{}, error(nil)
	if !item.noWorld {
		world, badWorld = l.selectWorld(ctx, c, ask.World)
	}
	if badWorld != nil {
		item.minRole = access.RoleNone
	}
	a, err := l.guard.Admit(ctx, c, access.Request{Operation: item.name, Surface: surface, Effect: access.Read,
		Class: item.class, Unshown: item.compared,
		MinRole: item.minRole, World: world, Target: markup.Shorten(item.target, 255), Correlation: ask.Correlation})
	if err != nil {
		return err
	}
	defer func() { a.Done(ctx, size, err) }()
	if badWorld != nil {
		return badWorld
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	defer recoverPanic(&err)
	size, err = run(ctx, &Call{Grant: a.Grant, Progress: noProgress, Transport: ask.Transport, BaseURL: ask.BaseURL})
	return toTimeoutFault(ctx, err)
}

func noResource(uri string) error {
	return fault.New(fault.NotFound, "there is no resource %q; list the resources and templates to find one",
		markup.Shorten(uri, 300))
}

// hideDenied replaces a denial by the given error for absence, as resources and prompts require.
func hideDenied(err, absent error) error {
	if fault.KindOf(err) == fault.Denied && err != nil {
		return absent
	}
	return err
}

// ReadResource returns the content of a URI. Absent, hidden and unreadable are the same
// fault.NotFound.
func (l *Local) ReadResource(ctx context.Context, c access.Caller, r ResourceRequest) (content Content, err error) {
	res, vars := l.matchURI(c, r.Surface, r.URI)
	if res == nil {
		return Content{}, l.refuseAbsent(ctx, c, r.Ask, "resources/read", access.ClassResource, noResource(r.URI))
	}
	item := guardedItem{res.Name, res.Surfaces, res.MinRole, res.NoWorld, access.ClassResource, r.URI, r.Compared}
	if named := vars[res.WorldVar]; named != "" {
		r.World = named
	}
	err = l.runGuarded(ctx, c, r.Ask, item, func(ctx context.Context, call *Call) (int, error) {
		content, err = res.Read(ctx, call, vars)
		return len(content.Text) + len(content.Blob), err
	})
	if err != nil {
		if fault.KindOf(err) == fault.NotFound {
			err = noResource(r.URI)
		}
		return Content{}, hideDenied(err, noResource(r.URI))
	}
	content.MIME = cmp.Or(content.MIME, res.MIME)
	return content, nil
}

// MatchResource finds the resource that a URI belongs to, for the caller; nil if there is none. It
// does no I/O.
func (l *Local) MatchResource(c access.Caller, surface, uri string) *Resource {
	r, _ := l.matchURI(c, surface, uri)
	return r
}

// matchURI prefers a resource without variables to a template.
func (l *Local) matchURI(c access.Caller, surface, uri string) (found *Resource, vars map[string]string) {
	for _, r := range l.Resources(c, surface) {
		t := l.templates[r]
		if v, ok := t.match(uri); ok && (found == nil || len(t.vars) == 0) {
			found, vars = r, v
		}
	}
	return found, vars
}

// refuseAbsent counts and records a call about something that does not exist for the caller.
func (l *Local) refuseAbsent(ctx context.Context, c access.Caller, ask Ask, kind string, class access.Class,
	err error) error {
	c.Surfaces, c.Operations = nil, nil
	a, limited := l.guard.Admit(ctx, c, access.Request{Operation: kind, Surface: ask.Surface, Effect: access.Read,
		Class: class, Correlation: ask.Correlation})
	if limited != nil {
		return limited
	}
	a.Done(ctx, 0, err)
	return err
}

// MaxListed bounds the number of listed resources.
const MaxListed = 50

// ListResources returns URIs as starting points, at most MaxListed, each once: resource by resource
// in the order of declaration, then the recently changed ones.
func (l *Local) ListResources(ctx context.Context, c access.Caller, r ListRequest) (items []Listed, err error) {
	open := l.resourcesToList(c, r.Surfaces)
	asked := c
	asked.Surfaces, asked.Operations = nil, nil // resourcesToList has already applied the key's allow-list
	if r.World == "" {
		if _, err := l.selectWorld(ctx, asked, ""); fault.KindOf(err) == fault.Invalid {
			// The key opens several worlds. Clients list without naming one, and take an error for
			// a server without resources.
			open = slices.DeleteFunc(open, func(x *Resource) bool { return !x.NoWorld })
		}
	}
	noWorld := !slices.ContainsFunc(open, func(x *Resource) bool { return !x.NoWorld })
	page := ListCall{Method: "resources/list", Continues: r.Continues}
	item := guardedItem{page.Method, nil, access.RoleNone, noWorld, page.limitClass(), "", false}
	err = l.runGuarded(ctx, asked, r.Ask, item, func(ctx context.Context, call *Call) (int, error) {
		for _, res := range open {
			if call.Grant.Role() < res.MinRole {
				continue
			}
			on := *call
			on.Grant = call.Grant.On(pickSurface(c, res.Surfaces, r.Surface, res.Name))
			listed, err := res.List(ctx, &on)
			if err != nil {
				return 0, err
			}
			items = appendListed(items, res, listed)
		}
		return 0, nil
	})
	slices.SortStableFunc(items, func(a, b Listed) int { return cmp.Compare(boolToInt(a.Recent), boolToInt(b.Recent)) })
	return items[:min(len(items), MaxListed)], err
}

// resourcesToList returns the resources of some surfaces (none means all) that list anything, each
// once.
func (l *Local) resourcesToList(c access.Caller, surfaces []string) (open []*Resource) {
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

// appendListed appends the entries that a resource lists. An entry about a card that is listed
// already is left out, unless the listed one is only Recent: then the new entry replaces it.
func appendListed(items []Listed, res *Resource, listed []Listed) []Listed {
	for _, one := range listed {
		one.MIME = cmp.Or(one.MIME, res.MIME)
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

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
