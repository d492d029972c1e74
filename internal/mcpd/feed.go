package mcpd

import (
	"context"
	"crypto/sha256"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/wait"
)

// pace is the least time between two checks of the subscribed resources, and so between two notices
// about one URI: mcp-and-rest, Protocol.
const pace = 100 * time.Millisecond

// pauseFactor limits checking to a tenth of one processor: after an expensive round, the pause is
// nine times as long.
const pauseFactor = 9

// effort measures the cost of checking. It takes the quickest of the recent checks as the cost of
// one: the others waited for processors busy with calls, and pausing for that waiting too would
// leave a busy server's subscribers ever further behind.
type effort struct{ quick time.Duration }

// pauseAfter returns the pause after a round, from its number of checks and the time of the
// quickest one.
func (e *effort) pauseAfter(checks int, quickest time.Duration) time.Duration {
	if checks == 0 {
		return pace
	}
	if e.quick == 0 || quickest < e.quick {
		e.quick = quickest
	}
	pause := max(pace, pauseFactor*time.Duration(checks)*e.quick)
	e.quick += e.quick / 8 // checks may become slower
	return pause
}

// feed notifies subscribers when their view of a resource has changed. After a change in the canon
// it reads every subscribed URI again with the subscriber's present rights, and compares digests: a
// subscriber is never notified of a change that it cannot see.
type feed struct {
	s    *Server
	kick chan struct{} // holds one request to check again although the canon has not changed

	mu      sync.Mutex
	open    map[*outlet]struct{}     // with at least one subscription. Guarded by mu
	watched map[string]*watchedGroup // subscriptions of URIs that have a Watch. Guarded by mu
}

func (f *feed) startChecking(ctx context.Context, s *Server) {
	f.s, f.kick, f.open, f.watched = s, make(chan struct{}, 1), map[*outlet]struct{}{}, map[string]*watchedGroup{}
	f.startWatching(ctx, s)
	if s.cfg.Changes != nil {
		s.startWork(func() { f.run(ctx) })
	}
}

func (f *feed) run(ctx context.Context) {
	var spent effort
	for {
		changed := f.s.cfg.Changes.Changed()
		if !wait.For(ctx, spent.pauseAfter(f.checkAll(ctx))) {
			return
		}
		select {
		case <-changed:
		case <-f.kick:
		case <-ctx.Done():
			return
		}
	}
}

// checkAgain requests another round.
func (f *feed) checkAgain() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// checkAll checks every subscription without a Watch once. It returns the number of checks and the
// time of the quickest.
func (f *feed) checkAll(ctx context.Context) (checks int, quickest time.Duration) {
	f.mu.Lock()
	all := slices.Collect(maps.Keys(f.open))
	f.mu.Unlock()
	for _, o := range all {
		subs := o.unwatchedSubs()
		if len(subs) == 0 {
			continue
		}
		c, ok := o.presentCall(ctx)
		if !ok {
			continue
		}
		for _, sub := range subs {
			began := time.Now()
			f.checkOne(ctx, o, sub, c)
			if took := time.Since(began); checks == 0 || took < quickest {
				quickest = took
			}
			checks++
		}
	}
	return checks, quickest
}

// checkOne compares one subscription with the subscriber's present view.
func (f *feed) checkOne(ctx context.Context, o *outlet, sub *subscription, c *call) {
	c.caller.Unlimited = true // the server checks, as often as something changes
	now, err := f.s.readDigest(ctx, c, sub.uri)
	if err != nil {
		f.checkAgain() // the content could not be read, so the subscriber's view is unknown
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !sub.known:
		sub.missed = true
	case sub.digest != now:
		sub.digest = now
		o.queueNotice(sub.uri)
	}
}

// readDigest returns the digest of a URI's content as the caller sees it. Absent and hidden content
// has the zero digest. The modification time is left out, so that a change that the caller does not
// see cannot affect the digest.
func (s *Server) readDigest(ctx context.Context, c *call, uri string) (d [32]byte, err error) {
	r := s.newResourceRequest(c, uri)
	r.Compared = true
	content, err := s.cfg.Engine.ReadResource(ctx, c.caller, r)
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	return digestOf(content), nil
}

func digestOf(c op.Content) (d [32]byte) {
	h := sha256.New()
	for _, part := range []string{c.MIME, c.Text, string(c.Blob)} {
		inner := sha256.Sum256([]byte(part))
		h.Write(inner[:])
	}
	h.Sum(d[:0])
	return d
}

// subscription is one URI of an outlet. Its fields are guarded by the outlet's mu.
type subscription struct {
	uri    string
	known  bool // digest is set
	missed bool // a round came before digest was set
	digest [32]byte

	watch   op.Watch // reports changes of the URI, so rounds skip it; nil: rounds check it
	version uint64   // last version known from the watch
	told    time.Time
}

