package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"

	"loregate/internal/access"
	"loregate/internal/front"
	"loregate/internal/httpd"
	"loregate/internal/identity"
	"loregate/internal/mcpd"
)

// Listen opens the configured address. Call it before creating keys, which are shown only once: an
// address that is taken then costs no key.
func (a *App) Listen() (net.Listener, error) {
	if err := a.Config.mayListen(); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", a.Config.Addr)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("%s is in use, perhaps by another Loregate; stop that program, or choose another address "+
				"with --addr",
				a.Config.Addr)
		}
		return nil, fmt.Errorf("%w; choose another address with --addr", err)
	}
	return listener, nil
}

// Serve serves HTTP on a listener until ctx ends, then stops as described at Drain, and closes the
// listener. ready, if not nil, is called before the first call is accepted.
func (a *App) Serve(ctx context.Context, listener net.Listener, ready func(addr string)) error {
	defer listener.Close()
	s, err := a.composeServer(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	stopProfiles, err := a.serveProfiles()
	if err != nil {
		return err
	}
	defer stopProfiles()
	stopWitness, err := a.stateHeads(ctx)
	if err != nil {
		return err
	}
	defer stopWitness()
	stopCheck := a.watchStore(ctx)
	defer stopCheck()
	stopEvents := a.runEvents(ctx)
	defer stopEvents()
	defer a.FollowVectors(ctx)()
	defer a.sweepForks(ctx)()
	defer a.pruneSecrets(ctx)()
	if err := a.ResumeProposals(ctx); err != nil {
		a.logger.Error("accepted proposals could not be applied yet; they are tried again", "error", err)
	}
	if err := a.store.Writable(ctx); err != nil {
		a.logger.Error("reads are served; writes are refused", "error", err)
	}
	server := httpd.NewServer(a.Config.Addr, s.leaving.wrapHandler(s.handler))
	if ready != nil {
		ready(listener.Addr().String())
	}
	ended := a.serveListener(server, listener)
	select {
	case <-ended.Done():
		return context.Cause(ended)
	case <-ctx.Done():
	}
	stopCheck()
	stopEvents() // another process takes them over
	return a.stopServing(ctx, s, server, ended)
}

// serveListener starts serving on a listener. The returned context ends when serving ends; its
// cause is the error of Serve.
func (a *App) serveListener(server *http.Server, listener net.Listener) context.Context {
	ended, end := context.WithCancelCause(context.Background())
	tls := a.Config.TLS
	limits := a.Config.Limits
	listener = &limitedListener{Listener: listener, most: limits.maxConnections(),
		shares: access.NewSlots(limits.maxPerAddress()), proxies: a.Config.trustedProxies(), plain: tls.Cert == ""}
	go func() {
		if tls.Cert != "" {
			end(server.ServeTLS(listener, tls.Cert, tls.Key))
			return
		}
		end(server.Serve(listener))
	}()
	return ended
}

// stopServing stops the server and its streams, as described at Drain.
func (a *App) stopServing(ctx context.Context, s *composedServer, server *http.Server, ended context.Context) error {
	d := a.Config.Drain
	a.logger.Info("stopping: new calls are refused, running calls may end; a second signal stops at once", "notice",
		d.Notice,
		"calls", d.Calls)
	s.leaving.announceStop(d.Notice, ended.Done())
	s.endStreams() // streams do not end by themselves
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.Calls)
	defer cancel()
	err := server.Shutdown(within)
	s.stop()
	if errors.Is(err, context.DeadlineExceeded) {
		a.logger.Warn("calls that did not end in time were cancelled", "calls", d.Calls)
		err = server.Close()
	}
	<-ended.Done()
	return err
}

// mayListen returns an error if others can reach the address and no TLS protects it.
func (c Config) mayListen() error {
	if c.Loopback() || c.BehindProxy || c.TLS.Cert != "" {
		return nil
	}
	return fmt.Errorf("other machines can reach addr %s, and keys would be sent unencrypted; set tls.cert and "+
		"tls.key, or behind_proxy: true if a proxy terminates TLS", c.Addr)
}

// Handler returns the handler of all HTTP routes. stop ends the goroutines behind it.
func (a *App) Handler(ctx context.Context) (h http.Handler, stop func(), err error) {
	s, err := a.composeServer(ctx)
	if err != nil {
		return nil, nil, err
	}
	return s.handler, s.stop, nil
}

// composedServer is the HTTP handler and the background work that belongs to it.
type composedServer struct {
	handler    http.Handler
	leaving    *drainState
	endStreams func() // ends streams; open calls go on
	stop       func() // ends everything
}

// sealSecret names the key that seals MCP cursors and sessions. All processes on the store share
// it, so each accepts the cursors and sessions of the others.
const sealSecret = "mcp cursors and sessions"

