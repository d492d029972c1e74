package mcpd

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// call is one message as a method gets it.
type call struct {
	*visit
	ss     *mcp.ServerSession
	modern bool           // of the era without sessions
	meta   map[string]any // the params' _meta; nil for none
	world  string         // named in the _meta
	key    string         // idempotency key in the _meta
	source []byte         // provenance in the _meta, a JSON object; nil for none
}

// newAsk returns the fields that all requests to the engine share. surface is one of the scope's.
func (c *call) newAsk(surface string) op.Ask {
	return op.Ask{Surface: surface, World: c.world, Correlation: c.correlation, Transport: "mcp", BaseURL: c.baseURL}
}

// methodMiddleware answers every method that carries our data. The SDK itself answers the
// handshake, ping and the fixtures.
func (s *Server) methodMiddleware(local *visit) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			c := s.newCall(local, req)
			return s.runGuarded(ctx, c,
				func(ctx context.Context) (mcp.Result, error) { return s.dispatchMethod(ctx, method, req, c, next) })
		}
	}
}

// runGuarded runs a call. A panic becomes the call's error, and the call is cancelled when its
// session ends.
func (s *Server) runGuarded(ctx context.Context, c *call,
	run func(ctx context.Context) (mcp.Result, error)) (res mcp.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, rpcError(s.logPanic(ctx, p, c.correlation), c.correlation)
		}
	}()
	if c.session != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(c.session.ctx, cancel)()
	}
	return run(ctx)
}

// newCall makes the call of a message.
func (s *Server) newCall(local *visit, req mcp.Request) *call {
	c := &call{visit: local, meta: metaOf(req)}
	c.ss, _ = req.GetSession().(*mcp.ServerSession)
	if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
		c.visit, _ = extra.TokenInfo.Extra["visit"].(*visit)
	} else if local != nil {
		c.visit = s.nextVisit(local)
	}
	if c.visit == nil {
		c.visit = &visit{correlation: s.correlationID("")} // an anonymous caller without rights
	}
	c.world, _ = c.meta["world"].(string)
	c.key, _ = c.meta[keyMember].(string)
	if p, ok := c.meta[provenanceMember].(map[string]any); ok {
		c.source = mustJSON(p)
	}
	version, _ := c.meta[mcp.MetaKeyProtocolVersion].(string)
	c.modern = version >= modernVersion
	return c
}

// nextVisit returns the visit of a further message on stdio.
func (s *Server) nextVisit(local *visit) *visit {
	v := *local
	v.correlation = s.correlationID("")
	return &v
}

// metaOf returns the _meta of a message's params, which may be absent altogether.
func metaOf(req mcp.Request) map[string]any {
	switch p := req.GetParams().(type) {
	case nil:
		return nil
	case *mcp.CallToolParamsRaw:
		return p.Meta
	default:
		if reflect.ValueOf(p).IsNil() {
			return nil
		}
		return p.GetMeta()
	}
}

func (s *Server) dispatchMethod(ctx context.Context, method string, req mcp.Request, c *call,
	next mcp.MethodHandler) (mcp.Result, error) {
	switch method {
	case "tools/call":
		return s.callTool(ctx, req, c, next)
	case "tools/list":
		return s.listTools(ctx, req.GetParams().(*mcp.ListToolsParams), c)
	case "resources/read":
		return s.readResource(ctx, req, c, next)
	case "resources/list":
		return s.listResources(ctx, req.GetParams().(*mcp.ListResourcesParams), c)
	case "resources/templates/list":
		return s.listTemplates(ctx, req.GetParams().(*mcp.ListResourceTemplatesParams), c)
	case "prompts/get":
		return s.getPrompt(ctx, req, c, next)
	case "prompts/list":
		return s.listPrompts(ctx, req.GetParams().(*mcp.ListPromptsParams), c)
	case "completion/complete":
		return s.completeArgument(ctx, req.GetParams().(*mcp.CompleteParams), c)
	case "resources/subscribe":
		return s.subscribeResource(ctx, req.GetParams().(*mcp.SubscribeParams), c)
	case "resources/unsubscribe":
		return s.unsubscribeResource(req.GetParams().(*mcp.UnsubscribeParams), c)
	case "subscriptions/listen":
		return s.listenToResources(ctx, req, c, next)
	case "initialize", "server/discover":
		return s.greetClient(ctx, method, req, c, next)
	case "notifications/cancelled":
		if p, _ := req.GetParams().(*mcp.CancelledParams); p != nil {
			c.openCalls().cancel(p.RequestID)
		}
	case "logging/setLevel":
		if s.cfg.Fixtures == nil {
			return nil, noMethod(method)
		}
	}
	return next(ctx, method, req)
}

// callTool runs a tool for which the SDK may report progress and ask questions.
func (s *Server) callTool(ctx context.Context, req mcp.Request, c *call, next mcp.MethodHandler) (mcp.Result, error) {
	if c.home != nil {
		c.home.begin(c.ss) // also without a handshake, in the modern era
	}
	p := req.GetParams().(*mcp.CallToolParamsRaw)
	if s.cfg.Fixtures.hasTool(p.Name) {
		return next(ctx, "tools/call", req)
	}
	asker, err := s.newAsker(c, req.(*mcp.CallToolRequest))
	if err != nil {
		return nil, s.toProtocolError(c, err)
	}
	return s.runTool(ctx, c, op.Request{Operation: p.Name, Input: p.Arguments,
		Progress: progressReporter(ctx, c, p.GetProgressToken()), Asker: asker})
}

