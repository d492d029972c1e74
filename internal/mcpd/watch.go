package mcpd

import (
	"context"
	"slices"
	"time"

	"loregate/internal/op"
	"loregate/internal/wait"
)

// watchedGroup holds all subscriptions of one URI that has a Watch. The cost of a change then
// depends on its subscribers, and not on the number of all subscriptions.
type watchedGroup struct {
	watch op.Watch
	subs  map[*subscription]*outlet
}

// scanPause is the least time between two scans of a Watch. It bounds the cost of a storm of
// changes; pace bounds the notices to one subscriber.
const scanPause = 20 * time.Millisecond

// startWatching starts a goroutine for every Watch of a resource.
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
		s.startWork(func() { f.followWatch(ctx, w) })
	}
}

// followWatch scans a watch whenever something has changed.
func (f *feed) followWatch(ctx context.Context, w op.Watch) {
	for {
		changed := w.Changed()
		var later <-chan time.Time
		if due := f.scanWatch(ctx, w); due > 0 {
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

// scanWatch notifies the subscribers of all URIs that have changed. If some were notified less than
// a pace ago, it returns the time after which to scan again.
func (f *feed) scanWatch(ctx context.Context, w op.Watch) (due time.Duration) {
	all, due := f.changedSubs(w, time.Now())
	for _, n := range all {
		c, ok := n.o.presentCall(ctx)
		if !ok {
			continue
		}
		if n.o.hasOtherRights(c) {
			f.fallBack(n)
			continue
		}
		n.o.mu.Lock()
		n.sub.version = n.version
		n.o.queueNotice(n.sub.uri)
		n.o.mu.Unlock()
	}
	return due
}

// changedSubs returns the subscriptions with a new version, except those that must wait.
func (f *feed) changedSubs(w op.Watch, now time.Time) (all []news, due time.Duration) {
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
				f.dropWatch(sub)
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

// watchSub links a subscription to the Watch of its URI, if the URI has one and exists for the
// subscriber; an absent URI continues to be checked in rounds. f.mu and o.mu are held.
func (f *feed) watchSub(o *outlet, sub *subscription, c *call) {
	if sub.digest == ([32]byte{}) || o.subs[sub.uri] != sub {
		return
	}
	for _, surface := range c.scope.engineSurfaces() {
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

// unwatchSub removes a subscription's link to its Watch. f.mu and its outlet's mu are held.
func (f *feed) unwatchSub(sub *subscription) {
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

// dropWatch removes the link to a Watch that no longer knows the URI, so that rounds check it
// again.
func (f *feed) dropWatch(sub *subscription) {
	f.unwatchSub(sub)
	f.checkAgain()
}

// fallBack is dropWatch for a subscription whose caller's rights have changed.
func (f *feed) fallBack(n news) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.o.mu.Lock()
	defer n.o.mu.Unlock()
	f.dropWatch(n.sub)
}

// hasOtherRights reports whether the subscriber's rights differ from those at subscribing.
func (o *outlet) hasOtherRights(c *call) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.visit.caller.SameRights(c.caller)
}
