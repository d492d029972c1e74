package mcpd

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/op"
)

// Engine is what is served. [op.Local] is one.
type Engine interface {
	op.Invoker
	// Operations, Resources and Prompts are those that the caller may use on a surface
	// ("" is all), in a fixed order.
	Operations(c access.Caller, surface string) []*op.Operation
	Resources(c access.Caller, surface string) []*op.Resource
	Prompts(c access.Caller, surface string) []*op.Prompt
	// Find gives a declared operation, whoever asks.
	Find(name string) (*op.Operation, bool)
	// MatchResource finds the resource that a URI belongs to, for the caller; nil for none.
	MatchResource(c access.Caller, surface, uri string) *op.Resource

	ReadResource(ctx context.Context, c access.Caller, r op.ResourceRequest) (op.Content, error)
	ListResources(ctx context.Context, c access.Caller, r op.ListRequest) ([]op.Listed, error)
	GetPrompt(ctx context.Context, c access.Caller, r op.PromptRequest) (op.PromptText, error)
	Complete(ctx context.Context, c access.Caller, r op.CompleteRequest) ([]string, error)
	// AdmitList counts a page of a list that the engine is not asked for.
	AdmitList(ctx context.Context, c access.Caller, list op.ListCall) error
}

// Authenticator says who sent a request. Its errors are fault.Unauthorized,
// fault.Denied, fault.RateLimited and fault.Unavailable.
type Authenticator interface {
	Authenticate(ctx context.Context, r *http.Request) (access.Caller, error)
	// Challenge is the WWW-Authenticate header that goes with an error; "" for none.
	Challenge(r *http.Request, err error) string
	// Watch gives a channel that closes when a key is revoked or expires. Call stop when
	// it is of no more interest.
	Watch(ctx context.Context, key string) (ended <-chan struct{}, stop func())
}

// Changes tells that something in the canon has changed.
type Changes interface {
	// Changed gives a channel that closes at the next change after the call.
	Changed() <-chan struct{}
}

// Config is what a Server is made of.
type Config struct {
	Engine   Engine        // needed
	Auth     Authenticator // needed for HTTP
	Changes  Changes       // nil: resources can be subscribed to, and nothing is ever heard
	Surfaces []*op.Surface // all there are, in the order that people should read them

	Version string // of the product
	Website string // address that people find the product at; "" shows none
	// Worlds names the worlds that a caller opens, for the instructions. Nil names none.
	Worlds func(ctx context.Context, c access.Caller) []string

	Origins        []string      // of browsers that may call, beside our own ("https://host")
	SessionTimeout time.Duration // of an idle session; 0 is 30 minutes
	MaxSessions    int           // per account, of which the oldest goes first; 0 is 64
	MaxListens     int           // subscribed URIs per session or stream; 0 is 100
	KeepAlive      time.Duration // between comments on a silent stream; 0 is 25 s
	AskWait        time.Duration // for the answer to a handler's question, in the older era; 0 is 2 minutes
	PageSize       int           // entries of a list; 0 is 200, since some clients read one page only
	MaxBody        int64         // bytes of a message over HTTP; 0 is 4 MiB
	MaxText        int           // bytes of output above which it is cut; 0 is 32 KiB

	// SealKey seals cursors. Processes that serve one address share it; zero is random.
	SealKey [32]byte
	Now     func() time.Time // nil is time.Now
	Random  func([]byte)     // fills a slice; nil is crypto/rand
	Logger  *slog.Logger     // nil is slog.Default

	// Fixtures are served beside the operations. They are for the conformance suite only.
	Fixtures *Fixtures
}

// Fixtures are features of the SDK's own making, which go through the same router and
// middleware as the product and are open to every caller.
type Fixtures struct {
	// Register adds the features to a server.
	Register func(*mcp.Server)
	// What Register adds, as it is listed.
	Tools     []*mcp.Tool
	Resources []*mcp.Resource
	Templates []*mcp.ResourceTemplate
	Prompts   []*mcp.Prompt
	Reads     func(uri string) bool // whether a URI is one of them
}

func (f *Fixtures) tool(name string) bool {
	return f != nil && slices.ContainsFunc(f.Tools, func(t *mcp.Tool) bool { return t.Name == name })
}

func (f *Fixtures) prompt(name string) bool {
	return f != nil && slices.ContainsFunc(f.Prompts, func(p *mcp.Prompt) bool { return p.Name == name })
}

func (f *Fixtures) reads(uri string) bool { return f != nil && f.Reads(uri) }

// Server serves MCP over HTTP and stdio. Its zero value is of no use: call New.
type Server struct {
	cfg        Config
	seal       *sealer
	log        *slog.Logger
	modernTail []byte // what every result of the modern era ends with, without the brace
	askingTail []byte // the same of one that asks for input

	stateful, stateless http.Handler
	origins             *http.CrossOriginProtection
	surfaces            map[string]*op.Surface

	shown    shown
	kept     kept
	sessions sessions
	streams  access.Streams // of subscriptions/listen
	feed     feed

	viaSDK bool // nothing is answered directly; tests compare

	life    context.Context // ends with Close
	stop    context.CancelFunc
	serving context.Context // ends with Drain, and with Close
	drain   context.CancelFunc

	mu     sync.Mutex
	closed bool           // no more goroutines are begun. Guarded by mu
	work   sync.WaitGroup // of the goroutines; added to under mu
}

