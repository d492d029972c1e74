package op

import (
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

// ListRequest asks for a page of a resource listing.
type ListRequest struct {
	Ask
	Offset int // from an earlier page's Next
}

// ListPage is a page of a resource listing. Next is the next page's offset, 0 at the end;
// it means nothing to callers, who get it sealed.
type ListPage struct {
	Items []Listed
	Next  int
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
		Least: what.least, World: world, Target: clip(what.target, 255), Correlation: ask.Correlation})
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
	what := about{res.Name, res.Surfaces, res.Least, res.NoWorld, access.ClassResource, r.URI}
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

// pageShift keeps the number of a resource above the offset within its own listing.
const pageShift = 40

// ListResources gives a page of the URIs worth showing, resource by resource in the order
// of declaration; it counts as one listing call.
func (l *Local) ListResources(ctx context.Context, c access.Caller, r ListRequest) (ListPage, error) {
	var page ListPage
	if r.Offset < 0 {
		return page, fault.BadField("cursor", "is not from an earlier page")
	}
	open := l.Resources(c, r.Surface)
	c.Surfaces, c.Operations = nil, nil // what the key opens has been picked
	noWorld := !slices.ContainsFunc(open, func(x *Resource) bool { return !x.NoWorld && x.List != nil })
	what := about{"resources/list", nil, access.RoleNone, noWorld, access.ClassList, ""}
	err := l.with(ctx, c, r.Ask, what, func(ctx context.Context, call *Call) (int, error) {
		return 0, l.listFrom(ctx, call, open, r.Offset, &page)
	})
	return page, err
}

// listFrom fills a page from the first resource at or after the offset that lists
// anything.
func (l *Local) listFrom(ctx context.Context, call *Call, open []*Resource, offset int, page *ListPage) error {
	index, inner := offset>>pageShift, offset&(1<<pageShift-1)
	for ; index < len(open); index, inner = index+1, 0 {
		res := open[index]
		if res.List == nil || call.Grant.Role() < res.Least {
			continue
		}
		items, more, err := res.List(ctx, call, inner)
		if err != nil {
			return err
		}
		for i := range items {
			if items[i].MIME == "" {
				items[i].MIME = res.MIME
			}
		}
		page.Items = append(page.Items, items...)
		if more > 0 {
			page.Next = index<<pageShift | more
			return nil
		}
		if len(page.Items) >= 50 && index+1 < len(open) {
			page.Next = (index + 1) << pageShift
			return nil
		}
	}
	return nil
}
