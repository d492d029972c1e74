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

// pace is the least time between two looks at what is subscribed to, and so between two
// notices of one URI: mcp-and-rest, Protocol.
const pace = 100 * time.Millisecond

// restShare keeps looking at no more than a tenth of one processor: after a round that
// cost much, the next waits nine times as long.
const restShare = 9

// effort is what looking costs. A look is reckoned by the quickest of late: the others
// waited for processors that calls had the use of, and to rest for that too would leave a
// busy server's subscribers ever further behind.
type effort struct{ quick time.Duration }

// rest is how long to wait after a round of so many looks, of which the quickest took so long.
func (e *effort) rest(looks int, quickest time.Duration) time.Duration {
	if looks == 0 {
		return pace
	}
	if e.quick == 0 || quickest < e.quick {
		e.quick = quickest
	}
	rest := max(pace, restShare*time.Duration(looks)*e.quick)
	e.quick += e.quick / 8 // looks may become dearer
	return rest
}

// feed tells subscribers that what they see of a resource has changed. After a change in
// the canon it reads every subscribed URI again as its subscriber of that moment, and
// compares digests: nobody hears of a change that they cannot see.
type feed struct {
	s    *Server
	kick chan struct{} // holds one: look again though nothing changed

	mu      sync.Mutex
	open    map[*outlet]struct{}     // with at least one subscription. Guarded by mu
	watched map[string]*watchedGroup // subscriptions of URIs that a Watch tells of. Guarded by mu
}

func (f *feed) start(ctx context.Context, s *Server) {
	f.s, f.kick, f.open, f.watched = s, make(chan struct{}, 1), map[*outlet]struct{}{}, map[string]*watchedGroup{}
	f.startWatching(ctx, s)
	if s.cfg.Changes != nil {
		s.spawn(func() { f.run(ctx) })
	}
}

func (f *feed) run(ctx context.Context) {
	var spent effort
	for {
		changed := f.s.cfg.Changes.Changed()
		if !wait.For(ctx, spent.rest(f.round(ctx))) {
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

// again asks for another round.
func (f *feed) again() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// round looks at everything once. It gives how often it looked, and the quickest look.
func (f *feed) round(ctx context.Context) (looks int, quickest time.Duration) {
	f.mu.Lock()
	all := slices.Collect(maps.Keys(f.open))
	f.mu.Unlock()
	for _, o := range all {
		subs := o.list()
		if len(subs) == 0 {
			continue
		}
		c, ok := o.today(ctx)
		if !ok {
			continue
		}
		for _, sub := range subs {
			began := time.Now()
			f.look(ctx, o, sub, c)
			if took := time.Since(began); looks == 0 || took < quickest {
				quickest = took
			}
			looks++
		}
	}
	return looks, quickest
}

// look compares one subscription with what its subscriber sees now.
func (f *feed) look(ctx context.Context, o *outlet, sub *subscription, c *call) {
	c.caller.Unlimited = true // it is we who look, as often as something changes
	now, err := f.s.digest(ctx, c, sub.uri)
	if err != nil {
		f.again() // something is unavailable: what the subscriber sees is not known
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !sub.known:
		sub.missed = true
	case sub.digest != now:
		sub.digest = now
		o.tell(sub.uri)
	}
}

// digest is of the content of a URI as a caller sees it. What is absent or hidden has
// the zero digest. When it was modified is left out, so that a change of what the
// caller does not see cannot show in it.
func (s *Server) digest(ctx context.Context, c *call, uri string) (d [32]byte, err error) {
	content, err := s.read(ctx, c, uri)
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
	missed bool // there was a round before that
	digest [32]byte

	watch   op.Watch // tells of it, and rounds pass it over; nil: nobody does
	version uint64   // that the watch last told
	told    time.Time
}

// outlet is a session or stream that notices go to.
type outlet struct {
	f    *feed
	send func(uri string) error
	end  func() // ends the session or stream, when its caller is nobody any more

	mu      sync.Mutex // guards what follows
	visit   *visit
	subs    map[string]*subscription
	due     []string // to be sent, each once
	muted   bool     // until its stream is acknowledged
	sending bool
	closed  bool
}

func (f *feed) outlet(v *visit, send func(uri string) error, end func()) *outlet {
	return &outlet{f: f, send: send, end: end, visit: v.kept(), subs: map[string]*subscription{}}
}

// add subscribes to a URI, whether there is such a thing or not.
func (o *outlet) add(ctx context.Context, c *call, uri string) error {
	sub, err := o.place(uri)
	if err != nil || sub == nil {
		return err
	}
	d, err := o.f.s.digest(ctx, c, uri)
	if err != nil {
		o.remove(uri)
		return err
	}
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	sub.digest, sub.known = d, true
	o.f.watch(o, sub, c)
	if sub.missed {
		o.f.again()
	}
	return nil
}

// place makes room for a URI before it is read, so that no change falls between reading
// and looking. It is nil where there is a subscription already.
func (o *outlet) place(uri string) (*subscription, error) {
	o.f.mu.Lock()
	defer o.f.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	limit := o.f.s.cfg.MaxListens
	switch {
	case o.closed:
		return nil, fault.New(fault.Unavailable, "this session has ended; begin another")
	case o.subs[uri] != nil:
		return nil, nil
	case len(o.subs) >= limit:
		return nil, fault.New(fault.TooLarge, "a session may subscribe to %d resources; unsubscribe from some", limit).With("limit", limit)
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
	o.f.unwatch(o.subs[uri])
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
		o.f.unwatch(sub)
	}
	clear(o.subs)
	delete(o.f.open, o)
}

// list gives the subscriptions that nothing tells of but looking, in the order of their
// URIs.
func (o *outlet) list() []*subscription {
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

// renew is told of newer credentials of the same caller.
func (o *outlet) renew(v *visit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.visit = v.kept()
}

// kept is a visit to keep for longer than its request lasts: of the request, only what
// says who sent it.
func (v *visit) kept() *visit {
	k := *v
	k.session = nil
	if r := v.request; r != nil {
		k.request = &http.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header, RemoteAddr: r.RemoteAddr, TLS: r.TLS}
	}
	return &k
}

// today is the subscriber with the rights of now: roles are lowered and keys revoked
// while streams are open.
func (o *outlet) today(ctx context.Context) (*call, bool) {
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
			o.f.again()
			return nil, false
		}
		v.caller = c
	}
	return &call{visit: &v}, true
}

// tell notes that a URI has changed and sees to it that it is sent. A subscriber that
// takes nothing holds up nobody else. o.mu is held.
func (o *outlet) tell(uri string) {
	if !slices.Contains(o.due, uri) {
		o.due = append(o.due, uri)
	}
	o.pump()
}

// pump starts sending where something is due. o.mu is held.
func (o *outlet) pump() {
	if o.sending || o.muted || o.closed || len(o.due) == 0 {
		return
	}
	o.sending = o.f.s.spawn(o.flush)
}

func (o *outlet) flush() {
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
		_ = o.send(uri) // who is not connected now reads it when it comes back
	}
}

// unmute lets what is due go out.
func (o *outlet) unmute() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.muted = false
	o.pump()
}
