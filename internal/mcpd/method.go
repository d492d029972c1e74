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
	world  string         // that the _meta asks for
}

// ask is what all requests to the engine share. surface is one of the scope's.
func (c *call) ask(surface string) op.Ask {
	return op.Ask{Surface: surface, World: c.world, Correlation: c.correlation, Transport: "mcp", BaseURL: c.baseURL}
}

// methods answers every method that carries our data. What the SDK answers itself is the
// handshake, ping, and the fixtures.
func (s *Server) methods(local *visit) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			c := s.received(local, req)
			return s.guarded(ctx, c, func(ctx context.Context) (mcp.Result, error) { return s.dispatch(ctx, method, req, c, next) })
		}
	}
}

// guarded runs a call so that a panic is its failure, and that it ends with its session.
func (s *Server) guarded(ctx context.Context, c *call, run func(ctx context.Context) (mcp.Result, error)) (res mcp.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, rpcError(s.panicked(ctx, p, c.correlation), c.correlation)
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

// received makes the call of a message.
func (s *Server) received(local *visit, req mcp.Request) *call {
	c := &call{visit: local, meta: metaOf(req)}
	c.ss, _ = req.GetSession().(*mcp.ServerSession)
	if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
		c.visit, _ = extra.TokenInfo.Extra["visit"].(*visit)
	} else if local != nil {
		c.visit = s.nextVisit(local)
	}
	if c.visit == nil {
		c.visit = &visit{correlation: s.correlation("")} // nobody, who may do nothing
	}
	c.world, _ = c.meta["world"].(string)
	version, _ := c.meta[mcp.MetaKeyProtocolVersion].(string)
	c.modern = version >= modernVersion
	return c
}

// nextVisit is the visit of another message on stdio.
func (s *Server) nextVisit(local *visit) *visit {
	v := *local
	v.correlation = s.correlation("")
	return &v
}

// metaOf is the _meta of a message's params, which may be absent altogether.
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

func (s *Server) dispatch(ctx context.Context, method string, req mcp.Request, c *call, next mcp.MethodHandler) (mcp.Result, error) {
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
		return s.complete(ctx, req.GetParams().(*mcp.CompleteParams), c)
	case "resources/subscribe":
		return s.subscribe(ctx, req.GetParams().(*mcp.SubscribeParams), c)
	case "resources/unsubscribe":
		return s.unsubscribe(req.GetParams().(*mcp.UnsubscribeParams), c)
	case "subscriptions/listen":
		return s.listen(ctx, req, c, next)
	case "initialize", "server/discover":
		return s.greet(ctx, method, req, c, next)
	case "notifications/cancelled":
		if p, _ := req.GetParams().(*mcp.CancelledParams); p != nil {
			c.calls().cancel(p.RequestID)
		}
	case "logging/setLevel":
		if s.cfg.Fixtures == nil {
			return nil, noMethod(method)
		}
	}
	return next(ctx, method, req)
}

// callTool runs a tool for which the SDK may report progress and ask.
func (s *Server) callTool(ctx context.Context, req mcp.Request, c *call, next mcp.MethodHandler) (mcp.Result, error) {
	if c.home != nil {
		c.home.begun.Store(true) // also without a handshake, in the modern era
	}
	p := req.GetParams().(*mcp.CallToolParamsRaw)
	if s.cfg.Fixtures.tool(p.Name) {
		return next(ctx, "tools/call", req)
	}
	asker, err := s.asker(c, req.(*mcp.CallToolRequest))
	if err != nil {
		return nil, s.refused(c, err)
	}
	return s.runTool(ctx, c, op.Request{Operation: p.Name, Input: p.Arguments, Progress: progress(ctx, c, p.GetProgressToken()), Asker: asker})
}

