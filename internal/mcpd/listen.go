package mcpd

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/op"
)

// The SDK stores subscriptions by URI, under one lock that each request of the modern era takes
// when it ends, and sends a notice to all subscribers alike. We store them by session and send each
// notice to one subscriber. NotifyProgress is the SDK's only method that sends to a single session,
// so the notice is passed in its context.

type noticeKey struct{}

// newNotifier returns a func that sends notices on a session, or on the stream that ctx belongs to.
// id returns the subscription's id, nil in the older era.
func newNotifier(ctx context.Context, ss *mcp.ServerSession, id func() any) func(uri string) error {
	return func(uri string) error {
		n := &mcp.ResourceUpdatedNotificationParams{URI: uri}
		if v := id(); v != nil {
			n.Meta = mcp.Meta{mcp.MetaKeySubscriptionID: v}
		}
		return ss.NotifyProgress(context.WithValue(ctx, noticeKey{}, n), nil)
	}
}

func noID() any { return nil }

// sendNotices is the sending middleware. It replaces the empty progress with the notice in the
// context, adds the form's schema to an elicitation, and completes the acknowledgement of a stream.
func (s *Server) sendNotices(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if n, ok := ctx.Value(noticeKey{}).(*mcp.ResourceUpdatedNotificationParams); ok {
			ss, _ := req.GetSession().(*mcp.ServerSession)
			return next(ctx, "notifications/resources/updated",
				&mcp.ServerRequest[*mcp.ResourceUpdatedNotificationParams]{Session: ss, Params: n})
		}
		if n, ok := ctx.Value(noticeKey{}).(*mcp.ToolListChangedParams); ok {
			ss, _ := req.GetSession().(*mcp.ServerSession)
			return next(ctx, "notifications/tools/list_changed",
				&mcp.ServerRequest[*mcp.ToolListChangedParams]{Session: ss, Params: n})
		}
		if f, ok := ctx.Value(formKey{}).(op.Form); ok && method == "elicitation/create" {
			ss, _ := req.GetSession().(*mcp.ServerSession)
			p := *req.GetParams().(*mcp.ElicitParams) // a copy, because the SDK goes on using its own
			p.RequestedSchema = f.Schema()
			return next(ctx, method, &mcp.ServerRequest[*mcp.ElicitParams]{Session: ss, Params: &p})
		}
		ack, isAck := req.GetParams().(*mcp.SubscriptionsAcknowledgedParams)
		l, ok := ctx.Value(streamKey{}).(*listening)
		if !isAck || !ok {
			return next(ctx, method, req)
		}
		ack.Notifications.ResourceSubscriptions = l.uris
		res, err := next(ctx, method, req)
		l.setAcknowledged(ack.Meta[mcp.MetaKeySubscriptionID])
		return res, err
	}
}

type streamKey struct{}

// listening is one stream of subscriptions/listen.
type listening struct {
	uris   []string
	outlet *outlet
	mu     sync.Mutex
	id     any // of the subscription, known when it is acknowledged. Guarded by mu
}

func (l *listening) setAcknowledged(id any) {
	l.mu.Lock()
	l.id = id
	l.mu.Unlock()
	l.outlet.unmute()
}

func (l *listening) subscriptionID() any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id
}

// listenToResources serves subscriptions/listen: the SDK handles the stream and changes of lists,
// and we handle the resources.
func (s *Server) listenToResources(ctx context.Context, req mcp.Request, c *call,
	next mcp.MethodHandler) (mcp.Result, error) {
	ctx, cancel := s.untilDrain(ctx)
	defer cancel()
	p := req.GetParams().(*mcp.SubscriptionsListenParams)
	if p.Notifications == nil || len(p.Notifications.ResourceSubscriptions) == 0 {
		return next(ctx, "subscriptions/listen", req)
	}
	l := &listening{uris: slices.Compact(slices.Sorted(slices.Values(p.Notifications.ResourceSubscriptions)))}
	l.outlet = s.feed.newOutlet(c.visit, newNotifier(ctx, c.ss, l.subscriptionID), cancel)
	l.outlet.muted = true
	defer l.outlet.close()
	defer s.streams.Open(c.caller.Account(), cancel)()
	for _, uri := range l.uris {
		if err := l.outlet.add(ctx, c, uri); err != nil {
			return nil, s.toProtocolError(c, err)
		}
	}
	lists := *p.Notifications
	lists.ResourceSubscriptions = nil
	inner := &mcp.SubscriptionsListenParams{Meta: maps.Clone(p.Meta), Notifications: &lists}
	res, err := next(context.WithValue(ctx, streamKey{}, l), "subscriptions/listen",
		&mcp.SubscriptionsListenRequest{Session: c.ss, Params: inner, Extra: req.GetExtra()})
	if err == nil {
		<-ctx.Done() // the SDK returns at once if only resources were asked for
	}
	return res, err
}

// subscribeResource serves resources/subscribe of the older era.
func (s *Server) subscribeResource(ctx context.Context, p *mcp.SubscribeParams, c *call) (mcp.Result, error) {
	o := c.findOutlet(s)
	if o == nil {
		return nil, noMethod("resources/subscribe")
	}
	if err := o.add(ctx, c, p.URI); err != nil {
		return nil, s.toProtocolError(c, err)
	}
	return emptyResult, nil
}

func (s *Server) unsubscribeResource(p *mcp.UnsubscribeParams, c *call) (mcp.Result, error) {
	if o := c.findOutlet(s); o != nil {
		o.remove(p.URI)
	}
	return emptyResult, nil
}

// findOutlet returns the outlet for notices of a session of the older era.
func (c *call) findOutlet(s *Server) *outlet {
	switch {
	case c.session != nil:
		return c.session.outlet
	case c.home != nil && c.ss != nil:
		return c.home.openOutlet(s, c)
	}
	return nil
}

// home is the state of a stdio server. Its only outlet is made when it is first needed.
type home struct {
	once   sync.Once
	outlet *outlet
	begun  atomic.Bool // the SDK accepts calls: its handshake is done
	calls  calls
	opened opened
	ss     atomic.Pointer[mcp.ServerSession] // set by the first message that the SDK answers
}

// begin records that the SDK accepts calls.
func (h *home) begin(ss *mcp.ServerSession) {
	h.ss.Store(ss)
	h.begun.Store(true)
}

func (h *home) openOutlet(s *Server, c *call) *outlet {
	h.once.Do(func() {
		h.outlet = s.feed.newOutlet(c.visit, newNotifier(context.Background(), c.ss, noID), func() {})
	})
	return h.outlet
}

func (h *home) close() {
	h.once.Do(func() {})
	if h.outlet != nil {
		h.outlet.close()
	}
}
