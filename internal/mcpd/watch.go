package mcpd

import (
	"context"
	"slices"
	"time"

	"loregate/internal/op"
	"loregate/internal/wait"
)

// watchedGroup is all subscriptions of one URI that a Watch tells of. What a change costs
// then depends on who hears of it, and not on how many are subscribed to anything.
type watchedGroup struct {
	watch op.Watch
	subs  map[*subscription]*outlet
}

// scanPause is the least time between two looks at what watches tell. It bounds what a
// storm of changes costs; pace bounds what one subscriber hears.
const scanPause = 20 * time.Millisecond

// startWatching begins to listen to every Watch that a resource has.
func (f *feed) startWatching(ctx context.Context, s *Server) {
	var watches []op.Watch
	for _, surface := range s.cfg.Surfaces {
		for _, r := range surface.Resources {
			if r.Watch != nil && !slices.Contains(watches, r.Watch) {
				watches = append(watches, r.Watch)
			}
		}
	}
	for _, w := range watches {
		s.spawn(func() { f.listen(ctx, w) })
	}
}

// listen looks at what a watch tells whenever something has changed.
func (f *feed) listen(ctx context.Context, w op.Watch) {
	for {
		changed := w.Changed()
		var later <-chan time.Time
		if due := f.scan(ctx, w); due > 0 {
			later = time.After(due)
		}
		if !wait.For(ctx, scanPause) {
			return
		}
		select {
		case <-changed:
		case <-later:
		case <-ctx.Done():
			return
		}
	}
}

// news is a subscription whose URI has changed.
type news struct {
	o       *outlet
	sub     *subscription
	version uint64
}

// scan tells the subscribers of all URIs that have changed. Where some heard of theirs
// less than a pace ago, it gives the time after which to look again.
func (f *feed) scan(ctx context.Context, w op.Watch) (due time.Duration) {
	all, due := f.changed(w, time.Now())
	for _, n := range all {
		c, ok := n.o.today(ctx)
		if !ok {
			continue
		}
		if n.o.altered(c) {
			f.fallBack(n)
			continue
		}
		n.o.mu.Lock()
		n.sub.version = n.version
		n.o.tell(n.sub.uri)
		n.o.mu.Unlock()
	}
	return due
}

// changed gives the subscriptions whose version is another, less those that must wait.
func (f *feed) changed(w op.Watch, now time.Time) (all []news, due time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for uri, group := range f.watched {
		if group.watch != w {
			continue
		}
		version, ok := w.Version(uri)
		for sub, o := range group.subs {
			o.mu.Lock()
			switch wait := pace - now.Sub(sub.told); {
			case ok && sub.version == version:
			case !ok:
				f.drop(sub)
			case wait > 0:
				if due == 0 || wait < due {
					due = wait
				}
			default:
				sub.told = now
				all = append(all, news{o, sub, version})
			}
			o.mu.Unlock()
		}
	}
	return all, due
}

// watch puts a subscription into the care of a Watch, if its URI has one and its reader
// is shown something: what is absent for it is looked for as ever. f.mu and o.mu are held.
func (f *feed) watch(o *outlet, sub *subscription, c *call) {
	if sub.digest == ([32]byte{}) || o.subs[sub.uri] != sub {
		return
	}
	for _, surface := range c.scope.surfaces() {
		r := f.s.cfg.Engine.MatchResource(c.caller, surface, sub.uri)
		if r == nil || r.Watch == nil {
			continue
		}
		version, ok := r.Watch.Version(sub.uri)
		if !ok {
			return
		}
		sub.watch, sub.version = r.Watch, version
		group := f.watched[sub.uri]
		if group == nil {
			group = &watchedGroup{watch: r.Watch, subs: map[*subscription]*outlet{}}
			f.watched[sub.uri] = group
		}
		group.subs[sub] = o
		return
	}
}

// unwatch takes a subscription out of a Watch's care. f.mu and its outlet's mu are held.
func (f *feed) unwatch(sub *subscription) {
	if sub == nil || sub.watch == nil {
		return
	}
	sub.watch = nil
	if group := f.watched[sub.uri]; group != nil {
		if delete(group.subs, sub); len(group.subs) == 0 {
			delete(f.watched, sub.uri)
		}
	}
}

// drop is unwatch for what the Watch has lost sight of: rounds look at it again.
func (f *feed) drop(sub *subscription) {
	f.unwatch(sub)
	f.again()
}

// fallBack is drop for one whose reader has other rights now.
func (f *feed) fallBack(n news) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.o.mu.Lock()
	defer n.o.mu.Unlock()
	f.drop(n.sub)
}

// altered reports whether the subscriber's rights are other than when it subscribed.
func (o *outlet) altered(c *call) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.visit.caller.SameRights(c.caller)
}
