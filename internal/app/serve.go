package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/httpd"
	"loregate/internal/identity"
	"loregate/internal/mcpd"
)

// drain is how long open calls may take to end when the server stops.
const drain = 10 * time.Second

// Listen takes the configured address, before anything is made that is shown only once.
func (a *App) Listen() (net.Listener, error) {
	if err := a.Config.mayListen(); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", a.Config.Addr)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address with --addr", err)
	}
	return listener, nil
}

// Serve serves HTTP on a listener until ctx ends, then lets open calls end, and closes
// the listener. ready, when not nil, is called before the first call is taken.
func (a *App) Serve(ctx context.Context, listener net.Listener, ready func(addr string)) error {
	defer listener.Close()
	handler, stop, err := a.Handler(ctx)
	if err != nil {
		return err
	}
	defer stop()
	defer a.runEvents(ctx)()
	if err := a.ResumeProposals(ctx); err != nil {
		a.logger.Error("accepted proposals wait to be carried out", "error", err)
	}
	server := httpd.NewServer(a.Config.Addr, handler)
	if ready != nil {
		ready(listener.Addr().String())
	}
	done := make(chan error, 1)
	go func() {
		if a.Config.TLS.Cert != "" {
			done <- server.ServeTLS(listener, a.Config.TLS.Cert, a.Config.TLS.Key)
			return
		}
		done <- server.Serve(listener)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	a.logger.Info("stopping; open calls may end")
	stop() // streams end first, for they would not by themselves
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err = server.Shutdown(end)
	if <-done; errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}

// mayListen refuses an address that others can reach without TLS in front.
func (c Config) mayListen() error {
	if c.Loopback() || c.BehindProxy || c.TLS.Cert != "" {
		return nil
	}
	return fmt.Errorf("addr %s can be reached by others, and keys would travel in the clear; set tls.cert and tls.key, or behind_proxy: true where a proxy ends TLS", c.Addr)
}

// Handler is everything that is served over HTTP. stop ends what it runs.
func (a *App) Handler(ctx context.Context) (h http.Handler, stop func(), err error) {
	mcp, err := mcpd.New(ctx, a.mcpConfig(a.Ops))
	if err != nil {
		return nil, nil, err
	}
	stopping := make(chan struct{})
	c := httpd.Config{
		Stopping: stopping,
		Engine:   a.Ops, Auth: a.Identity, Limiter: meteredLimits{a.limits, a.metrics}, MCP: mcp,
		Metrics: a.metricsHandler(), Ready: a.Ready, Version: a.Version,
		PublicURL: a.Config.PublicURL, AuthorizationServers: a.Identity.Issuers(), Hosts: a.Config.hosts(), Origins: a.Config.Origins,
		Now: a.now, Logger: a.logger, Routes: []httpd.Route{gamePage()},
	}
	for _, r := range a.Config.AllowFrom {
		c.AllowFrom = append(c.AllowFrom, netip.MustParsePrefix(r))
	}
	if a.Config.BehindProxy {
		c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"),
			netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("fc00::/7")}
	}
	if h, err = httpd.New(c); err != nil {
		mcp.Close()
		return nil, nil, err
	}
	stopGames := a.hostGames(ctx, mcp)
	return h, sync.OnceFunc(func() {
		close(stopping)
		stopGames()
		mcp.Close()
	}), nil
}

// hosts are the names that requests may name.
func (c Config) hosts() []string {
	hosts := append([]string(nil), c.Hosts...)
	if u, err := url.Parse(c.PublicURL); err == nil && u.Hostname() != "" {
		hosts = append(hosts, u.Hostname())
	}
	if host, _, err := net.SplitHostPort(c.Addr); err == nil && host != "" && !c.Loopback() {
		if ip, err := netip.ParseAddr(host); err != nil || !ip.IsUnspecified() {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

func (a *App) mcpConfig(engine mcpd.Engine) mcpd.Config {
	c := mcpd.Config{
		Engine: engine, Auth: bearers{a.Identity, a.Config}, Changes: a.Canon,
		Version: a.Version, Website: Website, Origins: a.Config.Origins, Now: a.now, Logger: a.logger,
		Worlds: func(ctx context.Context, c access.Caller) []string {
			names, _ := worlds{a.Canon}.Names(ctx, c) // without names the instructions are shorter, no more
			return names
		},
	}
	for i := range a.Surfaces {
		c.Surfaces = append(c.Surfaces, &a.Surfaces[i])
	}
	return c
}

// ServeStdio serves one caller on standard input and output.
func (a *App) ServeStdio(ctx context.Context, c access.Caller, world string, surfaces []string, s Streams) error {
	var engine mcpd.Engine = a.Ops
	if world != "" {
		id, err := worlds{a.Canon}.Resolve(ctx, c, world)
		if err != nil {
			return err
		}
		c.Home = id
	}
	server, err := mcpd.New(ctx, a.mcpConfig(engine))
	if err != nil {
		return err
	}
	defer server.Close()
	return server.ServeStdio(ctx, c, surfaces, s.In, s.Out)
}

// bearers authenticates MCP over HTTP by the Authorization header.
type bearers struct {
	identity *identity.Service
	config   Config
}

func (b bearers) Authenticate(ctx context.Context, r *http.Request) (access.Caller, error) {
	return b.identity.Authenticate(ctx, httpd.Bearer(r), "")
}

func (b bearers) Challenge(r *http.Request, err error) string {
	base := b.config.PublicURL
	if base == "" {
		base = "http://" + r.Host
		if r.TLS != nil || r.URL.Scheme == "https" {
			base = "https://" + r.Host
		}
	}
	return identity.Challenge(err, identity.Style{Metadata: base + "/.well-known/oauth-protected-resource" + r.URL.Path})
}

func (b bearers) Watch(ctx context.Context, key string) (<-chan struct{}, func()) {
	return b.identity.Watch(ctx, key)
}