// New makes a Server. Close it when no more is to be served.
func New(ctx context.Context, c Config) (*Server, error) {
	c.fill()
	s := &Server{cfg: c, log: c.Logger, surfaces: map[string]*op.Surface{}, kept: kept{now: c.Now, random: c.Random}}
	for _, f := range c.Surfaces {
		s.surfaces[f.Name] = f
	}
	s.seal = newSealer(c.SealKey, c.Random, c.Now)
	s.modernTail, s.askingTail = modernTail("complete", c.Version), modernTail("input_required", c.Version)
	s.life, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.serving, s.drain = context.WithCancel(s.life)
	s.sessions.start(s)
	s.feed.start(s.life, s)
	s.origins = http.NewCrossOriginProtection()
	for _, o := range c.Origins {
		if err := s.origins.AddTrustedOrigin(o); err != nil {
			s.stop()
			return nil, err
		}
	}
	s.stateful, s.stateless = s.handlers()
	return s, nil
}

func (c *Config) fill() {
	orElse(&c.Version, "0.0.0")
	orElse(&c.SessionTimeout, 30*time.Minute)
	orElse(&c.MaxSessions, 64)
	orElse(&c.MaxListens, 100)
	orElse(&c.KeepAlive, defaultKeepAlive)
	orElse(&c.AskWait, defaultAskWait)
	orElse(&c.PageSize, 200)
	orElse(&c.MaxBody, 4<<20)
	orElse(&c.MaxText, 32<<10)
	if c.Random == nil {
		c.Random = func(b []byte) { _, _ = rand.Read(b) } // it never fails
	}
	if c.SealKey == ([32]byte{}) {
		c.Random(c.SealKey[:])
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
}

func orElse[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Close ends all sessions and streams and waits for them. Call it before the HTTP server
// is shut down, which would wait for the streams; requests that come later are refused.
func (s *Server) Close() {
	s.stop()
	s.sessions.closeAll()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
}

// spawn begins a goroutine that Close waits for. It reports whether it did: after Close
// none is begun.
func (s *Server) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(f)
	}
	return !s.closed
}

// implementation is how the server names itself.
func (s *Server) implementation() *mcp.Implementation {
	return &mcp.Implementation{
		Name: "loregate", Title: "Loregate", Version: s.cfg.Version, WebsiteURL: s.cfg.Website,
		Icons: []mcp.Icon{{Source: icon, MIMEType: "image/svg+xml", Sizes: []string{"any"}}},
	}
}

// icon is a gate in a book, small enough to travel in each handshake.
const icon = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyNCAyNCI+PHBhdGggZmlsbD0iIzIzNGU1MiIgZD0iTTMgM2gxOHYxOEgzeiIvPjxwYXRoIGZpbGw9IiNmNmUwNWUiIGQ9Ik04IDIxdi05YTQgNCAwIDAgMSA4IDB2OXoiLz48L3N2Zz4="

// modernTail is what marks a result of the modern era: of which type it is, and whose.
func modernTail(resultType, version string) []byte {
	b := []byte(`,"resultType":"` + resultType + `","_meta":{"` + mcp.MetaKeyServerInfo + `":{"name":"loregate","version":`)
	b = quote(b, version)
	return append(b, "}}"...)
}

// sdkServer makes an SDK server whose messages go to our methods. local is who calls on
// stdio; nil over HTTP.
func (s *Server) sdkServer(local *visit) *mcp.Server {
	caps := &mcp.ServerCapabilities{
		Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{},
		Resources: &mcp.ResourceCapabilities{Subscribe: true}, Completions: &mcp.CompletionCapabilities{},
	}
	fx := s.cfg.Fixtures
	if fx != nil {
		//lint:ignore SA1019 the suite of the older era asks for it
		caps.Logging = &mcp.LoggingCapabilities{}
		caps.Tools.ListChanged, caps.Prompts.ListChanged = true, true
	}
	srv := mcp.NewServer(s.implementation(), &mcp.ServerOptions{
		Capabilities: caps,
		Logger:       slog.New(slog.DiscardHandler), // it writes two lines a request
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	if fx != nil {
		fx.Register(srv)
	}
	srv.AddReceivingMiddleware(s.methods(local))
	srv.AddSendingMiddleware(s.sending)
	return srv
}

// handlers makes the handler of each era. Both always stream; reply makes plain JSON of
// what need not be a stream.
func (s *Server) handlers() (stateful, stateless http.Handler) {
	one, other := s.sdkServer(nil), s.sdkServer(nil)
	options := mcp.StreamableHTTPOptions{
		MaxRequestBodyBytes:          -1, // read and bounded before
		PropagateRequestCancellation: true,
		DisableLocalhostProtection:   true, // httpd checks Host by the names that are configured: a proxy on this machine passes on the public one
	}
	modern := options
	modern.Stateless = true
	stateful = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return one }, &options)
	stateless = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return other }, &modern)
	return tokens(stateful), tokens(stateless)
}