// runTool invokes an operation. Whether there is one of that name for the caller, the
// engine decides and counts.
func (s *Server) runTool(ctx context.Context, c *call, r op.Request) (mcp.Result, error) {
	if string(r.Input) == "null" { // some clients send it for no arguments
		r.Input = nil
	}
	r.Surface, r.World, r.Correlation, r.Transport, r.BaseURL = s.surfaceOf(r.Operation, c.scope), c.world, c.correlation, "mcp", c.baseURL
	r.MaxText = s.cfg.MaxText
	answer, err := s.callWhole(ctx, r, c)
	switch {
	case err == nil && answer.Asks != nil:
		return r.Asker.(*asker).asks(answer.Asks)
	case err == nil:
		return s.toolResult(r.Operation, answer, c.modern), nil
	case fault.KindOf(err) == fault.NotFound && !s.offers(c.caller, r.Surface, r.Operation):
		return nil, unknownTool(r.Operation, c.correlation)
	}
	return s.toolError(s.show(r.Operation, r.Surface, err, c.correlation), c.modern), nil
}

// invoke calls the engine; a panic on the way is the call's failure and not the process's.
func (s *Server) invoke(ctx context.Context, r op.Request, c *call) (answer *op.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, s.panicked(ctx, p, c.correlation)
		}
	}()
	return s.cfg.Engine.Invoke(ctx, c.caller, r)
}

// surfaceOf is the surface of a scope that a tool is called on.
func (s *Server) surfaceOf(tool string, sc scope) string {
	if len(sc.names) < 2 {
		return sc.surface()
	}
	if o, ok := s.cfg.Engine.Find(tool); ok {
		for _, name := range sc.names {
			for _, offers := range o.Surfaces {
				if offers == name {
					return name
				}
			}
		}
	}
	return sc.names[0] // which does not offer it: it is unknown there
}

// offers reports whether there is a tool for the caller. It is asked after a call that
// found nothing, to tell a tool that is not there from a thing that is not.
func (s *Server) offers(c access.Caller, surface, tool string) bool {
	for _, o := range s.cfg.Engine.Operations(c, surface) {
		if o.Name == tool {
			return !o.NoTool
		}
	}
	return false
}

// progress reports to the token that the caller gave; nil where it gave none. The
// protocol wants each report higher than the last.
func progress(ctx context.Context, c *call, token any) func(done, total float64, message string) {
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
		// Progress is a courtesy: who does not take it still gets the result.
		_ = c.ss.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: message})
	}
}

// greet completes the handshake of either era: with instructions for this caller, and in
// the older one with the session.
func (s *Server) greet(ctx context.Context, method string, req mcp.Request, c *call, next mcp.MethodHandler) (mcp.Result, error) {
	res, err := next(ctx, method, req)
	if err != nil {
		return res, err
	}
	if c.home != nil {
		c.home.begun.Store(true)
	}
	switch r := res.(type) {
	case *mcp.InitializeResult:
		if c.ss != nil && c.ss.ID() != "" {
			s.sessions.add(c.ss, c.visit, r.ProtocolVersion) // before what may fail: it will time out here
		}
		r.Capabilities = s.capable(r.Capabilities, c)
		r.Instructions = s.instructions(ctx, c)
	case *mcp.DiscoverResult:
		r.Capabilities = s.capable(r.Capabilities, c)
		r.Instructions, r.TTLMs = s.instructions(ctx, c), int(aMinute)
	}
	return res, nil
}

// declares reports whether the surfaces that are open here declare any tool and any
// prompt. Which of them the caller's role may use is another matter: it may change.
func (s *Server) declares(c *call) (tools, prompts bool) {
	if s.cfg.Fixtures != nil || len(s.cfg.Surfaces) == 0 {
		return true, true
	}
	for _, f := range s.cfg.Surfaces {
		if len(c.scope.names) > 0 && !slices.Contains(c.scope.names, f.Name) || !opens(c.caller, f.Name) {
			continue
		}
		tools = tools || slices.ContainsFunc(f.Operations, func(o *op.Operation) bool { return !o.NoTool })
		prompts = prompts || len(f.Prompts) > 0
	}
	return tools, prompts
}

// capable leaves out the capabilities of which nothing is declared here. A client that lists
// them all the same is given an empty list: some end the connection on an error.
func (s *Server) capable(all *mcp.ServerCapabilities, c *call) *mcp.ServerCapabilities {
	tools, prompts := s.declares(c)
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

// refused makes the protocol's error of an error of the engine, in the words of the surface
// that was asked.
func (s *Server) refused(c *call, err error) error {
	if e, ok := err.(*jsonrpc.Error); ok {
		return e
	}
	return rpcErrorAs(err, s.show("", c.scope.surface(), err, c.correlation))
}