func (a *App) composeServer(ctx context.Context) (*composedServer, error) {
	if err := a.openBodies(); err != nil {
		return nil, err
	}
	m := a.mcpConfig(a.Ops)
	key, err := a.sharedSecret(ctx, sealSecret, len(m.SealKey))
	if err != nil {
		return nil, err
	}
	copy(m.SealKey[:], key)
	mcp, err := mcpd.New(ctx, m)
	if err != nil {
		return nil, err
	}
	s := &composedServer{leaving: &drainState{}}
	stopping := make(chan struct{})
	c := httpd.Config{
		Stopping: stopping,
		Engine:   a.Ops, Auth: a.Identity, Grants: a.Identity, Limiter: meteredLimits{a.limits, a.metrics},
		PerAddress: a.Config.Limits.maxPerAddress(), Proxies: a.Config.trustedProxies(), MCP: mcp,
		Metrics: a.metricsHandler(), Ready: s.leaving.wrapReady(a.Ready), StoreState: a.checkState.String, Version: a.Version,
		PublicURL: a.Config.PublicURL, AuthorizationServers: a.Identity.Issuers(), Hosts: a.Config.allowedHosts(),
		Origins: a.Config.Origins,
		Bodies:  a.bodies,
		Now:     a.now, Logger: a.logger, Page: frontPage(), Routes: []httpd.Route{gamePage()},
	}
	if c.Console, err = a.consolePages(ctx); err != nil {
		mcp.Close()
		return nil, err
	}
	for _, r := range a.Config.AllowFrom {
		c.AllowFrom = append(c.AllowFrom, netip.MustParsePrefix(r))
	}
	if s.handler, err = httpd.New(c); err != nil {
		mcp.Close()
		return nil, err
	}
	stopLimits := a.shareLimits(ctx)
	stopGames := a.hostGames(ctx, mcp)
	s.endStreams = sync.OnceFunc(func() {
		mcp.Drain()
		close(stopping)
		stopGames() // every process hosts every game
	})
	s.stop = sync.OnceFunc(func() {
		s.endStreams()
		mcp.Close()
		stopLimits()
	})
	return s, nil
}

// trustedProxies returns the addresses whose X-Forwarded-For header is trusted. Check has refused other settings.
func (c Config) trustedProxies() []netip.Prefix {
	list, _ := c.parseProxies()
	return list
}

func (c Config) parseProxies() ([]netip.Prefix, error) {
	if !c.BehindProxy {
		if len(c.Proxies) > 0 {
			return nil, errors.New("trusted_proxies: set behind_proxy: true too, or leave trusted_proxies out")
		}
		return nil, nil
	}
	if len(c.Proxies) == 0 {
		return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, nil
	}
	var list []netip.Prefix
	for _, text := range c.Proxies {
		p, err := netip.ParsePrefix(text)
		if a, single := netip.ParseAddr(text); single == nil {
			p, err = a.Unmap().Prefix(a.Unmap().BitLen())
		}
		if err != nil || p.Bits() == 0 {
			return nil, fmt.Errorf("trusted_proxies: %q is not an address of a proxy, or is a range of all; write it as "+
				"10.0.0.7 or 10.0.0.0/29", text)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

// allowedHosts returns the host names that requests may name.
func (c Config) allowedHosts() []string {
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
		Engine: engine, DefaultSet: front.Surface, Auth: bearers{a.Identity, meteredLimits{a.limits, a.metrics},
			a.Config}, Changes: a.Canon,
		Version: a.Version, Website: Website, Origins: a.Config.Origins, Bodies: a.bodies, Now: a.now, Logger: a.logger,
		Worlds: func(ctx context.Context, c access.Caller) []string {
			names, _ := worlds{a.Canon}.Names(ctx, c) // without names only the instructions are shorter
			return names
		},
	}
	for i := range a.Surfaces {
		c.Surfaces = append(c.Surfaces, &a.Surfaces[i])
	}
	return addFixtures(c)
}

// ServeStdio serves MCP to one caller on standard input and output. tools are the surfaces whose
// tools are listed, or default, or all.
func (a *App) ServeStdio(ctx context.Context, c access.Caller, world string, tools []string, s Streams) error {
	if _, err := a.SurfacesOf(tools); err != nil {
		return err
	}
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
	defer a.FollowVectors(ctx)()
	return server.ServeStdio(ctx, c, tools, s.In, s.Out)
}

// bearers authenticates MCP over HTTP by the Authorization header.
type bearers struct {
	identity *identity.Service
	limiter  access.Limiter
	config   Config
}

func (b bearers) Authenticate(ctx context.Context, r *http.Request) (access.Caller, error) {
	c, err := b.identity.AuthenticateAt(ctx, httpd.Bearer(r), b.baseURL(r)+r.URL.Path)
	return c, httpd.ChargeWrong(b.limiter, httpd.ClientOf(r), err)
}

func (b bearers) Challenge(r *http.Request, err error) string {
	return identity.Challenge(
		err,
		identity.Style{Metadata: b.baseURL(r) + "/.well-known/oauth-protected-resource" + r.URL.Path},
	)
}

// baseURL returns the address at which the caller reached the server.
func (b bearers) baseURL(r *http.Request) string {
	if b.config.PublicURL != "" {
		return strings.TrimRight(b.config.PublicURL, "/")
	}
	if r.TLS != nil || r.URL.Scheme == "https" {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

func (b bearers) Watch(ctx context.Context, key string) (<-chan struct{}, func()) {
	return b.identity.Watch(ctx, key)
}
