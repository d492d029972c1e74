package remote

import (
	"cmp"
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
	"loregate/internal/slicesx"
	"loregate/internal/wait"
)

// Config configures a Bridge. URL, Key and Role must be set.
type Config struct {
	URL      string // of the server's API, such as https://lore.example/api/mcp
	Key      string // API key
	Role     access.Role
	World    string   // slug or UUID; "" is every world that the key opens
	Issuer   string   // the iss that tokens must have; "" is loregate
	Tools    []string // the set that is listed: surfaces, or all; none is the default set
	ReadOnly bool     // nothing can be written

	// nil: a client that follows no redirects and times out after a minute
	HTTP  *http.Client
	Now   func() time.Time                                 // nil: time.Now
	Sleep func(ctx context.Context, d time.Duration) error // nil: a timer; its error is ctx's
}

// Bridge relays messages to one server. It is safe for concurrent use.
type Bridge struct {
	cfg    Config
	base   string       // prefix of all route paths, such as https://lore.example
	stream *http.Client // cfg.HTTP without its timeout, for answers that stream
	fetch  singleflight.Group
	token  tokenBox
}

// New connects to a server: it gets a token and verifies it, so that a wrong key is found before
// anything is served. The errors are fault.Unauthorized, fault.Denied, fault.NotFound and
// fault.Unavailable.
func New(ctx context.Context, c Config) (*Bridge, error) {
	b, err := newBridge(c)
	if err != nil {
		return nil, err
	}
	if _, err := b.currentToken(ctx, ""); err != nil {
		return nil, err
	}
	return b, nil
}

func newBridge(c Config) (*Bridge, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("remote: %q is not the address of an API; write it as https://host/api/mcp", c.URL)
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return nil, fmt.Errorf("remote: the key would be sent to %s unencrypted; use https", u.Host)
	}
	if c.Key == "" {
		return nil, errors.New("remote: the API key is missing; name the variable that contains it")
	}
	c.Issuer = cmp.Or(c.Issuer, "loregate")
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: time.Minute,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
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

// endpointURL returns the URL to which messages are sent.
func (b *Bridge) endpointURL() string {
	address := b.base + "/mcp"
	words := slicesx.Map(b.cfg.Tools, url.PathEscape)
	if set := strings.Join(words, "+"); set != "" {
		address += "/" + set
	}
	if b.cfg.ReadOnly {
		address += "/readonly"
	}
	return address
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