// outlet is a session or stream that receives notices.
type outlet struct {
	f    *feed
	send func(uri string) error
	end  func() // ends the session or stream when its caller has lost its credentials

	mu      sync.Mutex // guards the fields below
	visit   *visit
	subs    map[string]*subscription
	due     []string // URIs to send notices about, each once
	muted   bool     // until its stream is acknowledged
	sending bool
	closed  bool
}

func (f *feed) newOutlet(v *visit, send func(uri string) error, end func()) *outlet {
	return &outlet{f: f, send: send, end: end, visit: v.detached(), subs: map[string]*subscription{}}
}

// add subscribes to a URI, whether or not the resource exists.
func (o *outlet) add(ctx context.Context, c *call, uri string) error {
	sub, err := o.reserve(uri)
	if err != nil || sub == nil {
		return err
	}
	d, err := o.f.s.readDigest(ctx, c, uri)
	if err != nil {
		o.remove(uri)
		return err
	}
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	sub.digest, sub.known = d, true
	o.f.watchSub(o, sub, c)
	if sub.missed {
		o.f.checkAgain()
	}
	return nil
}

// reserve makes room for a URI before it is read, so that no change is missed between the first
// read and the first check. It returns nil if a subscription exists already.
func (o *outlet) reserve(uri string) (*subscription, error) {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	limit := o.f.s.cfg.MaxListens
	switch {
	case o.closed:
		return nil, fault.New(fault.Unavailable, "this session has ended; start a new one")
	case o.subs[uri] != nil:
		return nil, nil
	case len(o.subs) >= limit:
		return nil, fault.New(fault.TooLarge, "a session can subscribe to at most %d resources; unsubscribe from some",
			limit).With("limit", limit)
	}
	sub := &subscription{uri: uri}
	o.subs[uri] = sub
	o.f.open[o] = struct{}{}
	return sub, nil
}

func (o *outlet) remove(uri string) {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.f.unwatchSub(o.subs[uri])
	delete(o.subs, uri)
	o.due = slices.DeleteFunc(o.due, func(d string) bool { return d == uri })
	if len(o.subs) == 0 {
		delete(o.f.open, o)
	}
}

// close ends all of an outlet's subscriptions.
func (o *outlet) close() {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.due = true, nil
	for _, sub := range o.subs {
		o.f.unwatchSub(sub)
	}
	clear(o.subs)
	delete(o.f.open, o)
}

// unwatchedSubs returns the subscriptions without a Watch, which rounds have to check, in the order
// of their URIs.
func (o *outlet) unwatchedSubs() []*subscription {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := make([]*subscription, 0, len(o.subs))
	for _, uri := range slices.Sorted(maps.Keys(o.subs)) {
		if sub := o.subs[uri]; sub.watch == nil {
			list = append(list, sub)
		}
	}
	return list
}

// renew stores newer credentials of the same caller.
func (o *outlet) renew(v *visit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.visit = v.detached()
}

// detached returns a copy of the visit that may outlive its request: of the request it holds only
// the parts that identify the sender.
func (v *visit) detached() *visit {
	k := *v
	k.session = nil
	if r := v.request; r != nil {
		k.request = &http.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header, RemoteAddr: r.RemoteAddr,
			TLS: r.TLS}
	}
	return &k
}

// presentCall returns a call with the subscriber's present rights: roles may be lowered and keys
// revoked while streams are open.
func (o *outlet) presentCall(ctx context.Context) (*call, bool) {
	o.mu.Lock()
	v := *o.visit
	o.mu.Unlock()
	if v.request != nil {
		c, err := o.f.s.cfg.Auth.Authenticate(ctx, v.request.WithContext(ctx))
		switch fault.KindOf(err) {
		case fault.Unauthorized, fault.Denied:
			o.end()
			return nil, false
		}
		if err != nil {
			o.f.checkAgain()
			return nil, false
		}
		v.caller = v.scope.narrowCaller(c)
	}
	return &call{visit: &v}, true
}

// queueNotice queues a notice about a URI and starts sending. A subscriber that does not read
// delays nobody else. o.mu is held.
func (o *outlet) queueNotice(uri string) {
	if !slices.Contains(o.due, uri) {
		o.due = append(o.due, uri)
	}
	o.startSending()
}

// startSending starts a goroutine to send the queued notices, if one is needed. o.mu is held.
func (o *outlet) startSending() {
	if o.sending || o.muted || o.closed || len(o.due) == 0 {
		return
	}
	o.sending = o.f.s.startWork(o.sendQueued)
}

func (o *outlet) sendQueued() {
	for {
		o.mu.Lock()
		if len(o.due) == 0 || o.closed {
			o.sending = false
			o.mu.Unlock()
			return
		}
		uri := o.due[0]
		o.due = o.due[1:]
		o.mu.Unlock()
		_ = o.send(uri) // a client that is not connected reads the resource when it comes back
	}
}

// unmute starts sending the queued notices.
func (o *outlet) unmute() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.muted = false
	o.startSending()
}
