package mcpd

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/op"
)

// Engine provides the operations, resources and prompts to serve. [op.Local] implements it.
type Engine interface {
	op.Invoker
	// Operations, Resources and Prompts return those that the caller may use on a surface ("" for
	// all), in a fixed order.
	Operations(c access.Caller, surface string) []*op.Operation
	Resources(c access.Caller, surface string) []*op.Resource
	Prompts(c access.Caller, surface string) []*op.Prompt
	// Exists reports whether an operation can be called by the caller on a surface ("" for any),
	// although Operations may not list it.
	Exists(c access.Caller, surface, name string) bool
	// Find returns a declared operation, without regard to the caller.
	Find(name string) (*op.Operation, bool)
	// MatchResource finds the resource that a URI belongs to, for the caller; nil for none.
	MatchResource(c access.Caller, surface, uri string) *op.Resource

	ReadResource(ctx context.Context, c access.Caller, r op.ResourceRequest) (op.Content, error)
	ListResources(ctx context.Context, c access.Caller, r op.ListRequest) ([]op.Listed, error)
	GetPrompt(ctx context.Context, c access.Caller, r op.PromptRequest) (op.PromptText, error)
	Complete(ctx context.Context, c access.Caller, r op.CompleteRequest) ([]string, error)
	// AdmitList counts a page of a list that is not read from the engine.
	AdmitList(ctx context.Context, c access.Caller, list op.ListCall) error
}

// Authenticator identifies the sender of a request. Its errors are fault.Unauthorized,
// fault.Denied, fault.RateLimited and fault.Unavailable.
type Authenticator interface {
	Authenticate(ctx context.Context, r *http.Request) (access.Caller, error)
	// Challenge returns the WWW-Authenticate header for an error; "" for none.
	Challenge(r *http.Request, err error) string
	// Watch returns a channel that closes when a key is revoked or expires. The caller calls stop
	// when it no longer needs the channel.
	Watch(ctx context.Context, key string) (ended <-chan struct{}, stop func())
}

// Changes signals changes in the canon.
type Changes interface {
	// Changed returns a channel that closes at the next change after the call.
	Changed() <-chan struct{}
}

// Config configures a Server.
type Config struct {
	Engine   Engine        // required
	Auth     Authenticator // required for HTTP
	Changes  Changes       // nil: only resources with a Watch report changes
	Surfaces []*op.Surface // all surfaces, in the order in which people should read them
	// DefaultSet is the surface whose tools are listed where an address names no set; "" lists all
	// tools there.
	DefaultSet string

	Version string // of the product
	Website string // address of the product's website; "" shows none
	// Worlds names the worlds open to a caller, for the instructions. Nil names none.
	Worlds func(ctx context.Context, c access.Caller) []string

	Origins        []string      // browser origins that may call, in addition to our own ("https://host")
	SessionTimeout time.Duration // of an idle session; 0 is 30 minutes
	MaxSessions    int           // per account; the oldest is closed first; 0 is 64
	MaxListens     int           // subscribed URIs per session or stream; 0 is 100
	KeepAlive      time.Duration // between comments on a silent stream; 0 is 25 s
	AskWait        time.Duration // for the answer to a handler's question, in the older era; 0 is 2 minutes
	PageSize       int           // entries per page of a list; 0 is 200, since some clients read one page only
	MaxBody        int64         // bytes of a message over HTTP; 0 is 4 MiB
	MaxText        int           // bytes of output above which it is cut; 0 is 32 KiB
	// Bodies bounds the bytes of requests in memory and on disk; nil is one with the defaults.
	Bodies *body.Intake

	// SealKey seals cursors. Processes that serve one address share it; zero is random.
	SealKey [32]byte
	Now     func() time.Time // nil is time.Now
	Random  func([]byte)     // fills a slice; nil is crypto/rand
	Logger  *slog.Logger     // nil is slog.Default

	// Fixtures are served in addition to the operations. They are for the conformance suite only.
	Fixtures *Fixtures
}

// Fixtures are features registered with the SDK directly. They use the same router and middleware
// as the product and are open to every caller.
type Fixtures struct {
	// Register adds the features to a server.
	Register func(*mcp.Server)
	// The features that Register adds, for listings.
	Tools     []*mcp.Tool
	Resources []*mcp.Resource
	Templates []*mcp.ResourceTemplate
	Prompts   []*mcp.Prompt
	Reads     func(uri string) bool // reports whether a URI is one of the fixtures'
}

func (f *Fixtures) hasTool(name string) bool {
	return f != nil && slices.ContainsFunc(f.Tools, func(t *mcp.Tool) bool { return t.Name == name })
}

func (f *Fixtures) hasPrompt(name string) bool {
	return f != nil && slices.ContainsFunc(f.Prompts, func(p *mcp.Prompt) bool { return p.Name == name })
}

func (f *Fixtures) hasResource(uri string) bool { return f != nil && f.Reads(uri) }

// Server serves MCP over HTTP and stdio. Use New to make one: the zero value does not work.
type Server struct {
	cfg        Config
	seal       *sealer
	log        *slog.Logger
	modernTail []byte // end of every result in the modern era, without the closing brace
	askingTail []byte // the same for a result that asks for input

	stateful, stateless http.Handler
	origins             *http.CrossOriginProtection
	surfaces            map[string]*op.Surface

	shown    toolCache
	kept     keptAnswers
	sessions sessions
	streams  access.Streams // of subscriptions/listen
	feed     feed

	viaSDK bool // no message is answered directly; for tests that compare both routes

	life    context.Context // ends with Close
	stop    context.CancelFunc
	serving context.Context // ends with Drain, and with Close
	drain   context.CancelFunc

	mu     sync.Mutex
	closed bool           // no more goroutines are started. Guarded by mu
	work   sync.WaitGroup // of the goroutines; added to under mu
}

