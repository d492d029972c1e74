// Package remote serves a server elsewhere to a local client: it relays MCP messages between
// the client's standard streams and the server's /mcp, so that the client has the server's
// own tools, prompts and resources.
//
// Its invariant: a message is sent again only where the server did nothing with it, or where
// doing it twice is as doing it once. The token that messages travel with is got for an API
// key, and believed only by the server's published keys. What a caller may do, the server
// decides.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"loregate/internal/access"
	"loregate/internal/wait"
)

// Config is what a Bridge is made of. URL, Key and Role are needed.
type Config struct {
	URL     string // of the server's API, such as https://lore.example/api/mcp
	Key     string // API key
	Role    access.Role
	World   string // slug or UUID; "" leaves it to the key
	Issuer  string // the iss that tokens must have; "" is loregate
	Surface string // the one that is offered; "" is all that the key opens

	HTTP  *http.Client                                     // nil: one that follows no redirects and waits a minute
	Now   func() time.Time                                 // nil: time.Now
	Sleep func(ctx context.Context, d time.Duration) error // nil: a timer; its error is ctx's
}

// Bridge relays messages to one server. It is safe for concurrent use.
type Bridge struct {
	cfg    Config
	base   string       // what the paths of routes follow, such as https://lore.example
	stream *http.Client // cfg.HTTP without its bound on time, for answers that stream
	fetch  singleflight.Group
	token  tokenBox
}

// New connects to a server: it gets a token and verifies it, so that a wrong key is known
// before anything is served. Its errors are fault.Unauthorized, fault.Denied,
// fault.NotFound and fault.Unavailable.
func New(ctx context.Context, c Config) (*Bridge, error) {
	b, err := prepare(c)
	if err != nil {
		return nil, err
	}
	if _, err := b.bearer(ctx, ""); err != nil {
		return nil, err
	}
	return b, nil
}

func prepare(c Config) (*Bridge, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("remote: %q is not the address of an API; use https://host/api/mcp", c.URL)
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("remote: the key would travel in the clear to %s; use https", u.Host)
	}
	if c.Key == "" {
		return nil, errors.New("remote: an API key is needed")
	}
	if c.Issuer == "" {
		c.Issuer = "loregate"
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = func(ctx context.Context, d time.Duration) error { wait.For(ctx, d); return ctx.Err() }
	}
	stream := *c.HTTP
	stream.Timeout = 0
	return &Bridge{cfg: c, stream: &stream, base: strings.TrimSuffix(strings.TrimRight(u.String(), "/"), apiPath)}, nil
}

const apiPath = "/api/mcp"

// endpoint is where messages are sent.
func (b *Bridge) endpoint() string {
	if b.cfg.Surface == "" {
		return b.base + "/mcp"
	}
	return b.base + "/mcp/" + url.PathEscape(b.cfg.Surface)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
