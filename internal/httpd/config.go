package httpd

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/identity"
	"loregate/internal/op"
)

// Authenticator finds callers. identity.Service implements it.
type Authenticator interface {
	// Authenticate returns the caller of a bearer credential meant for an audience ("" is the API).
	// Its errors are fault.Unauthorized, which identity.Challenge tells apart.
	Authenticate(ctx context.Context, bearer, audience string) (access.Caller, error)
	// Exchange returns a token for an API key.
	Exchange(ctx context.Context, apiKey string, role access.Role, world string) (identity.Issued, error)
	// Watch returns a channel that closes when a key is revoked or expires. The caller calls stop
	// when it no longer needs the channel.
	Watch(ctx context.Context, key string) (ended <-chan struct{}, stop func())
	// JWKS returns the key set that tokens are verified with, as JSON.
	JWKS(ctx context.Context) ([]byte, error)
}

// Observer measures requests. Its method uses no type of this package, so that telemetry can
// implement it. route is a pattern such as "GET /api/mcp/cards/{name}", never a path.
type Observer interface {
	Request(route string, status int, took time.Duration, bytes int64)
}

// Route is a route that does not belong to an operation, for example a stream of events. It passes
// the outer layers and authentication.
type Route struct {
	Pattern  string // "GET /api/players/{id}/stream"; variables are matched like those of operations
	Audience string // of the token; "" is the API's
	Public   bool   // no credentials are needed
	Serve    func(w http.ResponseWriter, r *http.Request, c access.Caller, vars map[string]string)
}

// Config configures the handler. Engine and Auth are required.
type Config struct {
	Engine *op.Local
	Auth   Authenticator
	// Grants lets clients sign in by the consent of people; nil for no such clients.
	Grants Grants
	// Guard records attempts to get a token; nil records none.
	Guard *access.Guard
	// Limiter counts POST /api/mcp/auth by key, and wrong keys and tokens in any request by
	// address; nil counts nothing.
	Limiter access.Limiter
	// PerAddress bounds the running requests of one address, including streams; zero is no bound.
	PerAddress int
	MCP        http.Handler // serves /mcp and /mcp/{surface}, and authenticates itself; nil for none
	Console    http.Handler // serves paths without a route; nil for none
	// Page writes the page about connecting a client to the address base: at /connect, and at /mcp if
	// the request asks for a page. Nil for none.
	Page   func(w http.ResponseWriter, base string)
	Routes []Route

	// Metrics serves /metrics, to loopback peers and to the operator only, because the numbers
	// include hidden content. nil for none.
	Metrics http.Handler
	// Ready returns an error if a needed part does not answer; nil: always ready.
	Ready func(ctx context.Context) error
	// StoreState returns a word for the state of the store's check; nil if there is no check.
	StoreState func() string
	Observer   Observer

	Version string // of the product, for OpenAPI
	// PublicURL is the address at which callers reach the server, without a trailing slash; ""
	// takes it from each request.
	PublicURL string
	// AuthorizationServers are outside issuers, named in the protected-resource metadata.
	AuthorizationServers []string
	// Hosts are the names, without port, that a request's Host may have in addition to the loopback
	// names; "*" allows any. Others are refused, against DNS rebinding.
	Hosts []string
	// Origins are origins ("https://example.org") that browsers may call from, in addition to the
	// server's own.
	Origins []string
	// AllowFrom are the address ranges that may call; empty is all. Health is open to all.
	AllowFrom []netip.Prefix
	// Proxies are the address ranges of proxies whose X-Forwarded-For and -Proto are trusted.
	Proxies []netip.Prefix

	// Stopping is closed when the server stops, which ends streams; with nil they are not ended.
	Stopping <-chan struct{}

	// Bodies bounds the bytes of requests in memory and on disk; nil is one with the defaults.
	Bodies *body.Intake
	// BodyWait bounds the time in which a JSON body arrives; 0 is 30 s. A file may take ten times
	// as long.
	BodyWait time.Duration

	Now    func() time.Time // time.Now when nil
	NewID  func() string    // correlation ids; UUIDv7 when nil
	Logger *slog.Logger     // slog.Default when nil
}

// Bounds of bodies, and of the time in which they arrive or answers are taken.
const (
	bodyLimit    = 4 << 20
	bodyWait     = 30 * time.Second
	uploadSlower = 10 // a file may take this many times as long
	answerWait   = 2 * time.Minute
	bodyLeftover = 64 << 10       // of a form or JSON around a file
	maxUnknown   = body.Uncounted // bytes of a body whose sender is not known yet
)

// New makes the handler. It fails if two routes are the same.
func New(c Config) (http.Handler, error) {
	if c.Engine == nil || c.Auth == nil {
		return nil, errors.New("httpd: Engine and Auth must be set")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.BodyWait <= 0 {
		c.BodyWait = bodyWait
	}
	if c.Bodies == nil {
		var err error
		if c.Bodies, err = body.New(body.Config{}); err != nil {
			return nil, err
		}
	}
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	s := &server{Config: c, router: newRouter(), underWay: access.NewSlots(c.PerAddress),
		authShape: op.ShapeOf[authIn]()}
	if err := s.addRoutes(); err != nil {
		return nil, err
	}
	return s.wrapOuter()
}

// NewServer returns an http.Server with the timeouts that a public address needs. Bodies and
// answers have deadlines of their own, set by the handlers, since streams have none.
func NewServer(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr: addr, Handler: h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		// By default each connection may have 1 MiB of bodies that nobody has read yet.
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 100, MaxReceiveBufferPerConnection: 128 << 10,
			MaxReceiveBufferPerStream: 64 << 10},
	}
}

type server struct {
	Config
	router    *router
	openapi   document
	authShape *op.Shape
	streams   access.Streams // open feeds
	underWay  *access.Slots  // requests, by address
	readiness readiness
}