// New makes a Server. Close it when it is no longer needed.
func New(ctx context.Context, c Config) (*Server, error) {
	c.setDefaults()
	s := &Server{cfg: c, log: c.Logger, surfaces: map[string]*op.Surface{},
		kept: keptAnswers{now: c.Now, random: c.Random}}
	for _, f := range c.Surfaces {
		s.surfaces[f.Name] = f
	}
	s.seal = newSealer(c.SealKey, c.Random, c.Now)
	s.modernTail, s.askingTail = modernTail("complete", c.Version), modernTail("input_required", c.Version)
	s.life, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.serving, s.drain = context.WithCancel(s.life)
	s.sessions.setServer(s)
	s.feed.startChecking(s.life, s)
	s.origins = http.NewCrossOriginProtection()
	if s.cfg.Bodies == nil {
		var err error
		if s.cfg.Bodies, err = body.New(body.Config{}); err != nil {
			s.stop()
			return nil, err
		}
	}
	for _, o := range c.Origins {
		if err := s.origins.AddTrustedOrigin(o); err != nil {
			s.stop()
			return nil, err
		}
	}
	s.stateful, s.stateless = s.newHandlers()
	return s, nil
}

func (c *Config) setDefaults() {
	setDefault(&c.Version, "0.0.0")
	setDefault(&c.SessionTimeout, 30*time.Minute)
	setDefault(&c.MaxSessions, 64)
	setDefault(&c.MaxListens, 100)
	setDefault(&c.KeepAlive, defaultKeepAlive)
	setDefault(&c.AskWait, defaultAskWait)
	setDefault(&c.PageSize, 200)
	setDefault(&c.MaxBody, 4<<20)
	setDefault(&c.MaxText, 32<<10)
	if c.Random == nil {
		c.Random = func(b []byte) { _, _ = rand.Read(b) } // it never fails
	}
	if c.SealKey == ([32]byte{}) {
		c.Random(c.SealKey[:])
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Close ends all sessions and streams and waits for them. Call it before shutting down the HTTP
// server, which would wait for the streams. Later requests are refused.
func (s *Server) Close() {
	s.stop()
	s.sessions.closeAll()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
}

// startWork starts a goroutine that Close waits for. It reports whether it did so: after Close no
// goroutine is started.
func (s *Server) startWork(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(f)
	}
	return !s.closed
}

// serverInfo returns the name, version and icon that the server shows to clients.
func (s *Server) serverInfo() *mcp.Implementation {
	return &mcp.Implementation{
		Name: "loregate", Title: "Loregate", Version: s.cfg.Version, WebsiteURL: s.cfg.Website,
		Icons: []mcp.Icon{{Source: icon, MIMEType: "image/svg+xml", Sizes: []string{"any"}}},
	}
}

// icon is a gate in a book, small enough to send in each handshake.
const icon = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyNCAyNCI+PHBhdGggZmlsbD0iIzIzNGU1MiIgZD0iTTMgM2gxOHYxOEgzeiIvPjxwYXRoIGZpbGw9IiNmNmUwNWUiIGQ9Ik04IDIxdi05YTQgNCAwIDAgMSA4IDB2OXoiLz48L3N2Zz4="

// modernTail returns the end of a result of the modern era: the result's type and the server's name
// and version.
func modernTail(resultType, version string) []byte {
	b := []byte(`,"resultType":"` + resultType + `","_meta":{"` + mcp.MetaKeyServerInfo +
		`":{"name":"loregate","version":`)
	b = appendQuoted(b, version)
	return append(b, "}}"...)
}

// sdkServer makes an SDK server that passes messages to our methods. local identifies the caller on
// stdio; it is nil over HTTP.
func (s *Server) sdkServer(local *visit) *mcp.Server {
	caps := &mcp.ServerCapabilities{
		Tools: &mcp.ToolCapabilities{ListChanged: s.cfg.DefaultSet != ""}, Prompts: &mcp.PromptCapabilities{},
		Resources: &mcp.ResourceCapabilities{Subscribe: true}, Completions: &mcp.CompletionCapabilities{},
	}
	fx := s.cfg.Fixtures
	if fx != nil {
		//lint:ignore SA1019 the suite of the older era asks for it
		caps.Logging = &mcp.LoggingCapabilities{}
		caps.Tools.ListChanged, caps.Prompts.ListChanged = true, true
	}
	srv := mcp.NewServer(s.serverInfo(), &mcp.ServerOptions{
		Capabilities: caps,
		Logger:       slog.New(slog.DiscardHandler), // the SDK would write two lines a request
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	if fx != nil {
		fx.Register(srv)
	}
	srv.AddReceivingMiddleware(s.methodMiddleware(local))
	srv.AddSendingMiddleware(s.sendNotices)
	return srv
}

// newHandlers makes the handler of each era. Both always stream; reply turns a stream into plain
// JSON where one is not needed.
func (s *Server) newHandlers() (stateful, stateless http.Handler) {
	one, other := s.sdkServer(nil), s.sdkServer(nil)
	options := mcp.StreamableHTTPOptions{
		MaxRequestBodyBytes:          -1, // the body has been read and bounded already
		PropagateRequestCancellation: true,
		// httpd checks Host against the configured names: a proxy on this machine passes on the public
		// one
		DisableLocalhostProtection: true,
	}
	modern := options
	modern.Stateless = true
	stateful = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return one }, &options)
	stateless = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return other }, &modern)
	return withTokenInfo(stateful), withTokenInfo(stateless)
}
