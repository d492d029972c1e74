// Package remote invokes operations on another server, over its REST API, so that local
// clients can be served what is there.
//
// Its invariant: it decides nothing. How an operation travels follows from its declaration
// alone, and what comes back, refusals too, is passed on. A write is sent twice only where
// its first sending cannot have done anything, or where an idempotency key makes sure of
// that. Who the caller is, the API key says; the token that it is exchanged for is held
// against the server's own key set before it is used.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/wait"
)

// Config says which server is asked, and as whom. URL, Key and Role are needed.
type Config struct {
	URL    string // of the server's API, such as https://lore.example/api/mcp
	Key    string // API key
	Role   access.Role
	World  string // slug or UUID; "" leaves it to the key
	Issuer string // the iss that tokens must have; "" is loregate

	Surfaces []op.Surface // what is offered: the operations that have a route

	HTTP  *http.Client                                     // nil: one that follows no redirects and waits a minute
	Now   func() time.Time                                 // nil: time.Now
	Sleep func(ctx context.Context, d time.Duration) error // nil: a timer; its error is ctx's
}

// Engine serves operations from another server. It is safe for concurrent use.
type Engine struct {
	*op.Local // what is declared; none of it is run here

	cfg   Config
	base  string // what the paths of routes follow, such as https://lore.example
	fetch singleflight.Group
	token tokenBox
}

var _ op.Invoker = (*Engine)(nil)

// New makes an Engine and gets its first token, so that a wrong key or address shows at
// once.
func New(ctx context.Context, c Config) (*Engine, error) {
	e, err := prepare(c)
	if err != nil {
		return nil, err
	}
	if _, err := e.bearer(ctx, ""); err != nil {
		return nil, err
	}
	return e, nil
}

func prepare(c Config) (*Engine, error) {
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
	local, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{Now: c.Now}), Surfaces: routed(c.Surfaces), Worlds: elsewhere{}})
	if err != nil {
		return nil, err
	}
	return &Engine{Local: local, cfg: c, base: strings.TrimSuffix(strings.TrimRight(u.String(), "/"), apiPath)}, nil
}

// apiPath is where the API lies on its server.
const apiPath = "/api/mcp"

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// routed are surfaces with what can be asked for over REST.
func routed(surfaces []op.Surface) []op.Surface {
	var list []op.Surface
	for _, s := range surfaces {
		var open []*op.Operation
		for _, o := range s.Operations {
			if o.Route != "" && !o.Operator {
				open = append(open, o)
			}
		}
		s.Operations, s.Resources, s.Prompts = open, nil, nil
		list = append(list, s)
	}
	return list
}

// elsewhere knows no world: the server does.
type elsewhere struct{}

func (elsewhere) Resolve(context.Context, access.Caller, string) (access.WorldID, error) {
	return access.WorldID{}, fault.New(fault.NotFound, "worlds are the server's")
}

func (elsewhere) Names(context.Context, access.Caller) ([]string, error) { return nil, nil }

// Invoke sends a call to the server and gives its answer.
func (e *Engine) Invoke(ctx context.Context, c access.Caller, r op.Request) (*op.Answer, error) {
	o, ok := e.Find(r.Operation)
	if !ok || !slices.Contains(e.Operations(c, r.Surface), o) {
		return nil, fault.New(fault.NotFound, "there is no operation %q here; list the operations to see what there is", r.Operation)
	}
	call, err := e.call(o, r)
	if err != nil {
		return nil, err
	}
	reply, err := e.send(ctx, call)
	if err != nil {
		return nil, err
	}
	return reply.answer(o)
}