// runTool invokes an operation. The engine decides whether an operation of that name exists for the
// caller, and counts the call.
func (s *Server) runTool(ctx context.Context, c *call, r op.Request) (mcp.Result, error) {
	if string(r.Input) == "null" { // some clients send null for no arguments
		r.Input = nil
	}
	r.Surface, r.World, r.Correlation, r.Transport, r.BaseURL = s.surfaceOf(r.Operation, c.scope), c.world, c.correlation,
		"mcp", c.baseURL
	r.MaxText, r.KeepsList, r.IdempotencyKey, r.Provenance = s.cfg.MaxText, c.keepsList(), c.key, c.source
	r.Hold = c.hold
	answer, err := s.callWhole(ctx, r, c)
	switch {
	case err == nil && answer.Asks != nil:
		return r.Asker.(*asker).askResult(answer.Asks)
	case err == nil:
		if answer.Reply.Opens != "" {
			s.openSet(c, answer.Reply.Opens)
		}
		return s.toolResult(r.Operation, answer, c), nil
	case fault.KindOf(err) == fault.NotFound && !s.hasTool(c.caller, r.Surface, r.Operation):
		return nil, unknownTool(r.Operation, c.correlation)
	}
	return s.toolError(s.showError(r.Operation, r.Surface, err, c.correlation), c.modern), nil
}

// invokeEngine calls the engine; a panic fails the call and not the process.
func (s *Server) invokeEngine(ctx context.Context, r op.Request, c *call) (answer *op.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, s.logPanic(ctx, p, c.correlation)
		}
	}()
	return s.cfg.Engine.Invoke(ctx, c.caller, r)
}

// hasTool reports whether a tool exists for the caller. It is called after a call that was not
// found, to distinguish a missing tool from a missing object.
func (s *Server) hasTool(c access.Caller, surface, tool string) bool {
	o, ok := s.cfg.Engine.Find(tool)
	return ok && !o.NoTool && s.cfg.Engine.Exists(c, surface, tool)
}

// progressReporter returns a function that reports progress to the caller's token; nil without a
// token. The protocol wants each report higher than the last.
func progressReporter(ctx context.Context, c *call, token any) func(done, total float64, message string) {
	if token == nil || c.ss == nil {
		return nil
	}
	var mu sync.Mutex
	last := -1.0
	return func(done, total float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		if done <= last || ctx.Err() != nil {
			return
		}
		last = done
		// A client that does not take progress still gets the result.
		_ = c.ss.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total,
			Message: message})
	}
}

// greetClient completes the handshake of either era: it adds instructions for this caller, and in
// the older era records the session.
func (s *Server) greetClient(ctx context.Context, method string, req mcp.Request, c *call,
	next mcp.MethodHandler) (mcp.Result, error) {
	res, err := next(ctx, method, req)
	if err != nil {
		return res, err
	}
	if c.home != nil {
		c.home.begin(c.ss)
	}
	switch r := res.(type) {
	case *mcp.InitializeResult:
		if c.ss != nil && c.ss.ID() != "" {
			// before the calls that may fail: a session without a client times out
			s.sessions.addSession(c.ss, c.visit, r.ProtocolVersion)
		}
		r.Capabilities = s.limitCapabilities(r.Capabilities, c)
		r.Instructions = s.writeInstructions(ctx, c)
	case *mcp.DiscoverResult:
		r.Capabilities = s.withoutListChanges(s.limitCapabilities(r.Capabilities, c))
		r.Instructions, r.TTLMs = s.writeInstructions(ctx, c), int(aMinute)
	}
	return res, nil
}

// hasToolsAndPrompts reports whether the surfaces that are open here declare any tool and any
// prompt. It ignores the caller's role, which may change.
func (s *Server) hasToolsAndPrompts(c *call) (tools, prompts bool) {
	if s.cfg.Fixtures != nil || len(s.cfg.Surfaces) == 0 {
		return true, true
	}
	for _, f := range s.cfg.Surfaces {
		if len(c.scope.names) > 0 && !slices.Contains(c.scope.names, f.Name) || !canUseSurface(c.caller, f.Name) {
			continue
		}
		tools = tools || hasTools(f)
		prompts = prompts || len(f.Prompts) > 0
	}
	return tools, prompts
}

// hasTools reports whether a surface declares any tool.
func hasTools(f *op.Surface) bool {
	return slices.ContainsFunc(f.Operations, func(o *op.Operation) bool { return !o.NoTool })
}

// limitCapabilities removes the capabilities for which nothing is declared here. A client that
// lists them anyway gets an empty list: some clients end the connection on an error.
func (s *Server) limitCapabilities(all *mcp.ServerCapabilities, c *call) *mcp.ServerCapabilities {
	tools, prompts := s.hasToolsAndPrompts(c)
	if all == nil || tools && prompts {
		return all
	}
	some := *all
	if !tools {
		some.Tools = nil
	}
	if !prompts {
		some.Prompts = nil
	}
	return &some
}

// withoutListChanges removes the notice of a changed list of tools, which needs a session.
func (s *Server) withoutListChanges(all *mcp.ServerCapabilities) *mcp.ServerCapabilities {
	if all == nil || all.Tools == nil || s.cfg.Fixtures != nil {
		return all
	}
	some, tools := *all, *all.Tools
	tools.ListChanged = false
	some.Tools = &tools
	return &some
}

// toProtocolError turns an error of the engine into the protocol's error, with the error codes of
// the surface that was called.
func (s *Server) toProtocolError(c *call, err error) error {
	if e, ok := err.(*jsonrpc.Error); ok {
		return e
	}
	return rpcErrorAs(err, s.showError("", c.scope.soleSurface(), err, c.correlation))
}
