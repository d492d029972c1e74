// Package httpd serves operations over REST, and what surrounds them over HTTP: OpenAPI,
// tokens for keys, key sets, metadata, health and metrics.
//
// Its invariant: a route is an operation's, and decides nothing. It makes the input of
// path, query, headers and body, invokes, and writes the answer down; what a caller may do
// is decided behind op.Local, and who it is by the Authenticator. Every request passes the
// same outer layers, MCP's too: recovery, correlation, allowed addresses, Host and Origin.
package httpd

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/identity"
	"loregate/internal/op"
)

// Authenticator finds callers. identity.Service is one.
type Authenticator interface {
	// Authenticate gives the caller of a bearer credential meant for an audience ("" is
	// the API). Its errors are fault.Unauthorized, which identity.Challenge tells apart.
	Authenticate(ctx context.Context, bearer, audience string) (access.Caller, error)
	// Exchange gives a token for an API key.
	Exchange(ctx context.Context, apiKey string, role access.Role, world string) (identity.Issued, error)
	// Watch gives a channel that closes when a key is revoked or expires. Call stop when
	// it is of no more interest.
	Watch(ctx context.Context, key string) (ended <-chan struct{}, stop func())
	// JWKS is the key set that tokens are verified with, as JSON.
	JWKS(ctx context.Context) ([]byte, error)
}

// Observer measures requests. It knows no internal type, so that telemetry can implement
// it. route is a pattern such as "GET /api/mcp/cards/{name}", never a path.
type Observer interface {
	Request(route string, status int, took time.Duration, bytes int64)
}

// Route is a route that is no operation's: a stream of events, say. It passes the outer
// layers and authentication.
type Route struct {
	Pattern  string // "GET /api/players/{id}/stream"; variables are matched as operations' are
	Audience string // of the token; "" is the API's
	Public   bool   // no credentials are asked for
	Serve    func(w http.ResponseWriter, r *http.Request, c access.Caller, vars map[string]string)
}

// Config is what the handler is made of. Engine and Auth are needed.
type Config struct {
	Engine *op.Local
	Auth   Authenticator
	// Guard records attempts to get a token; nil records none.
	Guard *access.Guard
	// Limiter counts POST /api/mcp/auth by key, and wrong keys and tokens wherever they are
	// sent by address; nil counts nothing.
	Limiter access.Limiter
	// PerAddress is how many requests of one address may be under way, streams among them;
	// 0 is no bound.
	PerAddress int
	MCP        http.Handler // serves /mcp and /mcp/{surface}, and authenticates itself; nil for none
	Console    http.Handler // serves what nothing else does; nil for none
	// Page writes what a person finds who opens the address base in a browser: at /, and at
	// /mcp where a page is asked for. Nil for none.
	Page   func(w http.ResponseWriter, base string)
	Routes []Route

	// Metrics serves /metrics, to loopback peers and to the operator only: the numbers
	// count what is hidden too. nil for none.
	Metrics http.Handler
	// Ready reports whether the parts that are needed answer; nil is always.
	Ready func(ctx context.Context) error
	// StoreState is a word for how the check of the store goes; nil where there is none.
	StoreState func() string
	Observer   Observer

	Version string // of the product, for OpenAPI
	// PublicURL is where callers reach the server, without a trailing slash; "" takes it
	// from each request.
	PublicURL string
	// AuthorizationServers are outside issuers, named in the protected-resource metadata.
	AuthorizationServers []string
	// Hosts are the names that a request's Host may have, without port, and beside the
	// loopback names; "*" allows any. Anything else is refused, against DNS rebinding.
	Hosts []string
	// Origins are origins ("https://example.org") that browsers may call from, beside the
	// server's own.
	Origins []string
	// AllowFrom are the address ranges that may call; empty is all. Health is open to all.
	AllowFrom []netip.Prefix
	// Proxies are the address ranges of proxies whose X-Forwarded-For and -Proto are
	// believed.
	Proxies []netip.Prefix

	// Stopping is closed when the server stops, which ends streams; nil never is.
	Stopping <-chan struct{}

	// BodyWait is how long a JSON body may take to arrive; 0 is 30 s. A file may take ten
	// times as long.
	BodyWait time.Duration

	Now    func() time.Time // time.Now when nil
	NewID  func() string    // correlation ids; UUIDv7 when nil
	Logger *slog.Logger     // slog.Default when nil
}

// Caps of bodies, and of how long one may take to arrive.
const (
	bodyLimit    = 4 << 20
	bodyWait     = 30 * time.Second
	uploadSlower = 10 // a file may take so many times as long
	answerWait   = 2 * time.Minute
	bodyLeftover = 64 << 10 // of JSON around a file that comes as base64
)

// New makes the handler. It fails where two routes are the same.
func New(c Config) (http.Handler, error) {
	if c.Engine == nil || c.Auth == nil {
		return nil, errors.New("httpd: Engine and Auth are needed")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.BodyWait <= 0 {
		c.BodyWait = bodyWait
	}
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	s := &server{Config: c, router: newRouter(), underWay: access.NewSlots(c.PerAddress)}
	var err error
	if s.authShape, err = op.ShapeOf[authIn](); err != nil {
		return nil, err
	}
	if err := s.routes(); err != nil {
		return nil, err
	}
	return s.outer()
}

// NewServer is an http.Server with the timeouts that a public address needs. Bodies and
// answers have deadlines of their own, set by the handlers, since streams have none.
func NewServer(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr: addr, Handler: h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}

type server struct {
	Config
	router    *router
	openapi   document
	authShape *op.Shape
	streams   access.Streams // open feeds
	underWay  *access.Slots  // requests, by address
}
